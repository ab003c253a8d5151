"""Units of text (sentences, rows, pieces) become passages of about one size.

The passages are those of least cost over the whole run, found by dynamic programming. Each place
between two units has a price of its own that depends on the text beside it and nothing else. So
after an edit the cheapest places are the same ones again, and the passages behind the edit come
out as before; a greedy filling would shift all that follows.
"""

import math
import re
import unicodedata
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from rag_assets.model import CJK_RANGES, Columns, ConfigurationError

# Prices, in units of the squared relative distance from the target (0.25 is "half the target
# away"). Chosen by hand; benchmarks of chunking measure sizes and stability with them.
_PRICE_OF_LINE = 0.10  # at a line break: between two rows or list items
_PRICE_OF_SENTENCE = 0.20  # between two sentences of a paragraph
_PRICE_AFTER_HEADING = 1.50  # a heading belongs to what follows
_PRICE_INSIDE_SENTENCE = 1.00
_PRICE_OF_SMALLNESS = 3.00  # for a passage below the least size; more the smaller it is
_LARGEST_JITTER = 0.30  # what the text itself adds: lets passages fall into step after an edit

# What is smaller than this part of the largest passage is packed with its neighbour.
_GRAINS_IN_PASSAGE = 32

# A text is worth at least one token for so many characters. WordPiece reads any word of more than
# 100 characters as one unknown token: without this a line of 2 MB would be one small passage.
CHARACTERS_PER_TOKEN = 16

_LONGEST_HEADING = 80  # characters
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*+\n|\u2029")
_CLAUSE_END = re.compile(
    rf"[,;:–—](?=\s)|[，；：、。！？](?![”’」』）)])|(?<=[{CJK_RANGES}])[,;]|\n"
)
_SPACE = re.compile(r"\s")


_Item = TypeVar("_Item")


def batches(items: Iterable[_Item], most: int) -> Iterator[list[_Item]]:
    """Yield the items in lists of `most`, the last one shorter; taken only as they are needed."""
    source = iter(items)
    while some := list(islice(source, most)):
        yield some


@dataclass(frozen=True, slots=True)
class Unit:
    """What is not divided further. Offsets are code points, tokens counted from the run's start.

    Args:
        first_token: tokens before it; `last_token` tokens before its end.
        price: of ending a passage behind it.
        is_piece: it is a part of a sentence that was too long.
    """

    start: int
    end: int
    first_token: int
    last_token: int
    price: float
    is_piece: bool = False


