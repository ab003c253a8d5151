"""From a parent to passages: whole sentences, tables, lists … of one section, of about one size."""

import math
import re
import unicodedata
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import TypeVar

from rag_assets.chunking.sentences import (
    HEAD_KINDS,
    Group,
    Outline,
    Pair,
    Span,
    Tokenizer,
    next_visible,
    reference_bounds,
    trim,
)
from rag_assets.model import CJK_RANGES, Columns, ConfigurationError, Parent, count_cjk
from rag_assets.model.settings import ChunkSettings, GeneralChunkSettings

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
# Where a passage is best divided in two: lines that end a sentence, lines, sentences.
_HALVES = (
    re.compile(r"(?<=[。；;：:！？!?）)”|])[^\S\n]*\n"),
    re.compile(r"\n"),
    re.compile(r"[。！？!?]+[”’」』）)]*|[.!?](?=\s)"),
    re.compile(r"[；;]+[”’」』）)]*"),
)
_OF_NUMBER_OR_WORD = re.compile(r"[0-9A-Za-z.%〇零一二两三四五六七八九十百千万亿]")


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

    Behind a clause or a line, else at white space, else anywhere but inside a number or a Latin
    word, before a combining mark, a joiner or what it joins.

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
    both = _OF_NUMBER_OR_WORD.match(left) and _OF_NUMBER_OR_WORD.match(right)
    return joins or both is not None or unicodedata.category(right).startswith("M")


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk before it has its place in the document. Offsets are the document's.

    Args:
        most: tokens that it may have.
        question: of a question with its answer.
        is_heading: it is nothing but what leads to others.
    """

    parent: Parent
    start: int
    end: int
    most: int
    is_cut: bool = False
    question: str | None = None
    is_heading: bool = False

    @property
    def text(self) -> str:
        """The slice of the clean text."""
        base = self.parent.char_start
        return self.parent.text[self.start - base : self.end - base]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What passages may measure, in tokens.

    Args:
        room: of what is packed; repeated sentences come on top, so it leaves room for them.
        most: of a passage with what it repeats.
        repeated: of what a passage repeats from the one before.
        most_of_pair: of a question with its answer.
    """

    room: Bounds
    most: int
    repeated: int
    most_of_pair: int


def passage_sizes(settings: ChunkSettings, limit: int) -> Sizes:
    """Return the sizes that settings and model allow together.

    Args:
        settings: sizes in tokens.
        limit: `Tokenizer.limit`.

    Raises:
        ConfigurationError: the sizes contradict each other.
    """
    asked = Bounds(settings.min_tokens, settings.target_tokens, settings.max_tokens)
    most = min(asked.most, limit)
    repeated = int(settings.overlap * min(asked.target, most))
    room = _within(asked, most - repeated)
    # The model reads the question alone: the pair may be as long as what is shown whole.
    return Sizes(room, most, repeated, max(most, settings.parent_tokens))


def piece_sizes(settings: GeneralChunkSettings, limit: int) -> Sizes:
    """Return the sizes of joined pieces, as `passage_sizes`."""
    most = min(settings.max_tokens, limit)
    repeated = int(settings.overlap * most)
    return Sizes(Bounds(1, most - repeated, most - repeated), most, repeated, most)


