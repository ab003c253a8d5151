"""A quotation of a passage, and where it stands."""

from dataclasses import dataclass

from rag_assets.auditing.library import Passage
from rag_assets.evidence.locating import Locator, locate


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


def locate_quote(passage: Passage, quote: Quote) -> Locator | None:
    """Return where `quote` stands: its page where pages are known, else its characters.

    None means that the passage has neither.
    """
    return locate(
        passage.page_start, passage.page_end, quote.start, quote.end, passage.section_path
    )
