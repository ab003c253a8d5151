"""How well a reader tells supported sentences from others, and where its thresholds lie."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_assets.evaluation.claims import open_scorer
from rag_assets.evaluation.drafts import DraftRow, Sources, read_drafts
from rag_assets.evaluation.report import EvaluationReport, ReportTable, settings_digest
from rag_assets.judging.calibrating import (
    LabelledScore,
    auc,
    fit_reader,
    hold_back,
    shares_from,
)
from rag_assets.judging.contract import MeasurableScorer
from rag_assets.judging.reader_fit import ReaderFit
from rag_assets.model import AnswerError, ConfigurationError, Progress
from rag_assets.workspace.settings import Settings

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
    sources: Path | None,
    most_unsupported: float,
    on_progress: Progress | None = None,
) -> Calibration:
    """Ask a reader about labelled sentences and fit curve and thresholds on its answers.

    Args:
        file: JSON lines with sentence, label, paper and evidence.
        settings: `verify.scorer` names the reader: llm or nli.
        sources: folder of the cited files: then what is found of them is shown, as in an audit;
            None: the quotations that decide.
        most_unsupported: share of the unsupported sentences that may come out OK.

    Raises:
        UsageError: the file holds no such rows, or a cited file is missing.
        ConfigurationError: the scorer is none that can be measured, or the rows are too few.
        LanguageModelError: the model did not answer.
    """
    scorer = open_scorer(settings)
    if not isinstance(scorer, MeasurableScorer):
        raise ConfigurationError(
            f"verify.scorer: {scorer.name} has nothing to calibrate. Name a reader: --scorer llm "
            "(with a model: `rag models list`) or --scorer nli (with verify.nli.model)."
        )
    rows = read_drafts(file)
    scored, unread = _score(rows, scorer, Sources(sources), on_progress)
    shown = "what was found of them" if sources is not None else "their true evidence"
    fit = fit_reader(
        [score for _, score in scored],
        fingerprint=scorer.reader_fingerprint,
        model=scorer.reader_name,
        data=f"{len(scored)} sentences of {file.name} with {shown}, folds over "
        f"{len({row.paper for row, _ in scored})} sources",
        most_unsupported=most_unsupported,
    )
    return Calibration(fit, _report(settings, scored, unread, fit))


def _score(
    rows: Sequence[DraftRow],
    scorer: MeasurableScorer,
    sources: Sources,
    on_progress: Progress | None,
) -> tuple[list[tuple[DraftRow, LabelledScore]], int]:
    """Return the rows with what the reader made of them, and how many it did not answer."""
    scored, unread = [], 0
    for done, row in enumerate(rows, 1):
        passages = sources.show(row)
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
