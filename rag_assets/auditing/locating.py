"""A quotation of a passage, and where it stands."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.auditing.library import Passage
from rag_assets.evidence.locating import Locator, locate
from rag_assets.model import PageBox


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a passage, verbatim.

    Args:
        start: offset in the document's clean text; None where the passage does not know its own.
    """

    text: str
    start: int | None
    end: int | None


def cut_quote(passage: Passage, start: int, end: int) -> Quote:
    """Return `passage.text[start:end]` with its offsets in the document."""
    text = passage.text[start:end]
    if passage.char_start is None:
        return Quote(text, None, None)
    return Quote(text, passage.char_start + start, passage.char_start + end)


def locate_quote(passage: Passage, quote: Quote, boxes: Sequence[PageBox] = ()) -> Locator | None:
    """Return where `quote` stands: rectangles on its page, else its page, else its characters.

    Args:
        passage: that holds the quote.
        quote: as `cut_quote` returns it.
        boxes: around the quote's printed lines.

    Returns:
        None where the passage has none of them: such a quote cannot be cited.
    """
    pages = [box.page for box in boxes]
    first, last = (min(pages), max(pages)) if pages else (passage.page_start, passage.page_end)
    return locate(first, last, quote.start, quote.end, passage.section_path, has_boxes=bool(boxes))
