"""One reading against one row, and the figures over many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.headings.rows import FoundHeading, HeadingRow, KnownHeading, Reading
from benchmarks.headings.titles import (
    f1,
    fold_text,
    match_in_order,
    normalise_title,
    token_f1,
)
from rag_assets.evaluation.report import Figure, mean, share

# A count of references is right within this share of the true one (issue: "within 5 %").
REFERENCE_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class HeadingPair:
    """A heading of the truth and the one found for it; levels relative to the shallowest."""

    known: KnownHeading
    found: FoundHeading
    known_level: int
    found_level: int


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """How one reading agrees with its row. None is a field that the row leaves open.

    Args:
        neutral: found headings that count neither way: optional ones, and the document's title.
    """

    row: HeadingRow
    reading: Reading
    pairs: tuple[HeadingPair, ...] = ()
    missed: tuple[KnownHeading, ...] = ()
    false: tuple[FoundHeading, ...] = ()
    neutral: tuple[FoundHeading, ...] = ()
    is_title_right: bool | None = None
    abstract_f1: float | None = None
    is_reference_count_right: bool | None = None

    @property
    def f1(self) -> float | None:
        """Of the headings; None where the row has none to compare."""
        if self.row.headings is None:
            return None
        matched = len(self.pairs)
        return f1(matched, matched + len(self.false), matched + len(self.missed))

    @property
    def right_levels(self) -> int:
        """Matched headings with the level that they should have."""
        return sum(pair.known_level == pair.found_level for pair in self.pairs)


def score_document(row: HeadingRow, reading: Reading) -> DocumentScore:
    """Return how `reading` agrees with `row`."""
    pairs, missed, false, neutral = _align(row, reading)
    title = abstract = count = None
    if row.title is not None:
        title = fold_text(reading.title or "") == fold_text(row.title)
    if row.abstract is not None:
        abstract = token_f1(row.abstract, reading.abstract or "")
    if row.n_references is not None:
        off = abs(reading.references - row.n_references)
        count = off <= REFERENCE_TOLERANCE * row.n_references
    return DocumentScore(row, reading, pairs, missed, false, neutral, title, abstract, count)


def _align(
    row: HeadingRow, reading: Reading
) -> tuple[
    tuple[HeadingPair, ...],
    tuple[KnownHeading, ...],
    tuple[FoundHeading, ...],
    tuple[FoundHeading, ...],
]:
    if row.headings is None:
        return (), (), (), ()
    known, found = row.headings, reading.headings
    known_titles = [normalise_title(heading.title) for heading in known]
    found_titles = [normalise_title(heading.title) for heading in found]
    matches = match_in_order(known_titles, found_titles)
    known_top = min((heading.level for heading in known), default=1)
    open_titles = {normalise_title(title) for title in (*(row.optional or ()), row.title or "")}
    matched = {j for _, j in matches}
    rest = [(heading, found_titles[j]) for j, heading in enumerate(found) if j not in matched]
    neutral = tuple(heading for heading, title in rest if title in open_titles)
    # The title of the document as the root of the bookmarks is no level of its headings.
    own_title = normalise_title(row.title or "")
    levels = [
        heading.level
        for j, heading in enumerate(found)
        if j in matched or found_titles[j] != own_title
    ]
    found_top = min(levels, default=1)
    pairs = tuple(
        HeadingPair(
            known[i], found[j], known[i].level - known_top + 1, found[j].level - found_top + 1
        )
        for i, j in matches
    )
    hit = {i for i, _ in matches}
    missed = tuple(heading for i, heading in enumerate(known) if i not in hit)
    false = tuple(heading for heading, title in rest if title not in open_titles)
    return pairs, missed, false, neutral


def summarise(scores: Sequence[DocumentScore]) -> dict[str, Figure]:
    """Return the figures over documents.

    Headings and levels are pooled over all documents (`macro`: mean of the documents' own F1);
    title, abstract and references are means over the documents that give occasion.
    """
    scored = [score for score in scores if score.row.headings is not None]
    matched = sum(len(score.pairs) for score in scored)
    found = matched + sum(len(score.false) for score in scored)
    known = matched + sum(len(score.missed) for score in scored)
    return {
        "heading_precision": share(matched, found),
        "heading_recall": share(matched, known),
        "heading_f1": f1(matched, found, known) if scored else None,
        "heading_f1_macro": mean([score.f1 for score in scored if score.f1 is not None]),
        "level_accuracy": share(sum(score.right_levels for score in scored), matched),
        "title_accuracy": mean(
            [score.is_title_right for score in scores if score.is_title_right is not None]
        ),
        "abstract_f1": mean(
            [score.abstract_f1 for score in scores if score.abstract_f1 is not None]
        ),
        "reference_count_accuracy": mean(
            [
                score.is_reference_count_right
                for score in scores
                if score.is_reference_count_right is not None
            ]
        ),
        **_speed(scores),
    }


def _speed(scores: Sequence[DocumentScore]) -> Mapping[str, Figure]:
    timed = [score.reading for score in scores if score.reading.cpu_seconds is not None]
    pages = sum(reading.pages for reading in timed)
    return {
        "pages_per_second": share(pages, sum(reading.cpu_seconds or 0 for reading in timed)),
        "pages_per_second_wall": share(pages, sum(reading.wall_seconds or 0 for reading in timed)),
    }
