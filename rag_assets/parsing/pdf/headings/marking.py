"""Which paragraphs of a PDF are headings, and of what level.

What is built as a heading is a candidate; numbers that ascend, bookmarks and titles that sections
have confirm some; a style that confirmed headings share makes the others of that style headings.
"""

from collections.abc import Sequence

from rag_assets.parsing.pdf.headings.bookmarks import Bookmark, match_bookmarks
from rag_assets.parsing.pdf.headings.candidates import Candidate, find_candidates
from rag_assets.parsing.pdf.headings.contents import find_contents, find_running_heads
from rag_assets.parsing.pdf.headings.levels import set_levels
from rag_assets.parsing.pdf.headings.parts import join_heading_parts
from rag_assets.parsing.pdf.headings.sequence import confirm_numbers
from rag_assets.parsing.pdf.headings.styles import accept_styles
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph
from rag_assets.parsing.pdf.styles import BodyStyle

# Longer ones may as well be sentences in bold.
_MAX_UNPLACED_CHARACTERS = 60


def mark_headings(
    paragraphs: Sequence[Paragraph],
    bookmarks: Sequence[Bookmark],
    body: BodyStyle,
    title: str | None = None,
) -> list[Paragraph]:
    """Return the paragraphs with headings marked by kind and level.

    Args:
        paragraphs: of the whole document, in reading order; those whose kind another pass has
            settled (title, front, caption, table …) are left alone.
        bookmarks: in order; empty where the document has none.
        body: the document's style of running text.
        title: of the document, which is no heading.
    """
    paragraphs = join_heading_parts(paragraphs, body)
    skipped = find_contents(paragraphs) | find_running_heads(paragraphs, body)
    candidates = find_candidates(paragraphs, body, skipped, title)
    has_outline = match_bookmarks(candidates, bookmarks, title)
    confirm_numbers(candidates)
    headings = accept_styles(candidates, paragraphs, body, has_outline)
    set_levels(headings, has_outline)
    _mark_unplaced(candidates, headings)
    return _with_headings(paragraphs, headings)


def _mark_unplaced(candidates: Sequence[Candidate], headings: Sequence[Candidate]) -> None:
    """Mark lines that look like headings but share nothing with those that are, in place.

    What stands before the first heading belongs to the title page.
    """
    if not headings:
        return
    first = headings[0].index
    placed = {item.index for item in headings}
    for item in candidates:
        if (
            item.index > first
            and item.index not in placed
            and item.run_in is None
            and item.paragraph.kind == "paragraph"
            and item.is_emphasised
            and (item.bold or item.style[2])
            and item.is_followed
            and not item.is_running
            and len(item.text) <= _MAX_UNPLACED_CHARACTERS
            and item.text[-1].isalnum()
        ):
            item.paragraph.kind = "unplaced_heading"


def _with_headings(
    paragraphs: Sequence[Paragraph], headings: Sequence[Candidate]
) -> list[Paragraph]:
    by_index = {item.index: item for item in headings}
    result: list[Paragraph] = []
    for index, paragraph in enumerate(paragraphs):
        item = by_index.get(index)
        if item is None:
            result.append(paragraph)
        elif item.run_in is None:
            paragraph.kind, paragraph.level = "heading", item.level
            result.append(paragraph)
        else:
            heading_lines, text_lines = item.run_in
            heading = make_paragraph(heading_lines, paragraph.page)
            heading.kind, heading.level = "heading", item.level
            rest = make_paragraph(text_lines, paragraph.page)
            rest.fills_last_line = paragraph.fills_last_line
            result += [heading, rest]
    return result
