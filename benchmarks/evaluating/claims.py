"""How well a scorer tells supported claims from others, on rows with evidence and a label."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.chunking import split_sentences
from rag_assets.embedding import (
    Embedder,
    EmbeddingTokenizer,
    load_embedder,
    load_tokenizer,
    model_fingerprint,
)
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    ReportTable,
    settings_digest,
    share,
)
from rag_assets.evaluation.sets import read_rows
from rag_assets.judging import Judgement, PassageText, Scorer, load_scorer
from rag_assets.model import Progress, count_han
from rag_assets.model.settings import ModelSettings, ScorerName, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
_SEED = 11

Row = TypeVar("Row")


def with_scorer(settings: Settings, scorer: ScorerName | None) -> Settings:
    """Return the settings with another scorer; None leaves theirs."""
    if scorer is None:
        return settings
    verify = settings.verify.model_copy(update={"scorer": scorer})
    return settings.model_copy(update={"verify": verify})


def open_scorer(settings: Settings) -> Scorer:
    """Return the scorer of the settings; `similarity` asks the first embedding model."""
    if settings.verify.scorer == "similarity":
        return load_scorer(settings.verify, FirstModel(settings.embed.models[0]))
    if settings.verify.scorer in ("auto", "llm"):
        from rag_assets.llm import load_chat_model, with_local_reader

        # `llm` too takes the reader of this machine where the settings name no model.
        return load_scorer(
            settings.verify,
            chat=load_chat_model(with_local_reader(settings.llm.for_role("verify"))),
        )
    return load_scorer(settings.verify)


def draw(rows: Sequence[Row], limit: int | None) -> Sequence[Row]:
    """Return rows of a file in their order: all, or as many as the limit, drawn with a seed.

    Files are often sorted by label.
    """
    if limit is None or limit >= len(rows):
        return rows
    drawn = random.Random(_SEED).sample(range(len(rows)), limit)
    return [rows[place] for place in sorted(drawn)]


class FirstModel:
    """Encodes claims and passages; the model is loaded when it is first asked."""

    def __init__(self, model: ModelSettings) -> None:
        self._settings = model

    @cached_property
    def _model(self) -> Embedder:
        return load_embedder(self._settings)

    @cached_property
    def _tokenizer(self) -> EmbeddingTokenizer:
        return load_tokenizer(self._settings)

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model."""
        return model_fingerprint(self._settings)

    def encode_queries(self, texts: list[str]) -> "NDArray[np.float32]":
        """Return unit vectors, shape (len(texts), dimension)."""
        return self._model.encode_queries(texts)

    def encode_passages(self, texts: list[str]) -> "NDArray[np.float32]":
        """Return unit vectors, shape (len(texts), dimension)."""
        return self._model.encode_passages(texts)

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of tokens that the model does not know."""
        return self._tokenizer.unknown_share(text)


SUPPORTED_LABELS = frozenset({"SUPPORT", "ATTRIBUTABLE"})
# Pieces of evidence are joined to passages of about the size that a namespace has: 200 tokens.
_PASSAGE_CHARACTERS = 1000
_HAN_CHARACTERS = 350
_MOST_PASSAGES = 10  # verify.k of spec 000; the rest of longer evidence joins the last


class ClaimRow(BaseModel):
    """A claim with its evidence, as published."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    claim: str = Field(min_length=1)
    evidence: Annotated[tuple[str, ...], Field(min_length=1)]
    label: str = Field(min_length=1)
    id: str = ""
    set: str = ""
    source_doc: str = ""
    language: str = ""

    @property
    def is_supported(self) -> bool:
        """Say whether the evidence supports the whole claim (SUPPORT or ATTRIBUTABLE)."""
        return self.label in SUPPORTED_LABELS


def read_claims(file: Path) -> list[ClaimRow]:
    """Return the rows of a file in their order.

    Raises:
        UsageError: names file and line of what is no such row.
    """
    form = "a row has claim (text), evidence (a list of texts) and label"
    return [
        row.model_copy(
            update={
                "id": row.id or f"{file.stem}-{number}",
                "set": row.set or file.stem,
                "source_doc": row.source_doc or f"line {number}",
            }
        )
        for number, row in read_rows(file, ClaimRow.model_validate, form)
    ]


def evidence_passages(evidence: Sequence[str]) -> tuple[PassageText, ...]:
    """Return a row's evidence as passages with their sentences, in order, at most ten.

    Neighbouring pieces are joined, as the sentences of a document are, up to the size of a
    passage.
    """
    passages: list[list[str]] = [[]]
    size = 0.0
    for piece in evidence:
        if not piece.strip():
            continue
        han = count_han(piece)
        length = (len(piece) - han) / _PASSAGE_CHARACTERS + han / _HAN_CHARACTERS
        if passages[-1] and size + length > 1 and len(passages) < _MOST_PASSAGES:
            passages.append([])
            size = 0.0
        passages[-1].append(piece)
        size += length
    return tuple(_passage(pieces) for pieces in passages if pieces) or (PassageText("", ((0, 0),)),)


def _passage(pieces: Sequence[str]) -> PassageText:
    text = "\n".join(pieces)
    breaks, at = [], 0
    for piece in pieces:
        at += len(piece) + 1
        breaks.append(at)
    spans = [s for s in split_sentences(text, breaks[:-1]) if text[slice(*s)].strip()]
    return PassageText(text, tuple(spans) or ((0, len(text)),))


