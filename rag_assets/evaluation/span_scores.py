"""Figures over spans: what a search recovers, and how a text was cut.

Recall, precision and IoU are those of Smith and Troynikov, "Evaluating Chunking Strategies for
Retrieval" (Chroma technical report, 2024), over characters instead of tokens.
"""

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_assets.chunking import sentence_breaks, split_sentences
from rag_assets.evaluation.passage_questions import Span
from rag_assets.evaluation.report import Figure, share
from rag_assets.model import ParsedDocument, hash_text


@dataclass(frozen=True, slots=True)
class Recovered:
    """How the passages of one search agree with the reference spans, in characters.

    Args:
        recall: share of the references' characters that were retrieved.
        precision: share of the retrieved characters that belong to a reference. A character that
            was retrieved twice counts twice.
        iou: the characters of both, over the retrieved and those that were missed.
        hit_iou: the same over those retrieved passages alone that hold some of a reference.
    """

    recall: float
    precision: float
    iou: float
    hit_iou: float


def score_spans(references: Sequence[Span], retrieved: Sequence[Span]) -> Recovered:
    """Return recall, precision and IoU of one search.

    Args:
        references: of one question; where they overlap a character counts once.
        retrieved: spans of the passages that were found, in the same text.
    """
    wanted = union(references)
    known = total(wanted)
    common = total(intersection(wanted, union(retrieved)))
    size = total(retrieved)
    hits = total(touching(retrieved, wanted))
    return Recovered(
        share(common, known) or 0.0,
        share(common, size) or 0.0,
        share(common, size + known - common) or 0.0,
        share(common, hits + known - common) or 0.0,
    )


def union(spans: Iterable[Span]) -> list[Span]:
    """Return the same characters as disjoint spans in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def intersection(first: Sequence[Span], second: Sequence[Span]) -> list[Span]:
    """Return the characters of both; each argument disjoint and in order."""
    common = []
    i = j = 0
    while i < len(first) and j < len(second):
        start, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if start < end:
            common.append((start, end))
        if first[i][1] <= second[j][1]:
            i += 1
        else:
            j += 1
    return common


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


def touching(spans: Sequence[Span], references: Sequence[Span]) -> list[Span]:
    """Return the spans that share a character with a reference; `references` as by `union`."""
    ends = [end for _, end in references]
    found = []
    for start, end in spans:
        index = bisect_right(ends, start)
        if index < len(references) and references[index][0] < end:
            found.append((start, end))
    return found