def unit_columns() -> Columns[Unit]:
    """Return columns for the units of a document that may have a million."""
    places = dict.fromkeys(("start", "end", "first_token", "last_token"), "q")
    return Columns(Unit, {**places, "price": "d", "is_piece": "word"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes of a passage in tokens: 1 <= least <= target <= most."""

    least: int
    target: int
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.target <= self.most:
            raise ConfigurationError(
                f"chunk: sizes must be 1 <= min_tokens <= target_tokens <= max_tokens, got "
                f"{self.least}, {self.target}, {self.most}. Change them in the section `chunk` of "
                "the namespace's YAML file or of config.yaml."
            )


@lru_cache(maxsize=16)
def _prices(bounds: Bounds) -> tuple[float, ...]:
    """Return the price of each size, from 0 to `bounds.most`."""
    prices = []
    for size in range(bounds.most + 1):
        price = ((size - bounds.target) / bounds.target) ** 2
        if size < bounds.least:
            price += _PRICE_OF_SMALLNESS * (2 - size / bounds.least)
        prices.append(price)
    return tuple(prices)


def size_of(tokens: int, characters: int) -> int:
    """Return the size that counts for packing: tokens, or more where they are very long."""
    return max(tokens, -(-characters // CHARACTERS_PER_TOKEN))


def price_of_end(text: str, start: int, end: int, following: int) -> float:
    """Return the price of ending a passage behind the sentence text[start:end].

    Args:
        text: what is divided.
        start: offset of the sentence (code points); `end` is exclusive.
        end: where the passage would end.
        following: where the next sentence begins.
    """
    jitter = _LARGEST_JITTER * zlib.crc32(
        text[max(start, end - 64) : end].encode("utf-8", "replace")
    )
    jitter /= 2**32
    if _PARAGRAPH_END.search(text, end, following):
        is_short = end - start <= _LONGEST_HEADING and text[end - 1].isalnum()
        return jitter + (_PRICE_AFTER_HEADING if is_short or text[start] == "#" else 0.0)
    is_line_end = text.find("\n", end, following) >= 0
    return jitter + (_PRICE_OF_LINE if is_line_end else _PRICE_OF_SENTENCE)


def price_inside() -> float:
    """Return the price of ending a passage inside a sentence."""
    return _PRICE_INSIDE_SENTENCE


def pack(
    units: Sequence[Unit], bounds: Bounds, within: range | None = None
) -> list[tuple[int, int]]:
    """Return the cheapest division of `units` into passages of at most `bounds.most`.

    Args:
        units: in order, each no larger than `bounds.most`.
        bounds: sizes wanted.
        within: indices of the units that are divided, all without.

    Returns:
        Half-open index spans into `units`, in order, without gap.
    """
    prices, most = _prices(bounds), bounds.most
    indices = range(len(units)) if within is None else within
    grains = _grains(units, bounds, indices)
    # In arrays: a table may have a million rows.
    starts, first_tokens = array("q"), array("q")
    best = array("d", [0.0])
    origin = array("q", [0])
    for stop in range(1, len(grains)):
        first, last = units[grains[stop - 1]], units[grains[stop] - 1]
        starts.append(first.start)
        first_tokens.append(first.first_token)
        lowest, chosen = math.inf, stop - 1
        last_token, widest = last.last_token, last.end + CHARACTERS_PER_TOKEN - 1
        for begin in range(stop - 1, -1, -1):
            # `size_of`, written out: this line runs some twenty times a sentence.
            size = last_token - first_tokens[begin]
            characters = (widest - starts[begin]) // CHARACTERS_PER_TOKEN
            if characters > size:  # noqa: PLR1730 - max() costs three times as much
                size = characters
            if size > most:
                break
            cost = best[begin] + prices[size]
            if cost < lowest:
                lowest, chosen = cost, begin
        best.append((lowest if lowest < math.inf else best[stop - 1]) + last.price)
        origin.append(chosen)
    spans = []
    stop = len(grains) - 1
    while stop:
        spans.append((grains[origin[stop]], grains[stop]))
        stop = origin[stop]
    return spans[::-1]


def _grains(units: Sequence[Unit], bounds: Bounds, indices: range) -> "array[int]":
    """Join units of a few tokens with what follows them: where each group begins, then the end.

    It keeps the packing of a million one-letter sentences linear, and a short heading with its
    text.
    """
    grain = max(1, bounds.most // _GRAINS_IN_PASSAGE)
    begins = array("q")
    first = before = None
    for index in indices:
        unit = units[index]
        if first is not None and before is not None:
            size = size_of(before.last_token - first.first_token, before.end - first.start)
            joined = size_of(unit.last_token - first.first_token, unit.end - first.start)
            if size < grain and joined <= bounds.most:
                before = unit
                continue
        begins.append(index)
        first = before = unit
    begins.append(indices.stop)
    return begins


def best_cut(text: str, low: int, high: int) -> int:
    """Return where to cut a sentence that is too long: in (low, high], as late as is good.

    Behind a clause or a line, else at white space, else anywhere but before a combining mark,
    a joiner or what it joins.

    Args:
        text: what is divided.
        low: offset that the cut lies behind.
        high: last offset allowed, low < high < len(text).
    """
    clause = None
    for found in _CLAUSE_END.finditer(text, low, min(high + 1, len(text))):
        if low < found.end() <= high:
            clause = found.end()
    if clause is not None:
        return clause
    for position in range(high, low, -1):
        if _SPACE.match(text, position):
            return position
    for position in range(high, low, -1):
        if not _belongs_together(text[position - 1], text[position]):
            return position
    return high


_JOINER = "\u200d"


def _belongs_together(left: str, right: str) -> bool:
    joins = _JOINER in {left, right} or "\U0001f3fb" <= right <= "\U0001f3ff"
    return joins or unicodedata.category(right).startswith("M")
