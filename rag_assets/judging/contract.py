"""What a scorer is asked, and what it answers."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rag_assets.model import ConfigurationError
from rag_assets.model.settings import ScorerName, VerifySettings

# What a scorer is asked, and what it answers.

Status = Literal["OK", "WEAK", "MISSING"]
ReasonCode = Literal[
    "supported", "weakly_supported", "framed", "not_found", "contradicted", "facts_differ", "unread"
]
SignKind = Literal["words", "number", "quotation"]

# Scores are compared and shown as stored: the last bits of a vector depend on its batch.
SCORE_DECIMALS = 6


def show_score(score: float) -> str:
    """Return a score with two decimals, rounded down: one below a threshold never looks like it."""
    return f"{math.floor(score * 100 + 1e-6) / 100:.2f}"


_UNIT_OF_COLUMN = re.compile(r" ?[(（]([^()（）=;]{1,15})[)）] = ([^;]*\d[^;]*)")


@dataclass(frozen=True, slots=True)
class PassageText:
    """One candidate passage of the cited document.

    Args:
        text: verbatim.
        sentences: half-open spans of its sentences in `text`; never empty.
        context: title of the document and headings above: what they name, the text need not.
        shares: how likely each sentence decides, beside all of its document; empty where the
            passage was given, and not found.
        leads: of each sentence the indices of those without which it cannot be read: the header
            of a table, the words before a list; empty where `shares` are.
        rows: of each sentence that is a row of values, how it is shown: `Tray u46: Weight (g) =
            12.4`; "" of the others. Empty where `shares` are.
    """

    text: str
    sentences: tuple[tuple[int, int], ...]
    context: str = ""
    shares: tuple[float, ...] = ()
    leads: tuple[tuple[int, ...], ...] = ()
    rows: tuple[str, ...] = ()

    @property
    def said(self) -> tuple[str, ...]:
        """The sentences as they are read: verbatim, but a row with the names of its columns, and
        units behind their numbers: `Weight (g) = 12.4` is `Weight = 12.4 g`.
        """
        rows = self.rows or ("",) * len(self.sentences)
        return tuple(
            _UNIT_OF_COLUMN.sub(r" = \2 \1", row) or self.text[slice(*span)]
            for row, span in zip(rows, self.sentences, strict=True)
        )


def name_context(title: str | None, section_path: Sequence[str]) -> str:
    """Return the context of a passage: the title of its document, and its headings."""
    return ". ".join([*([title] if title else []), *section_path])


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that a reader can check with his own eyes.

    Args:
        kind: what was compared.
        claim: as it stands in the claim; empty where nothing there answers the source.
        source: as it stands in the source; empty where it is missing there.
        text: one short sentence for the reader.
    """

    kind: SignKind
    claim: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """How well the best of some passages supports a claim.

    Args:
        score: 0 to 1, finite, six decimals.
        reason: one sentence for the writer.
        passage: index of the best passage among those given.
        span: of its best sentence, or of neighbouring ones; half-open.
        note: what could not be looked at as it should, for instance a language that the model
            cannot read; None where nothing was in the way.
    """

    score: float
    status: Status
    reason_code: ReasonCode
    reason: str
    passage: int
    span: tuple[int, int]
    speaks_for: tuple[Sign, ...] = ()
    speaks_against: tuple[Sign, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which score a claim is OK (`ok`) and WEAK (`weak`), and where each comes from."""

    ok: float
    weak: float
    ok_origin: str
    weak_origin: str

    @property
    def values(self) -> tuple[float, float]:
        """`ok` and `weak`, as they enter a fingerprint."""
        return self.ok, self.weak

    def decide(self, score: float) -> tuple[Status, ReasonCode]:
        """Return what a score means."""
        if score >= self.ok:
            return "OK", "supported"
        if score >= self.weak:
            return "WEAK", "weakly_supported"
        return "MISSING", "not_found"


class Scorer(Protocol):
    """Judges claims against passages; each by itself, whatever else is asked beside it."""

    @property
    def name(self) -> ScorerName:
        """Return the scorer's name in the settings."""

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of all that decides a judgement: files, models, thresholds, code."""

    @property
    def thresholds(self) -> Thresholds:
        """Return from which score a claim is OK and WEAK."""

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        """Return one judgement for each claim, in order.

        Args:
            claims: sentences without anchors and marks, each with its candidate passages, best
                first, at least one.
        """


# Thresholds of settings.

_SPEC_OK = 0.55  # spec 000 §4.8: "threshold T=0.55 (config default)"


def spec_thresholds(settings: VerifySettings) -> Thresholds:
    """Return the thresholds of `similarity`: those of spec 000, or the settings'.

    WEAK begins at 0.40, or where OK does if that is lower.
    """
    is_spec = math.isclose(settings.threshold, _SPEC_OK)
    return Thresholds(
        settings.threshold,
        min(settings.weak_threshold, settings.threshold),
        "spec 000 default" if is_spec else "setting verify.threshold",
        "default",
    )


def require_order(ok: float, weak: float, section: str) -> None:
    """Raise ConfigurationError where WEAK would begin above OK."""
    if weak > ok:
        raise ConfigurationError(
            f"{section}.weak_threshold ({weak}) must not be above {section}.threshold ({ok})."
        )
