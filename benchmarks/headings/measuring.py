"""The parser's structure of papers against the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.headings.readers import read_structure
from benchmarks.headings.rows import KnownHeading, read_heading_rows
from benchmarks.headings.scores import DocumentScore, score_document, summarise
from benchmarks.headings.titles import fold_text, normalise_title
from rag_assets.evaluation.report import EvaluationReport, Figure, ReportTable, settings_digest
from rag_assets.model import Progress
from rag_assets.workspace import Settings

_SHOWN = {
    "heading_precision": "precision", "heading_recall": "recall", "heading_f1": "F1",
    "heading_f1_macro": "macro F1", "level_accuracy": "level", "title_accuracy": "title",
    "abstract_f1": "abstract", "reference_count_accuracy": "references",
    "pages_per_second": "pages/s",
}  # fmt: skip
_LONGEST_NAME = 46
_LONGEST_TITLE = 72


@dataclass(frozen=True, slots=True)
class HeadingsOutcome:
    """The report and what it was counted from.

    Args:
        scores: one a row, in the order of the rows.
    """

    report: EvaluationReport
    scores: tuple[DocumentScore, ...]


def evaluate_headings(
    files: Sequence[Path], settings: Settings, on_progress: Progress | None = None
) -> HeadingsOutcome:
    """Score `parse_document` on rows of known structure.

    One process, one core; a first parse outside the clock pays for imports.

    Args:
        files: of rows, see `HeadingRow`.
        settings: of the parser.

    Raises:
        UsageError: a file or row cannot be used.
    """
    rows = read_heading_rows(files)
    read_structure(min(rows, key=lambda row: row.path.stat().st_size), settings)
    scores = []
    for done, row in enumerate(rows):
        if on_progress:
            on_progress(row.name, done, len(rows))
        scores.append(score_document(row, read_structure(row, settings)))
    figures = summarise(scores)
    total = ReportTable(
        f"All {len(rows)} documents",
        tuple(_SHOWN.values()),
        (tuple(figures[metric] for metric in _SHOWN),),
    )
    report = EvaluationReport(
        "headings",
        settings_digest(settings),
        figures,
        _counts(scores),
        (total, _documents(scores)),
        {"documents": [_as_json(score) for score in scores]},
        tuple(f"{s.row.name}: {s.reading.failure}" for s in scores if s.reading.failure),
    )
    return HeadingsOutcome(report, tuple(scores))


def _counts(scores: Sequence[DocumentScore]) -> dict[str, int]:
    return {
        "documents": len(scores),
        "pages": sum(score.reading.pages for score in scores),
        "known_headings": sum(len(score.row.headings or ()) for score in scores),
        "found_headings": sum(len(score.reading.headings) for score in scores),
        "neutral_headings": sum(len(score.neutral) for score in scores),
        "titles": sum(score.is_title_right is not None for score in scores),
        "abstracts": sum(score.abstract_f1 is not None for score in scores),
        "reference_counts": sum(score.is_reference_count_right is not None for score in scores),
    }


def _documents(scores: Sequence[DocumentScore]) -> ReportTable:
    ordered = sorted(scores, key=lambda score: (_f1(score), score.row.name))
    rows: list[tuple[Figure, ...]] = [
        (
            _shortened(score.row.name, _LONGEST_NAME),
            score.f1,
            len(score.row.headings or ()),
            len(score.missed),
            len(score.false),
            len(score.pairs) - score.right_levels,
            _mark(score.is_title_right),
            score.abstract_f1,
            _references(score),
            score.reading.pages,
        )
        for score in ordered
    ]
    heads = ("document", "F1", "known", "missed", "false", "levels", "title", "abstract",
             "references", "pages")  # fmt: skip
    return ReportTable("Documents, the worst first", heads, tuple(rows))


def _f1(score: DocumentScore) -> float:
    return 1.0 if score.f1 is None else score.f1


def _mark(is_right: bool | None) -> str | None:
    return None if is_right is None else "ok" if is_right else "wrong"


def _references(score: DocumentScore) -> str:
    known = score.row.n_references
    return f"{score.reading.references} of {'?' if known is None else known}"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _as_json(score: DocumentScore) -> dict[str, Any]:
    return {
        "pdf": score.row.pdf,
        "heading_f1": score.f1,
        "missed": [[heading.level, heading.title] for heading in score.missed],
        "false": [[heading.level, heading.title, heading.page] for heading in score.false],
        "wrong_levels": [
            [pair.known.title, pair.known_level, pair.found_level]
            for pair in score.pairs
            if pair.known_level != pair.found_level
        ],
        "title": score.reading.title,
        "is_title_right": score.is_title_right,
        "abstract_f1": score.abstract_f1,
        "references": score.reading.references,
        "n_references": score.row.n_references,
        "pages": score.reading.pages,
        "cpu_seconds": score.reading.cpu_seconds,
        "failure": score.reading.failure,
    }


def describe_misses(score: DocumentScore) -> str:
    """Return a document's missed and false headings, wrong levels and wrong fields, as text.

    A missed heading is shown with the block that begins with it, if there is one.
    """
    lines = [f"{score.row.name}  F1 {_f1(score):.3f}"]
    lines += [
        f"  missed  {heading.level} {_shortened(heading.title, _LONGEST_TITLE)}"
        f"   [{_where(heading, score)}]"
        for heading in score.missed
    ]
    lines += [
        f"  false   {heading.level} {_shortened(heading.title, _LONGEST_TITLE)}"
        f"   [page {heading.page}]"
        for heading in score.false
    ]
    lines += [
        f"  level   {pair.known_level} found as {pair.found_level}: "
        f"{_shortened(pair.known.title, _LONGEST_TITLE)}"
        for pair in score.pairs
        if pair.known_level != pair.found_level
    ]
    if score.is_title_right is False:
        lines += [f"  title   known: {score.row.title}", f"          found: {score.reading.title}"]
    if score.abstract_f1 is not None and score.abstract_f1 < 1:
        lines.append(f"  abstract F1 {score.abstract_f1:.3f}")
    if score.is_reference_count_right is False:
        lines.append(f"  references {_references(score)}")
    return "\n".join(lines)


def _where(heading: KnownHeading, score: DocumentScore) -> str:
    """Say in which block a missed heading stands, at its beginning if anywhere."""
    wanted = normalise_title(heading.title)
    inside = None
    for kind, page, text in score.reading.blocks:
        # A heading is at most a few lines; looking further would find the words in the body.
        begin = normalise_title(text[: 2 * len(heading.title) + 40])
        if begin == wanted and len(text) <= 2 * len(heading.title) + 40:
            return f"is a {kind}, page {page}"
        if begin.startswith(wanted):
            return f"begins a {kind}, page {page}"
        if inside is None and wanted in fold_text(text):
            inside = f"inside a {kind}, page {page}"
    return inside or "not in the text"
