"""Fit curve and thresholds of a reader on sentences of known truth, and keep them.

    python -m benchmarks.calibrate FILE [--scorer reader|llm] [--sources PLACE ...] [--dry-run]

Asks the reader of `verify.scorer` about the sentences in FILE (drafts with known truth, as
`benchmarks.eval_claims` reads them). All figures come from folds over sources: a sentence is judged
by a curve that saw no other sentence about the same source. What is kept holds for all workspaces
of this machine (`rag_assets.judging.keep_fit`). With `--sources` (folders or archives that hold the
cited files) the reader sees what an audit finds in them, without it the quotations that decide.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluating.claims import evidence_passages, open_scorer, with_scorer
from benchmarks.evaluating.drafts import DraftRow, read_draft_rows, read_sources
from rag_assets.evaluation import EvaluationReport
from rag_assets.evaluation.report import ReportTable, settings_digest
from rag_assets.judging import PassageText
from rag_assets.judging.readers import ReaderFit, StatementReader, keep_fit, probability_of
from rag_assets.model import AnswerError, ConfigurationError, Progress, UsageError
from rag_assets.model.settings import Settings
from rag_assets.retrieval.finding import EvidenceFinder, OpenDocument
from rag_assets.workspace import shipped_settings

Label = Literal["SUPPORTED", "PARTLY", "NOT"]

FOLDS = 5
_SEED = 7
# Of the unsupported sentences at most so many may come out OK; and of those that are MISSING at
# least so many must be unsupported. The thresholds are chosen for that, on folds.
MOST_WRONG = 0.10
LEAST_MISSING = 0.85
_BINS = 5
# Fewer sentences of a kind, or sources, say nothing about others.
_FEWEST_ROWS, _FEWEST_SOURCES = 20, FOLDS
# Keeps the curve finite where no score is on the wrong side.
_RIDGE = 1e-3


@runtime_checkable
class MeasurableScorer(Protocol):
    """A scorer whose reader can be measured on sentences of known truth."""

    @property
    def name(self) -> str:
        """Return the scorer's name in the settings."""

    @property
    def reader(self) -> StatementReader:
        """Return what reads."""

    def log_odds(self, claim: str, passages: Sequence[PassageText]) -> float:
        """Return what it makes of a claim, before any curve and check."""


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """A sentence of known truth as a reader scored it.

    Args:
        logit: the score, as log-odds; after `hold_back` that of the fitted probability.
        source: what it cites; all sentences of a source stand in one fold.
        weight: how many sentences it stands for, where some kinds were asked more often than they
            occur; in curve, shares and calibration, not in the AUC.
    """

    logit: float
    label: Label
    source: str
    weight: float = 1.0

    @property
    def probability(self) -> float:
        """The score as a number from 0 to 1."""
        return probability_of(self.logit, None)


def auc(rows: Sequence[LabelledScore]) -> float:
    """Return how often a supported sentence has the higher score of a pair; PARTLY is left out.

    Not a number where one of both kinds is missing.
    """
    up = np.array([row.logit for row in rows if row.label == "SUPPORTED"])
    down = np.array([row.logit for row in rows if row.label == "NOT"])
    if not len(up) or not len(down):
        return math.nan
    above = (up[:, None] > down).mean() + 0.5 * (up[:, None] == down).mean()
    return float(above)


def shares_from(rows: Sequence[LabelledScore], probability: float) -> tuple[float, float]:
    """Return the shares of the SUPPORTED and of the NOT rows at or above a probability."""
    return _share(rows, "SUPPORTED", probability), _share(rows, "NOT", probability)


def _share(rows: Sequence[LabelledScore], label: Label, probability: float) -> float:
    of = [row for row in rows if row.label == label]
    passed = sum(row.weight for row in of if row.probability >= probability)
    return passed / sum(row.weight for row in of)


def fit_curve(rows: Sequence[LabelledScore]) -> tuple[float, float]:
    """Return slope and intercept of a logistic curve (Platt 1999) over the log-odds."""
    from scipy.optimize import minimize

    logits = np.array([row.logit for row in rows])
    signs = np.array([1.0 if row.label == "SUPPORTED" else -1.0 for row in rows])
    counts = np.array([row.weight for row in rows])

    def loss(weights: NDArray[np.float64]) -> float:
        surprise = np.logaddexp(0.0, -signs * (weights[0] * logits + weights[1]))
        return float(counts @ surprise + _RIDGE * weights @ weights)

    found = minimize(loss, np.zeros(2), method="L-BFGS-B")
    return float(found.x[0]), float(found.x[1])


