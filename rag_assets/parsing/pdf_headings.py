"""Which paragraphs of a PDF are headings, and of what level."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.parsing.pdf_paragraphs import Paragraph

_NOT_LETTERS = re.compile(r"[\W\d_]+")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the document's outline.

    Args:
        level: from 1.
        page: from 1, None where it leads nowhere.
        top: height on that page in points from its top, None where not given.
    """

    level: int
    title: str
    page: int | None
    top: float | None


def mark_headings(paragraphs: Sequence[Paragraph], bookmarks: Sequence[Bookmark]) -> None:
    """Give headings their kind and level, in place.

    Args:
        paragraphs: of the whole document, in reading order; those whose kind another pass has
            settled (title, front, caption, table …) are left alone.
        bookmarks: in order; empty where the document has none.
    """
    wanted = {(bookmark.page, _folded(bookmark.title)): bookmark.level for bookmark in bookmarks}
    for paragraph in paragraphs:
        level = wanted.get((paragraph.page, _folded(paragraph.text)))
        if paragraph.kind == "paragraph" and level is not None:
            paragraph.kind, paragraph.level = "heading", level


def _folded(title: str) -> str:
    return _NOT_LETTERS.sub("", title).lower()