def _within(bounds: Bounds, most: int) -> Bounds:
    return Bounds(min(bounds.least, most), min(bounds.target, most), min(bounds.most, most))


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is packed whole where it fits: a sentence, or a group with the headings above it."""

    start: int
    end: int


class ParentDivider:
    """Divides parents of one document into passages.

    Args:
        outline: of the document.
        sizes: of the passages.
        tokenizer: the embedding model's own.
        delimiter: ends the pieces that are packed; without one they are sentences, and groups
            that stay together.
    """

    def __init__(
        self, outline: Outline, sizes: Sizes, tokenizer: Tokenizer, delimiter: str | None = None
    ) -> None:
        self._outline = outline
        self._text = outline.document.text
        self._delimiter = delimiter
        self._sizes = sizes
        self._tokenizer = tokenizer
        self._references = reference_bounds(outline.document)
        self._pair_starts = [pair.start for pair in outline.pairs]

    def divide(self, parent: Parent) -> Iterator[Passage]:
        """Yield the passages of a parent in order, counted by its tokens as a whole."""
        base = parent.char_start
        tokens = [base + start for start, _ in self._tokenizer.token_spans(parent.text)]
        for start, end in pairwise(self._cuts(parent, tokens)):
            yield from self._divide_segment(parent, start, end, tokens)

    def _cuts(self, parent: Parent, tokens: Sequence[int]) -> list[int]:
        """Return the offsets that no passage crosses, the parent's own bounds among them."""
        low, high = parent.char_start, parent.char_end
        sections, pairs = self._outline.sections, self._outline.pairs
        first = bisect_right(sections, low, key=lambda section: section.start)
        behind = bisect_left(sections, high, key=lambda section: section.start)
        opened = {section.start for section in sections[first:behind]}
        cuts: set[int] = set()
        if self._delimiter is None:
            first = bisect_left(self._references, low)
            cuts.update(self._references[first : bisect_left(self._references, high)])
            for group in self._outline.groups_within(low, high):
                is_split = group.kind == "table" and not self._fits(group, low, high, tokens)
                if is_split or group.kind == "drawing":
                    cuts.update((group.start, group.end))
        first = max(0, bisect_right(self._pair_starts, low) - 1)
        for pair in pairs[first : bisect_left(self._pair_starts, high)]:
            cuts.update((pair.start, pair.end))
        inside = (cut for cut in cuts - opened if low < cut < high)
        moved = {self._outline.before_heads(cut) for cut in inside}
        return sorted({low, high, *opened, *(cut for cut in moved if low < cut < high)})

    def _fits(self, group: Group, start: int, end: int, tokens: Sequence[int]) -> bool:
        """Say whether a group lies whole in the span and may stay so."""
        is_whole = start <= group.start and group.end <= end
        return is_whole and _size(tokens, group.start, group.end) <= self._sizes.room.most

    def _divide_segment(
        self, parent: Parent, start: int, end: int, tokens: Sequence[int]
    ) -> Iterator[Passage]:
        start, end = trim(self._text, start, end)
        if start == end:
            return
        sizes = self._sizes
        pair = self._pair_within(start, end)
        if pair is not None and _size(tokens, start, end) <= sizes.most_of_pair:
            yield Passage(parent, start, end, sizes.most_of_pair, question=pair.question)
            return
        room = self._room_at(start, end, tokens)
        if self._delimiter is None:
            pieces = list(self._pieces(start, end, tokens, room.most))
        else:
            pieces = list(_between(self._text, start, end, self._delimiter))
        units = self._units(pieces, end, tokens, room.most)
        begin_before = 0
        for first, behind in pack(units, room):
            begin = _repeat_from(units, begin_before, first, sizes.repeated)
            held = units[begin:behind]
            start_of_first = held[0].start
            if self._delimiter is not None and first > 0 and units[first - 1].is_piece:
                # Nothing but the delimiter says where a piece of text ends: words are repeated.
                start_of_first = self._words_before(held[0], units[begin_before], tokens)
            yield Passage(
                parent,
                start_of_first,
                held[-1].end,
                sizes.most,
                is_cut=any(unit.is_piece for unit in held),
                question=pair.question if pair else None,
            )
            begin_before = first

    def _words_before(self, unit: Unit, previous: Unit, tokens: Sequence[int]) -> int:
        """Return where the words begin that are repeated before a unit, itself where none fit.

        Args:
            previous: the first unit of the passage before; its begin is never repeated.
        """
        most = self._sizes.repeated
        place = bisect_left(tokens, unit.start)
        for start in tokens[max(0, place - most) : place]:
            around = self._text[max(0, start - 1) : start + 1]
            is_inside_word = len(around) == 2 and around.isalnum() and count_cjk(around) < 2
            if is_inside_word or start <= previous.start:
                continue
            if size_of(place - bisect_left(tokens, start), unit.start - start) <= most:
                return start
        return unit.start

    def _pair_within(self, start: int, end: int) -> Pair | None:
        """Return the pair that a segment holds, with the headings above it, or is a part of."""
        index = bisect_left(self._pair_starts, end) - 1
        if index < 0 or self._outline.pairs[index].end <= start:
            return None
        return self._outline.pairs[index]

    def _room_at(self, start: int, end: int, tokens: Sequence[int]) -> Bounds:
        """Return the sizes for a segment; the row groups of a table leave room for its header."""
        room = self._sizes.room
        group = self._outline.group_at(end - 1)
        if group is None or group.kind != "table" or not group.header:
            return room
        if self._fits(group, start, end, tokens):
            return room  # it stays whole
        first = self._text.find(group.header, group.start)
        size = bisect_left(tokens, first + len(group.header)) - bisect_left(tokens, first)
        # Rows on later pages have the header in another parent, whose tokens are not here.
        header = size or self._tokenizer.count([group.header])[0]
        return _within(room, room.most - header) if 2 * header <= room.most else room

    def _pieces(self, start: int, end: int, tokens: Sequence[int], most: int) -> Iterator[_Piece]:
        """Yield what is packed, a heading together with what follows it."""
        head: int | None = None
        for first, last, is_head in self._whole_or_parts(start, end, tokens, most):
            begin = first if head is None else head
            if is_head and _size(tokens, begin, last) <= most // 2:
                head = begin
                continue
            yield _Piece(begin, last)
            head = None
        if head is not None:
            yield _Piece(head, end)

    def _whole_or_parts(
        self, start: int, end: int, tokens: Sequence[int], most: int
    ) -> Iterator[tuple[int, int, bool]]:
        sentences = self._outline.sentences
        position = max(0, bisect_right(sentences.column("start"), start) - 1)
        taken = heads = 0
        while position < len(sentences) and sentences[position][0] < end:
            first, last = max(start, sentences[position][0]), min(end, sentences[position][1])
            position += 1
            if first >= last or first < taken:
                continue
            group = self._outline.group_at(first)
            if group is None:
                heads = 0
                yield *trim(self._text, first, last), False
                continue
            taken = min(group.end, end)
            is_head = group.kind in HEAD_KINDS
            if _size(tokens, first, taken) + heads <= most and start <= group.start:
                yield *trim(self._text, first, taken), is_head
            else:
                for piece in self._opened(group, first, taken, tokens, most):
                    yield *piece, False
            heads = heads + _size(tokens, first, taken) if is_head else 0

    def _opened(
        self, group: Group, start: int, end: int, tokens: Sequence[int], most: int
    ) -> Iterator[Span]:
        """Yield the parts of a group inside the span, the sentences of parts that are too large."""
        parts, sentences = group.parts, self._outline.sentences
        index = max(0, bisect_right(parts, start, key=_first) - 1)
        while index < len(parts) and parts[index][0] < end:
            first, last = max(start, parts[index][0]), min(end, parts[index][1])
            index += 1
            if first >= last:
                continue
            if _size(tokens, first, last) <= most:
                yield trim(self._text, first, last)
                continue
            position = max(0, bisect_right(sentences.column("start"), first) - 1)
            while position < len(sentences) and sentences[position][0] < last:
                inner = max(first, sentences[position][0]), min(last, sentences[position][1])
                position += 1
                if inner[0] < inner[1]:
                    yield trim(self._text, *inner)

    def _units(
        self, pieces: Sequence[_Piece], end: int, tokens: Sequence[int], most: int
    ) -> list[Unit]:
        text, units = self._text, []
        for index, piece in enumerate(pieces):
            following = pieces[index + 1].start if index + 1 < len(pieces) else end
            price = 0.0
            if self._delimiter is None:
                price = price_of_end(text, piece.start, piece.end, following)
            spans = _cut(text, piece.start, piece.end, tokens, most)
            for start, stop in spans:
                units.append(
                    Unit(
                        start,
                        stop,
                        bisect_left(tokens, start),
                        bisect_left(tokens, stop),
                        price if stop == piece.end else _PRICE_INSIDE_SENTENCE,
                        is_piece=len(spans) > 1,
                    )
                )
        return units


