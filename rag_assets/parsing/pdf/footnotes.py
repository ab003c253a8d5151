"""Footnotes: small print at the foot of a column, below its text."""

import re
from collections import defaultdict
from collections.abc import Sequence

from rag_assets.parsing.pdf.flow import main_size
from rag_assets.parsing.pdf.paragraphs import Paragraph
from rag_assets.parsing.section_titles import subtype_of_title

# Notes are set at 80 to 90 % of the body's size.
_SIZE_STEP = 0.7
_MARK = re.compile(r"(?:\d{1,3}(?![.\d)\]:]|\s?[%°])|[*∗†‡§¶#]+|[①-⑳]|[a-z](?=\s[A-Z]))\s?\S")
# Notes fill at most so much of a page and begin in its lower part.
_MAX_HEIGHT_SHARE, _MIN_TOP_SHARE = 0.35, 0.4
_MAX_NOTES = 12


def mark_footnotes(paragraphs: Sequence[Paragraph], heights: dict[int, float]) -> None:
    """Give footnotes their kind, in place.

    From the foot of each column upwards: paragraphs in small print, the first of which begins
    with a mark, below text in the body's size.

    Args:
        paragraphs: of the whole document; those whose kind is settled are left alone.
        heights: of the pages in points, by number.
    """
    size = main_size(paragraphs)
    pages: dict[int, list[Paragraph]] = defaultdict(list)
    for paragraph in paragraphs:
        if paragraph.upright and paragraph.kind in ("paragraph", "footnote", "formula"):
            pages[paragraph.page].append(paragraph)
    for number, on_page in pages.items():
        for paragraph in on_page:
            if not _is_lowest(paragraph, on_page):
                continue
            notes, above = _column_notes(paragraph, on_page, size)
            if _are_notes(notes, above, heights[number], is_first_page=number == 1):
                for note in notes:
                    note.kind = "footnote"


def _overlaps(first: Paragraph, second: Paragraph) -> bool:
    return min(first.box[2], second.box[2]) - max(first.box[0], second.box[0]) > 0


def _is_lowest(paragraph: Paragraph, others: Sequence[Paragraph]) -> bool:
    return not any(
        other.box[1] > paragraph.box[1] + 1 and _overlaps(paragraph, other) for other in others
    )


def _column_notes(
    lowest: Paragraph, on_page: Sequence[Paragraph], size: float
) -> tuple[list[Paragraph], Paragraph | None]:
    """Return the small print at the foot of a column, from the top, and what stands above it."""
    column = sorted(
        (other for other in on_page if _overlaps(lowest, other)), key=lambda other: -other.box[1]
    )
    notes: list[Paragraph] = []
    for paragraph in column:
        if paragraph.kind != "paragraph" or paragraph.size > size - _SIZE_STEP:
            return notes[::-1], paragraph
        notes.append(paragraph)
    return notes[::-1], None


def _are_notes(
    notes: Sequence[Paragraph], above: Paragraph | None, height: float, is_first_page: bool
) -> bool:
    if not notes or above is None or len(notes) > _MAX_NOTES:
        return False
    top = notes[0].box[1]
    if notes[-1].box[3] - top > _MAX_HEIGHT_SHARE * height or top < _MIN_TOP_SHARE * height:
        return False
    if subtype_of_title(above.text) == "references" and len(above.text) < 40:
        return False
    return _MARK.match(notes[0].text) is not None or is_first_page