def folds(
    rows: Sequence[LabelledScore],
) -> Iterator[tuple[list[LabelledScore], list[LabelledScore]]]:
    """Yield (fitted on, held back), so that no source stands in both."""
    sources = sorted({row.source for row in rows})
    order = np.random.default_rng(_SEED).permutation(len(sources))
    for number in range(FOLDS):
        held = {sources[place] for place in order[number::FOLDS]}
        yield (
            [row for row in rows if row.source not in held],
            [row for row in rows if row.source in held],
        )


def hold_back(rows: Sequence[LabelledScore]) -> list[LabelledScore]:
    """Return the rows with the log-odds that the curve of the other sources gives them."""
    said: list[LabelledScore] = []
    for seen, held in folds(rows):
        slope, intercept = fit_curve(seen)
        said += [replace(row, logit=slope * row.logit + intercept) for row in held]
    return said


def calibration_error(rows: Sequence[LabelledScore]) -> float:
    """Return the mean distance of probability and share over five bins of equal size."""
    order = sorted(rows, key=lambda row: row.probability)
    gap = 0.0
    for places in np.array_split(np.arange(len(order)), _BINS):
        of = [order[place] for place in places]
        supported = sum(row.weight for row in of if row.label == "SUPPORTED")
        gap += abs(sum(row.weight * row.probability for row in of) - supported)
    return gap / sum(row.weight for row in rows)


def fit_reader(
    rows: Sequence[LabelledScore],
    *,
    fingerprint: str,
    model: str,
    data: str,
    most_wrong: float = MOST_WRONG,
) -> ReaderFit:
    """Return curve and thresholds of a reader.

    Args:
        rows: scores before any curve.
        data: on what they were made, in words.
        most_wrong: of the NOT rows so many may come out OK, on folds.

    Raises:
        ConfigurationError: too few rows or sources, or the scores say nothing of the truth.
    """
    _require_enough(rows)
    said = hold_back(rows)
    slope, intercept = fit_curve(rows)
    if slope <= 0:
        raise ConfigurationError(
            f"{model}: its scores are not higher where a sentence is supported (AUC "
            f"{auc(rows):.2f}); no threshold can be chosen. Take another model or prompt."
        )
    ok = next((p for p in _HUNDREDTHS if shares_from(said, p)[1] <= most_wrong), 1.0)
    weak = next((p for p in reversed(_HUNDREDTHS) if p <= ok and _is_missing_below(said, p)), 0.0)
    supported, unsupported = shares_from(said, ok)
    return ReaderFit(
        fingerprint=fingerprint, model=model, data=data,
        slope=round(slope, 4), intercept=round(intercept, 4), ok=ok, weak=weak,
        auc=round(auc(said), 3), ok_supported=round(supported, 3),
        ok_unsupported=round(unsupported, 3), calibration_error=round(calibration_error(said), 3),
    )  # fmt: skip


_HUNDREDTHS = [place / 100 for place in range(1, 100)]


def _is_missing_below(rows: Sequence[LabelledScore], probability: float) -> bool:
    """Say whether enough of the rows below a probability are unsupported."""
    below = [row for row in rows if row.probability < probability]
    unsupported = sum(row.weight for row in below if row.label != "SUPPORTED")
    return bool(below) and unsupported >= LEAST_MISSING * sum(row.weight for row in below)


def _require_enough(rows: Sequence[LabelledScore]) -> None:
    counted = {kind: sum(row.label == kind for row in rows) for kind in ("SUPPORTED", "NOT")}
    sources = len({row.source for row in rows})
    if min(counted.values()) < _FEWEST_ROWS or sources < _FEWEST_SOURCES:
        raise ConfigurationError(
            f"{counted['SUPPORTED']} supported and {counted['NOT']} unsupported sentences about "
            f"{sources} sources are too few to fit on; it takes {_FEWEST_ROWS} of each and "
            f"{_FEWEST_SOURCES} sources. Label more, about other sources."
        )


