"""The bookmarks of a PDF."""

from typing import Any

from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.pdf.headings.bookmarks import Bookmark


def read_bookmarks(document: Any) -> tuple[Bookmark, ...]:
    """Return the outline of a `pymupdf.Document`, in order; empty where it has none.

    Raises:
        RuntimeError: MuPDF cannot read the outline.
    """
    bookmarks = []
    for level, title, page, details in document.get_toc(simple=False):
        point = details.get("to")
        top = float(point.y) if point is not None and page > 0 else None
        cleaned = clean_line(title or "")
        if cleaned:
            bookmarks.append(Bookmark(level, cleaned, page if page > 0 else None, top))
    return tuple(bookmarks)
