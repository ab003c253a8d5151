"""What a search recovers, in spans of characters.

Recall, precision and IoU are those of Smith and Troynikov, "Evaluating Chunking Strategies for
Retrieval" (Chroma technical report, 2024), over characters instead of tokens.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.evaluation.knowledge_evaluator import Span, total, union
from rag_assets.evaluation.report import share


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


def touching(spans: Sequence[Span], references: Sequence[Span]) -> list[Span]:
    """Return the spans that share a character with a reference; `references` as by `union`."""
    ends = [end for _, end in references]
    found = []
    for start, end in spans:
        index = bisect_right(ends, start)
        if index < len(references) and references[index][0] < end:
            found.append((start, end))
    return found