def _first(span: Span) -> int:
    return span[0]


def _size(tokens: Sequence[int], start: int, end: int) -> int:
    return size_of(bisect_left(tokens, end) - bisect_left(tokens, start), end - start)


def _between(text: str, start: int, end: int, delimiter: str) -> Iterator[_Piece]:
    """Yield what stands between delimiters; a delimiter ends the piece before it."""
    while start < end:
        found = text.find(delimiter, start, end)
        stop = end if found < 0 else found + len(delimiter)
        first, last = trim(text, start, stop)
        if first < last:
            yield _Piece(first, last)
        start = stop


def _repeat_from(units: Sequence[Unit], previous: int, first: int, most: int) -> int:
    """Return the unit where a passage begins that repeats whole units before `first`.

    The first unit of the passage before is never repeated: order by start stays total.
    """
    begin = first
    while begin - 1 > previous and not units[begin - 1].is_piece:
        candidate = units[begin - 1]
        tokens = units[first].first_token - candidate.first_token
        if size_of(tokens, units[first].start - candidate.start) > most:
            break
        begin -= 1
    return begin


def _cut(text: str, start: int, end: int, tokens: Sequence[int], most: int) -> list[Span]:
    """Cut a piece into parts of at most `most` tokens; a shorter one is its only part."""
    parts = []
    last_token = bisect_left(tokens, end)
    while True:
        first_token = bisect_left(tokens, start)
        size = size_of(last_token - first_token, end - start)
        if size <= most:
            parts.append((start, end))
            return parts
        # Two parts of about one size rather than a full one and a rest of a few words.
        widest = most if size > 2 * most else min(most, size * 5 // 8)
        high = min(start + widest * CHARACTERS_PER_TOKEN, end - 1)
        if last_token - first_token > widest:
            high = min(high, tokens[first_token + widest])
        high = max(high, start + 1)
        stop = best_cut(text, start + (high - start) // 2, high)
        stop = start + len(text[start:stop].rstrip())
        parts.append((start, stop))
        start = next_visible(text, stop)


def halve(passage: Passage) -> list[Passage]:
    """Return the two halves of a passage that is too long after all.

    They end with a line where one ends near the middle, else with a sentence, else inside one.
    """
    text = passage.text
    low, high = len(text) // 4, max(len(text) * 3 // 4, 1)
    middle, is_cut = None, False
    for pattern in _HALVES:
        ends = [found.end() for found in pattern.finditer(text, low, high)]
        if ends and middle is None:
            middle = min(ends, key=lambda end: abs(2 * end - len(text)))
    if middle is None or not text[middle:].strip():
        middle, is_cut = best_cut(text, low, max(len(text) // 2, low + 1)), True
    stop = len(text[:middle].rstrip())
    spans = [(0, stop), (next_visible(text, middle), len(text))]
    return [
        Passage(
            passage.parent,
            passage.start + first,
            passage.start + last,
            passage.most,
            is_cut=is_cut or passage.is_cut,
            question=passage.question,
        )
        for first, last in spans
    ]
