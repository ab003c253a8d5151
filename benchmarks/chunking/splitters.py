"""The recursive splitter that everybody starts with, as baseline; it returns spans of the text."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rag_assets.evaluation.knowledge_evaluator import Span

# Defaults of LangChain's RecursiveCharacterTextSplitter; the empty one cuts between characters.
_SEPARATORS = ("\n\n", "\n", " ", "")


def split_recursively(text: str, token_spans: Sequence[Span], size: int) -> list[Span]:
    """Return chunks of at most `size` tokens, cut at the coarsest separator that serves.

    The rule of LangChain's RecursiveCharacterTextSplitter without overlap: blank lines first, then
    lines, then words, then characters; pieces that fit are joined greedily; a separator begins
    the piece behind it; white space around a chunk is dropped.

    Args:
        token_spans: of the whole text, in order; a chunk has the tokens that begin in it.
        size: tokens.
    """
    starts = [start for start, _ in token_spans]

    def tokens(start: int, end: int) -> int:
        return bisect_left(starts, end) - bisect_left(starts, start)

    def divide(start: int, end: int, separators: Sequence[str]) -> Iterator[Span]:
        index = next(
            (i for i, mark in enumerate(separators) if mark in text[start:end]), len(separators) - 1
        )
        begin = stop = start
        for piece_start, piece_end in _pieces(text, start, end, separators[index]):
            small = tokens(piece_start, piece_end) <= size
            if begin < stop and tokens(begin, piece_end) > size:
                yield begin, stop
                begin = piece_start
            stop = piece_end
            if not small and index + 1 < len(separators):
                yield from divide(piece_start, piece_end, separators[index + 1 :])
                begin = piece_end
        if begin < stop:
            yield begin, stop

    spans = (_trimmed(text, *span) for span in divide(0, len(text), _SEPARATORS))
    return [span for span in spans if span is not None]


def _pieces(text: str, start: int, end: int, separator: str) -> Iterator[Span]:
    if not separator:
        yield from ((at, at + 1) for at in range(start, end))
        return
    begin = start
    while (found := text.find(separator, begin + 1, end)) >= 0:
        yield begin, found
        begin = found
    yield begin, end


def _trimmed(text: str, start: int, end: int) -> Span | None:
    held = text[start:end]
    if not held.strip():
        return None
    return start + len(held) - len(held.lstrip()), end - len(held) + len(held.rstrip())