# Probabilities whose shares are shown, for a choice of one's own.
CHOICES = tuple(place / 20 for place in range(6, 19))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured, and the fit that comes of it."""

    fit: ReaderFit
    report: EvaluationReport


def calibrate(
    file: Path,
    settings: Settings,
    sources: Sequence[Path],
    most_wrong: float,
    on_progress: Progress | None = None,
) -> Calibration:
    """Ask a reader about labelled sentences and fit curve and thresholds on its answers.

    Args:
        file: JSON lines with sentence, label, paper and evidence.
        settings: `verify.scorer` names the reader: llm, or auto where a model is there.
        sources: folders and archives with the cited files: then what is found of them is shown,
            as in an audit; none: the quotations that decide.
        most_wrong: of the unsupported sentences at most so many may come out OK.

    Raises:
        UsageError: the file holds no such rows, or a cited file is missing.
        ConfigurationError: the scorer is none that can be measured, or the rows are too few.
        LanguageModelError: the model did not answer.
    """
    scorer = open_scorer(settings)
    if not isinstance(scorer, MeasurableScorer):
        raise ConfigurationError(
            f"verify.scorer: {scorer.name} has nothing to calibrate. Name one that reads: --scorer "
            "reader, or --scorer llm (with a model: `rag models list`)."
        )
    rows = read_draft_rows(file)
    show = _Finding(rows, sources, settings, on_progress) if sources else _quoted
    scored, unread = _score(rows, scorer, show, on_progress)
    shown = "what was found of them" if sources else "their true evidence"
    fit = fit_reader(
        [score for _, score in scored],
        fingerprint=scorer.reader.fingerprint,
        model=scorer.reader.name,
        data=f"{len(scored)} sentences of {file.name} with {shown}, folds over "
        f"{len({row.paper for row, _ in scored})} sources",
        most_wrong=most_wrong,
    )
    return Calibration(fit, _report(settings, scored, unread, fit))


def _quoted(row: DraftRow) -> Sequence[PassageText]:
    if not row.evidence:
        raise UsageError(
            f"row {row.id} has no evidence: add quotations, or name the cited files by --sources."
        )
    return evidence_passages(row.evidence)


class _Finding:
    """What an audit shows a reader of the document that a row cites."""

    def __init__(
        self,
        rows: Sequence[DraftRow],
        sources: Sequence[Path],
        settings: Settings,
        on_progress: Progress | None,
    ) -> None:
        papers = (row.paper for row in rows)
        self._documents = read_sources(papers, sources, settings, None, on_progress)
        self._finder = EvidenceFinder()
        self._opened: dict[str, OpenDocument] = {}

    def __call__(self, row: DraftRow) -> Sequence[PassageText]:
        if row.paper not in self._opened:
            document = self._documents[row.paper]
            self._opened[row.paper] = self._finder.open(document.passages, document.title)
        windows = self._opened[row.paper].find(row.sentence)
        return [PassageText(w.text, w.spans, "", w.shares, w.leads) for w in windows]


def _score(
    rows: Sequence[DraftRow],
    scorer: MeasurableScorer,
    show: Callable[[DraftRow], Sequence[PassageText]],
    on_progress: Progress | None,
) -> tuple[list[tuple[DraftRow, LabelledScore]], int]:
    """Return the rows with what the reader made of them, and how many it did not answer."""
    scored, unread = [], 0
    for done, row in enumerate(rows, 1):
        passages = show(row)
        if passages:
            try:
                logit = scorer.log_odds(row.sentence, passages)
            except AnswerError:
                unread += 1
            else:
                scored.append((row, LabelledScore(logit, row.label, row.paper)))
        if on_progress is not None:
            on_progress("reading", done, len(rows))
    return scored, unread


def _report(
    settings: Settings,
    scored: Sequence[tuple[DraftRow, LabelledScore]],
    unread: int,
    fit: ReaderFit,
) -> EvaluationReport:
    said = hold_back([score for _, score in scored])
    choices = tuple((choice, *shares_from(said, choice)) for choice in CHOICES)
    return EvaluationReport(
        "calibration",
        settings_digest(settings),
        {
            "auc": fit.auc,
            "calibration_error": fit.calibration_error,
            "threshold": fit.ok,
            "weak_threshold": fit.weak,
            "ok_supported": fit.ok_supported,
            "ok_unsupported": fit.ok_unsupported,
            "model": fit.model,
        },
        {"rows": len(scored), "not answered": unread},
        (
            ReportTable(
                "Choices", ("OK from", "of the supported OK", "of the unsupported OK"), choices
            ),
        ),
    )


def main() -> None:
    """Print the figures and say where they are kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--scorer", choices=["reader", "llm"])
    parser.add_argument("--sources", type=Path, nargs="*", default=[], metavar="PLACE")
    parser.add_argument("--wrong", type=float, default=MOST_WRONG, metavar="SHARE")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    given = parser.parse_args()
    settings = with_scorer(shipped_settings(given.config), given.scorer)
    found = calibrate(given.file, settings, given.sources, given.wrong)
    print(found.report)
    if not given.dry_run:
        print(f"kept: {keep_fit(found.fit)}")


if __name__ == "__main__":
    main()
