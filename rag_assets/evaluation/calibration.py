"""How well a reader tells supported sentences from others, and where its thresholds lie."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_assets.evaluation.claims_rows import evidence_passages
from rag_assets.evaluation.drafts_rows import DraftRow, read_draft_rows
from rag_assets.evaluation.drafts_sources import read_sources
from rag_assets.evaluation.report import EvaluationReport, ReportTable, settings_digest
from rag_assets.evaluation.scorers import open_scorer
from rag_assets.finding import EvidenceFinder, OpenDocument
from rag_assets.judging import MeasurableScorer, PassageText, ReaderFit
from rag_assets.judging.calibrating import (
    LabelledScore,
    auc,
    fit_reader,
    hold_back,
    shares_from,
)
from rag_assets.model import AnswerError, ConfigurationError, Progress, UsageError
from rag_assets.settings import Settings

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
            _by(scored, "language", lambda row: row.group),
            _by(scored, "kind", lambda row: row.kind or "-"),
        ),
    )


def _by(
    scored: Sequence[tuple[DraftRow, LabelledScore]], head: str, name: Callable[[DraftRow], str]
) -> ReportTable:
    """Return AUC and mean probability by a property of the rows, before the curve."""
    groups: dict[str, list[LabelledScore]] = {}
    for row, score in scored:
        groups.setdefault(name(row), []).append(score)
    rows = tuple(
        (group, len(of), auc(of), sum(each.probability for each in of) / len(of))
        for group, of in sorted(groups.items())
    )
    return ReportTable(f"By {head}", (head, "rows", "AUC", "mean score"), rows)
