"""Where a quotation stands, in words that a reader can follow."""

import re
from dataclasses import dataclass
from typing import Literal

from rag_assets.auditing.library import Passage

LocatorQuality = Literal["page_box", "page", "char_anchor"]

# Enough to find the place with a text search, few enough to type.
_ANCHOR_WORDS = 6
_WORD = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uf900-\uffef]+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a passage, verbatim.

    Args:
        start: offset in the document's clean text; None where the passage does not know its own.
    """

    text: str
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Locator:
    """A place to look at, as it is shown, and how exact it is."""

    text: str
    quality: LocatorQuality


def cut_quote(passage: Passage, start: int, end: int) -> Quote:
    """Return `passage.text[start:end]` with its offsets in the document."""
    text = passage.text[start:end]
    if passage.char_start is None:
        return Quote(text, None, None)
    return Quote(text, passage.char_start + start, passage.char_start + end)


def locate(passage: Passage, quote: Quote) -> Locator | None:
    """Return where `quote` stands: its page where pages are known, else its characters.

    None means that the passage has neither.
    """
    first, last = passage.page_start, passage.page_end or passage.page_start
    if first is not None and last is not None and 1 <= first <= last:
        return Locator(f"p. {first}" if first == last else f"pp. {first}–{last}", "page")
    if quote.start is None or quote.end is None or not 0 <= quote.start < quote.end:
        return None
    section = " › ".join(part for part in passage.section_path if part.strip())
    place = f"characters {quote.start}–{quote.end}"
    return Locator(f"{section}, {place}" if section else place, "char_anchor")


def anchor_words(text: str) -> tuple[str, str]:
    """Return the first and the last words of `text`, verbatim but for folded white space."""
    words = list(_WORD.finditer(text))
    if not words:
        return "", ""
    begin = text[words[0].start() : words[:_ANCHOR_WORDS][-1].end()]
    end = text[words[-_ANCHOR_WORDS:][0].start() : words[-1].end()]
    return " ".join(begin.split()), " ".join(end.split())
