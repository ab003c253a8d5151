"""Where a passage is, in words that a reader can follow."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rag_assets.model import EAST_ASIAN_RANGES, RECOGNISED
from rag_assets.publishing.content_words import content_tokens

# Where a passage stands, in words that a reader can follow.

LocatorQuality = Literal["page_box", "page", "char_anchor"]

# Enough to find the place with a text search, few enough to type.
_ANCHOR_WORDS = 6
_WORD = re.compile(rf"[{EAST_ASIAN_RANGES}]|[^\s{EAST_ASIAN_RANGES}]+")


@dataclass(frozen=True, slots=True)
class Locator:
    """A place to look at, as it is shown, and how exact it is."""

    text: str
    quality: LocatorQuality


def locate(
    page_start: int | None,
    page_end: int | None,
    char_start: int | None,
    char_end: int | None,
    section_path: Sequence[str],
    *,
    has_boxes: bool = False,
    labels: Sequence[str] = (),
    first_label: int | None = 1,
) -> Locator | None:
    """Return where a span stands: its pages where they are known, else its characters.

    Args:
        page_start: first page, from 1, None without pages; `page_end` the last.
        char_start: code points in the document's clean text; `char_end` one past the last.
        has_boxes: whether the rectangles of its printed lines are known.
        labels: the numbers that pages bear in print, empty where one is not known: of all pages of
            the document, or of those from page `first_label`.

    Returns:
        None where neither is known: such a span cannot be cited.
    """
    last = page_end or page_start
    if page_start is not None and last is not None and 1 <= page_start <= last:
        numbers = dict(enumerate(labels, start=first_label or 1))
        text = show_pages(page_start, last, numbers.get(page_start, ""), numbers.get(last, ""))
        return Locator(text, "page_box" if has_boxes else "page")
    if char_start is None or char_end is None or not 0 <= char_start < char_end:
        return None
    section = " › ".join(part for part in section_path if part.strip())
    place = f"characters {char_start}–{char_end}"
    return Locator(f"{section}, {place}" if section else place, "char_anchor")


def anchor_words(text: str) -> tuple[str, str]:
    """Return the first and the last words of `text`, verbatim but for folded white space."""
    words = list(_WORD.finditer(text))
    if not words:
        return "", ""
    begin = text[words[0].start() : words[:_ANCHOR_WORDS][-1].end()]
    end = text[words[-_ANCHOR_WORDS:][0].start() : words[-1].end()]
    return " ".join(begin.split()), " ".join(end.split())


def count_words(text: str) -> int:
    """Return how many words a text has; a CJK character is a word."""
    return sum(1 for _ in _WORD.finditer(text))


def first_words(text: str, limit: int) -> str:
    """Return the beginning of `text`, at most `limit` words; a CJK character is a word."""
    words = list(_WORD.finditer(text))
    return text if len(words) <= limit else text[: words[limit - 1].end()]


# Queries that a claim suggests.

_QUERY_UNITS = 12  # about what a person types; more adds noise to a text search
_DEGREES = re.compile(r"°\s?[CFK]\b")  # a letter that finds nothing


def suggest_query(claim: str) -> str:
    """Return the content words of `claim` in their order, at most twelve, each once."""
    claim = _DEGREES.sub(" ", claim)
    return " ".join(list(dict.fromkeys(token for _, token in content_tokens(claim)))[:_QUERY_UNITS])


def show_pages(first: int, last: int, first_label: str = "", last_label: str = "") -> str:
    """Return pages as they are cited: `p. 457 (sheet 3)` where print and file number them
    differently, else `p. 3`; with `RECOGNISED` where a label ends so.

    Args:
        first: place of the first page in the file, from 1; `last` of the last.
        first_label: number that it bears in print, empty where it is not known; `last_label` of
            the last.
    """
    mark = f" {RECOGNISED}" if RECOGNISED in first_label + last_label else ""
    first_label, last_label = (
        label.removesuffix(RECOGNISED).rstrip() for label in (first_label, last_label)
    )
    sheets = str(first) if first == last else f"{first}–{last}"
    many = "" if first == last else "s"
    if not first_label or not last_label or (first_label, last_label) == (str(first), str(last)):
        return f"p{'p' * bool(many)}. {sheets}{mark}"
    printed = first_label if first == last else f"{first_label}–{last_label}"
    return f"p{'p' * bool(many)}. {printed} (sheet{many} {sheets}){mark}"