# Of the calibration error: bins of equal width over 0 to 1 (Naeini et al., AAAI 2015).
BINS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row and how it was judged."""

    row: ClaimRow
    judgement: Judgement

    @property
    def is_ok(self) -> bool:
        """Say whether the scorer would let the citation pass."""
        return self.judgement.status == "OK"


def evaluate_claims(
    files: Sequence[Path],
    settings: Settings,
    scorer: ScorerName | None = None,
    limit: int | None = None,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Judge every row of some files and compare with its label.

    Args:
        files: JSON lines with claim, evidence and label; SUPPORT and ATTRIBUTABLE are supported,
            every other label is not.
        scorer: in the place of `verify.scorer`.
        limit: rows of a file at most, drawn with a seed: files are often sorted by label.

    Returns:
        `macro_f1` of OK against the rest; `auc` of the score; precision and recall of both
        classes at the shipped threshold; `calibration_error` over ten bins of equal width;
        `false_ok`, the share of what came out OK that is not supported.

    Raises:
        UsageError: a file holds no rows, or a line is none.
        ConfigurationError: the scorer cannot be loaded.
    """
    judge = open_scorer(with_scorer(settings, scorer))
    outcomes: list[Outcome] = []
    for file in files:
        outcomes += judge_rows(draw(read_claims(file), limit), judge, file.stem, on_progress)
    names = list(dict.fromkeys(outcome.row.set for outcome in outcomes))
    by_set = {name: [o for o in outcomes if o.row.set == name] for name in names}
    heads = ("set", "rows", *figures(outcomes))
    rows = [(name, len(of), *figures(of).values()) for name, of in by_set.items()]
    return EvaluationReport(
        "claims",
        settings_digest(settings),
        {
            **figures(outcomes),
            "scorer": judge.name,
            "threshold": judge.thresholds.ok,
            "weak_threshold": judge.thresholds.weak,
        },
        {"files": len(files), "sets": len(names), "rows": len(outcomes)},
        (
            ReportTable("By set", heads, tuple(rows)),
            ReportTable(
                "Verdicts by label", ("label", "OK", "WEAK", "MISSING", "contradicted"),
                tuple(_verdicts(outcomes)),
            ),
            ReportTable(
                f"Calibration, {BINS} bins", ("from", "rows", "mean score", "share supported"),
                tuple(_bins(outcomes)),
            ),
        ),
        {
            "scorer_fingerprint": judge.fingerprint,
            "threshold_origin": judge.thresholds.ok_origin,
            "calibration_bins": BINS,
            "by_set": {name: figures(of) for name, of in by_set.items()},
        },
    )  # fmt: skip


def judge_rows(
    rows: Sequence[ClaimRow], scorer: Scorer, name: str, on_progress: Progress | None = None
) -> list[Outcome]:
    """Return each row with its judgement, in order."""
    outcomes = []
    for done, row in enumerate(rows, 1):
        (judgement,) = scorer.judge([(row.claim, evidence_passages(row.evidence))])
        outcomes.append(Outcome(row, judgement))
        if on_progress is not None:
            on_progress(name, done, len(rows))
    return outcomes


def figures(outcomes: Sequence[Outcome]) -> dict[str, Figure]:
    """Return the figures of some rows; None where the rows give no occasion for one."""
    both = [o for o in outcomes if o.row.is_supported and o.is_ok]
    false = [o for o in outcomes if not o.row.is_supported and o.is_ok]
    missed = [o for o in outcomes if o.row.is_supported and not o.is_ok]
    right = [o for o in outcomes if not o.row.is_supported and not o.is_ok]
    supported = _class(len(both), len(false), len(missed))
    other = _class(len(right), len(missed), len(false))
    return {
        "macro_f1": (supported[2] + other[2]) / 2,
        "auc": auc(
            [o.judgement.score for o in outcomes if o.row.is_supported],
            [o.judgement.score for o in outcomes if not o.row.is_supported],
        ),
        "precision_support": supported[0],
        "recall_support": supported[1],
        "precision_other": other[0],
        "recall_other": other[1],
        "calibration_error": calibration_error(outcomes),
        "false_ok": len(false) / (len(both) + len(false)) if both or false else None,
    }


def _class(right: int, false: int, missed: int) -> tuple[float | None, float | None, float]:
    """Return precision, recall and F1 of a class; F1 of nothing right is 0."""
    precision = right / (right + false) if right + false else None
    recall = right / (right + missed) if right + missed else None
    return precision, recall, 2 * right / max(1, 2 * right + false + missed)


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """Return the share of pairs in which the first scores higher; equal scores count half."""
    pairs = [(a > b) + 0.5 * (a == b) for a in higher for b in lower]
    return share(sum(pairs), len(pairs))


def calibration_error(outcomes: Sequence[Outcome]) -> float | None:
    """Return the mean distance of score and share supported, bins weighed by their rows."""
    if not outcomes:
        return None
    rows = _bins(outcomes)
    return sum(n * abs(score - share) for _, n, score, share in rows) / len(outcomes)


def _bins(outcomes: Sequence[Outcome]) -> list[tuple[float, int, float, float]]:
    found = []
    for number in range(BINS):
        inside = [o for o in outcomes if min(BINS - 1, int(o.judgement.score * BINS)) == number]
        if inside:
            score = sum(o.judgement.score for o in inside) / len(inside)
            share = sum(o.row.is_supported for o in inside) / len(inside)
            found.append((number / BINS, len(inside), score, share))
    return found


def _verdicts(outcomes: Sequence[Outcome]) -> list[tuple[Figure, ...]]:
    labels = sorted({o.row.label for o in outcomes})
    rows: list[tuple[Figure, ...]] = []
    for label in labels:
        of = [o.judgement for o in outcomes if o.row.label == label]
        counts = [sum(j.status == status for j in of) for status in ("OK", "WEAK", "MISSING")]
        rows.append((label, *counts, sum(j.reason_code == "contradicted" for j in of)))
    return rows
