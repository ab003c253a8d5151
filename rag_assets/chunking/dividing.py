"""From a parent to passages: whole sentences, tables, lists … of one section, of about one size."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.chunking.outline import HEAD_KINDS, Group, Outline, Pair, Span, reference_bounds
from rag_assets.chunking.packing import (
    CHARACTERS_PER_TOKEN,
    Bounds,
    Unit,
    best_cut,
    pack,
    price_inside,
    price_of_end,
    size_of,
)
from rag_assets.chunking.sentences import next_visible
from rag_assets.chunking.tokenizer import Tokenizer
from rag_assets.model import Parent, count_cjk
from rag_assets.settings import ChunkSettings, GeneralChunkSettings


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
    filled = Bounds(1, most - repeated, most - repeated)
    return Sizes(filled, most, repeated, most)


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
        cuts = self._cuts(parent, tokens)
        for start, end in pairwise(cuts):
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
        start = next_visible(self._text, start)
        end = start + len(self._text[start:end].rstrip())
        if start >= end:
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
        header = self._header_tokens(group, tokens)
        return _within(room, room.most - header) if 2 * header <= room.most else room

    def _header_tokens(self, group: Group, tokens: Sequence[int]) -> int:
        first = self._text.find(group.header, group.start)
        size = bisect_left(tokens, first + len(group.header)) - bisect_left(tokens, first)
        # Rows on later pages have the header in another parent, whose tokens are not here.
        return size or self._tokenizer.count([group.header])[0]

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
                yield *_trim(self._text, first, last), False
                continue
            taken = min(group.end, end)
            is_head = group.kind in HEAD_KINDS
            if _size(tokens, first, taken) + heads <= most and start <= group.start:
                yield *_trim(self._text, first, taken), is_head
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
                yield _trim(self._text, first, last)
                continue
            position = max(0, bisect_right(sentences.column("start"), first) - 1)
            while position < len(sentences) and sentences[position][0] < last:
                inner = max(first, sentences[position][0]), min(last, sentences[position][1])
                position += 1
                if inner[0] < inner[1]:
                    yield _trim(self._text, *inner)

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
                        price if stop == piece.end else price_inside(),
                        is_piece=len(spans) > 1,
                    )
                )
        return units


def _first(span: Span) -> int:
    return span[0]


def _size(tokens: Sequence[int], start: int, end: int) -> int:
    return size_of(bisect_left(tokens, end) - bisect_left(tokens, start), end - start)


def _trim(text: str, start: int, end: int) -> Span:
    first = next_visible(text, start)
    return first, max(first, first + len(text[first:end].rstrip()))


def _between(text: str, start: int, end: int, delimiter: str) -> Iterator[_Piece]:
    """Yield what stands between delimiters; a delimiter ends the piece before it."""
    while start < end:
        found = text.find(delimiter, start, end)
        stop = end if found < 0 else found + len(delimiter)
        first, last = _trim(text, start, stop)
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
    """Return the two halves of a passage that is too long after all."""
    text = passage.text
    middle = best_cut(text, len(text) // 4, max(len(text) // 2, len(text) // 4 + 1))
    stop = len(text[:middle].rstrip())
    start = next_visible(text, middle)
    spans = [(0, stop), (start, len(text))]
    return [
        Passage(
            passage.parent,
            passage.start + first,
            passage.start + last,
            passage.most,
            is_cut=True,
            question=passage.question,
        )
        for first, last in spans
    ]
