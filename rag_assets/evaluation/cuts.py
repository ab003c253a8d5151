"""How texts were cut into chunks: figures over spans."""

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_assets.chunking import sentence_breaks, split_sentences
from rag_assets.evaluation.report import Figure, share
from rag_assets.model import ParsedDocument, hash_text

Span = tuple[int, int]
"""Half-open, in code points."""


def union(spans: Iterable[Span]) -> list[Span]:
    """Return the same characters as disjoint spans in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def total(spans: Iterable[Span]) -> int:
    """Return how many characters the spans have, a repeated one as often as it stands."""
    return sum(end - start for start, end in spans)


@dataclass(frozen=True, slots=True)
class CutText:
    """One text and the spans that it was cut into.

    Args:
        sentences: spans in order.
        tokens: of each chunk, by the embedder's tokenizer.
    """

    text: str
    spans: tuple[Span, ...]
    sentences: tuple[Span, ...]
    tokens: tuple[int, ...]


def sentence_spans(document: ParsedDocument) -> tuple[Span, ...]:
    """Return the sentences of a document; a sentence ends where a block or a section does."""
    breaks = {*sentence_breaks(document), *(section.start for section in document.sections)}
    return tuple(split_sentences(document.text, sorted(breaks)))


def describe_cuts(texts: Sequence[CutText]) -> dict[str, Figure]:
    """Return the figures of spec 001 over all texts, and the share of chunks cut in a sentence.

    `coverage`: visible characters in at least one chunk. `overlap`: retold characters over all
    characters of chunks. `duplicate_rate`: chunks whose text another chunk already has.
    `cut_share`: chunks that begin or end inside a sentence. Lengths are in tokens.
    """
    visible = sum(_visible(cut.text, [(0, len(cut.text))]) for cut in texts)
    covered = sum(_visible(cut.text, union(cut.spans)) for cut in texts)
    told = sum(total(cut.spans) for cut in texts)
    once = sum(total(union(cut.spans)) for cut in texts)
    hashes = [hash_text(cut.text[start:end]) for cut in texts for start, end in cut.spans]
    tokens = [count for cut in texts for count in cut.tokens]
    return {
        "chunks": len(hashes),
        "coverage": share(covered, visible),
        "overlap": share(told - once, told),
        "duplicate_rate": share(len(hashes) - len(set(hashes)), len(hashes)),
        "cut_share": share(sum(map(_count_cut, texts)), len(hashes)),
        "tokens_min": min(tokens, default=None),
        "tokens_max": max(tokens, default=None),
        "tokens_mean": statistics.fmean(tokens) if tokens else None,
        "tokens_std": statistics.pstdev(tokens) if tokens else None,
    }


def _visible(text: str, spans: Iterable[Span]) -> int:
    return sum(len("".join(text[start:end].split())) for start, end in spans)


def _count_cut(cut: CutText) -> int:
    """Return how many chunks begin or end inside a sentence.

    A bound is inside where visible characters of one sentence stand on both sides of it.
    """
    starts = [start for start, _ in cut.sentences]
    return sum(
        _is_inside(cut, starts, start) or _is_inside(cut, starts, end) for start, end in cut.spans
    )


def _is_inside(cut: CutText, starts: Sequence[int], offset: int) -> bool:
    index = bisect_right(starts, offset) - 1
    if index < 0:
        return False
    start, end = cut.sentences[index]
    if not start < offset < end:
        return False
    return not cut.text[start:offset].isspace() and not cut.text[offset:end].isspace()
