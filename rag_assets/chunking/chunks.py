"""Chunks: the passages of a parent that are embedded and searched."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from rag_assets.chunking.parents import locate_pages
from rag_assets.chunking.sentences import (
    next_visible,
    split_sentences,
)
from rag_assets.chunking.tokenizer import Tokenizer
from rag_assets.model import Chunk, Parent
from rag_assets.workspace.settings import ChunkSettings

CHUNKING_VERSION = "1"


@dataclass(frozen=True, slots=True)
class _Passage:
    """A chunk before it has its place in the document. Offsets are the document's."""

    parent: Parent
    start: int
    end: int
    is_cut: bool

    @property
    def text(self) -> str:
        return self.parent.text[
            self.start - self.parent.char_start : self.end - self.parent.char_start
        ]


def make_chunks(
    parents: Sequence[Parent],
    settings: ChunkSettings,
    tokenizer: Tokenizer,
) -> list[Chunk]:
    """Pack the sentences of each parent into chunks of about `target_tokens` (spec 000 §4.3).

    A chunk holds `min_tokens` to `max_tokens`, fewer only where its parent has no more, and never
    more than `tokenizer.limit`. A sentence that is longer is cut at its best inner place, and the
    chunks that hold its parts say so (`is_cut`). With `overlap` above 0 a chunk begins with the
    last whole sentences of the one before, up to that share of the target.

    Args:
        parents: of one document, in order.
        settings: sizes in tokens of `tokenizer`.
        tokenizer: the embedding model's own.

    Returns:
        Chunks in order, numbered from 0. Every visible character of the parents is in at least
        one, in exactly one with `overlap` 0.

    Raises:
        ConfigurationError: the sizes contradict each other.
    """
    asked = Bounds(settings.min_tokens, settings.target_tokens, settings.max_tokens)
    most = min(asked.most, tokenizer.limit)
    repeated = int(settings.overlap * min(asked.target, most))
    # Repeated sentences come on top, so what is packed leaves room for them.
    room = Bounds(
        min(asked.least, most - repeated), min(asked.target, most - repeated), most - repeated
    )
    passages = [
        passage for parent in parents for passage in _divide(parent, room, repeated, tokenizer)
    ]
    return [
        _as_chunk(order, passage, tokens)
        for order, (passage, tokens) in enumerate(_fit(passages, most, tokenizer))
    ]


def _as_chunk(order: int, passage: _Passage, tokens: int) -> Chunk:
    page_start, page_end = locate_pages(passage.parent.page_starts, passage.start, passage.end)
    return Chunk(
        order=order,
        parent_label=passage.parent.label,
        char_start=passage.start,
        char_end=passage.end,
        text=passage.text,
        token_count=tokens,
        page_start=page_start,
        page_end=page_end,
        section_path=passage.parent.section_path,
        is_cut=passage.is_cut,
    )


def _divide(
    parent: Parent, room: Bounds, repeated: int, tokenizer: Tokenizer
) -> Iterator[_Passage]:
    """Yield the passages of one parent, counted by the tokens of the parent as a whole."""
    text, base = parent.text, parent.char_start
    sentences = split_sentences(text, [offset - base for offset in parent.breaks])
    token_starts = [start for start, _ in tokenizer.token_spans(text)]
    units = _units(text, sentences, token_starts, room.most)
    begin_before = 0
    for first, behind in pack(units, room):
        begin = _repeat_from(units, begin_before, first, repeated)
        held = units[begin:behind]
        yield _Passage(
            parent,
            base + held[0].start,
            base + held[-1].end,
            is_cut=any(unit.is_piece for unit in held),
        )
        begin_before = first


def _repeat_from(units: Sequence[Unit], previous: int, first: int, most: int) -> int:
    """Return the unit where a passage begins that repeats whole sentences before `first`.

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


def _units(
    text: str,
    sentences: Sequence[tuple[int, int]],
    token_starts: Sequence[int],
    most: int,
) -> list[Unit]:
    units = []
    for index, (start, end) in enumerate(sentences):
        following = sentences[index + 1][0] if index + 1 < len(sentences) else len(text)
        price = price_of_end(text, start, end, following)
        pieces = _pieces(text, start, end, token_starts, most)
        for piece_start, piece_end in pieces:
            units.append(
                Unit(
                    piece_start,
                    piece_end,
                    bisect_left(token_starts, piece_start),
                    bisect_left(token_starts, piece_end),
                    price if piece_end == end else price_inside(),
                    is_piece=len(pieces) > 1,
                )
            )
    return units


def _pieces(
    text: str, start: int, end: int, token_starts: Sequence[int], most: int
) -> list[tuple[int, int]]:
    """Cut a sentence into pieces of at most `most` tokens; a shorter one is its only piece."""
    pieces = []
    last_token = bisect_left(token_starts, end)
    while True:
        first_token = bisect_left(token_starts, start)
        size = size_of(last_token - first_token, end - start)
        if size <= most:
            pieces.append((start, end))
            return pieces
        # Two pieces of about one size rather than a full one and a rest of a few words.
        widest = most if size > 2 * most else min(most, size * 5 // 8)
        high = min(start + widest * CHARACTERS_PER_TOKEN, end - 1)
        if last_token - first_token > widest:
            high = min(high, token_starts[first_token + widest])
        high = max(high, start + 1)
        stop = best_cut(text, start + (high - start) // 2, high)
        stop = start + len(text[start:stop].rstrip())
        pieces.append((start, stop))
        start = next_visible(text, stop)


def _fit(
    passages: Sequence[_Passage], most: int, tokenizer: Tokenizer
) -> Iterator[tuple[_Passage, int]]:
    """Yield each passage with the true count of its own string, halved where that is too large.

    A tokenizer may read a part otherwise than the whole: a word that was cut, a first word.
    """
    for passage, tokens in zip(passages, tokenizer.count([p.text for p in passages]), strict=True):
        if tokens <= most or passage.end - passage.start == 1:
            yield passage, tokens
        else:
            yield from _fit(_halves(passage), most, tokenizer)


def _halves(passage: _Passage) -> list[_Passage]:
    text = passage.text
    middle = best_cut(text, len(text) // 4, max(len(text) // 2, len(text) // 4 + 1))
    stop = len(text[:middle].rstrip())
    start = next_visible(text, middle)
    return [
        _Passage(passage.parent, passage.start, passage.start + stop, is_cut=True),
        _Passage(passage.parent, passage.start + start, passage.end, is_cut=True),
    ]
