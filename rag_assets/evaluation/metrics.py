"""How good a ranking is against judgements: nDCG, recall, reciprocal rank, hit."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.retrieval import Hit
# The figures of `rag eval retrieval`, in the order in which they are shown.
HEADLINE = ("ndcg_at_10", "recall_at_10", "recall_at_100", "mrr_at_10", "hit_at_1")


def ndcg_at(ranking: Sequence[str], relevance: Mapping[str, float], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first `k`.

    The gain of an item is its relevance and the discount log2(rank + 1), as trec_eval and hence
    BEIR have it (Järvelin and Kekäläinen, 2002).

    Args:
        ranking: ids, best first, each once.
        relevance: above 0 for what is relevant; what is missing is not.
        k: from 1.
    """
    gains = (relevance.get(identity, 0.0) for identity in ranking[:k])
    best = sorted((value for value in relevance.values() if value > 0), reverse=True)[:k]
    ideal = _discounted(best)
    return _discounted([max(0.0, gain) for gain in gains]) / ideal if ideal else 0.0


def recall_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of what is relevant that stands among the first `k`."""
    found = sum(identity in relevant for identity in ranking[:k])
    return found / len(relevant) if relevant else 0.0


def reciprocal_rank_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1 ÷ the rank of the first relevant item, 0 where none is among the first `k`."""
    for rank, identity in enumerate(ranking[:k], start=1):
        if identity in relevant:
            return 1 / rank
    return 0.0


def hit_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1 where something relevant is among the first `k`, else 0."""
    return float(any(identity in relevant for identity in ranking[:k]))


def score_ranking(
    ranking: Sequence[str], deep: Sequence[str], relevance: Mapping[str, float]
) -> dict[str, float]:
    """Return the figures `HEADLINE` of one question.

    Args:
        ranking: ids as a user gets them, best first.
        deep: ids of a search that goes deeper, for the recall at 100.
        relevance: by id, above 0 for what is relevant.
    """
    relevant = {identity for identity, value in relevance.items() if value > 0}
    return {
        "ndcg_at_10": ndcg_at(ranking, relevance, 10),
        "recall_at_10": recall_at(ranking, relevant, 10),
        "recall_at_100": recall_at(deep, relevant, 100),
        "mrr_at_10": reciprocal_rank_at(ranking, relevant, 10),
        "hit_at_1": hit_at(ranking, relevant, 1),
    }


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


RESAMPLES = 4_000
"""Draws; the ends of an interval then vary by about a hundredth of its length."""
SEED = 7
"""Of the draws: the same questions give the same interval."""
_LEVEL = 0.95
# Draws × questions that are held at a time: 32 MB of counts.
_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean of one figure over questions, and how sure it is.

    Raises:
        ValueError: no values.
    """
    return mean_intervals([values])[0]


def mean_intervals(figures: Sequence[Sequence[float]]) -> list[Interval]:
    """Return the interval of each of several figures over the same questions.

    Args:
        figures: one row a figure, one value a question.

    Raises:
        ValueError: no figures, no questions, or rows of unequal length.
    """
    import numpy as np

    matrix = np.asarray(figures, np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError("an interval needs at least one figure of at least one question.")
    tail = (1 - _LEVEL) / 2
    drawn = np.concatenate(list(_means(matrix)), axis=1)
    lows, highs = np.quantile(drawn, [tail, 1 - tail], axis=1)
    return [
        Interval(float(mean), float(low), float(high))
        for mean, low, high in zip(matrix.mean(axis=1), lows, highs, strict=True)
    ]


def difference_interval(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Return the mean of first - second over the same questions, and how sure it is.

    The difference is significant where the interval does not hold 0.

    Raises:
        ValueError: unequal lengths or no questions.
    """
    if len(first) != len(second):
        raise ValueError(
            f"a paired difference needs the same questions, got {len(first)} and {len(second)}."
        )
    return mean_interval([one - other for one, other in zip(first, second, strict=True)])


def _means(matrix: "NDArray[np.float64]") -> "Iterator[NDArray[np.float64]]":
    """Yield the means of the figures over questions drawn with replacement, some draws at a time.

    How often each question is drawn is one multinomial: a product gives every figure's mean.
    """
    import numpy as np

    random = np.random.default_rng(SEED)
    questions = matrix.shape[1]
    shares = np.full(questions, 1 / questions)
    at_once = max(1, _AT_ONCE // questions)
    for start in range(0, RESAMPLES, at_once):
        size = min(at_once, RESAMPLES - start)
        counts = random.multinomial(questions, shares, size=size).astype(np.float64)
        yield matrix @ counts.T / questions


def rank_documents(hits: "Iterable[Hit]", ids: Mapping[str, Sequence[str]]) -> list[str]:
    """Return documents by their best chunk, best first, each once.

    A hit that stands for others of the same text (`copies`) brings their documents with it: whoever
    reads it is told of them. Files that are the same, byte for byte, are one document here and
    several in the set: they follow each other.

    Args:
        hits: best first.
        ids: of the set's documents, by `doc_uid`.
    """
    ranking: dict[str, None] = {}
    for hit in hits:
        for uid in (hit.doc_uid, *map(_document_of, hit.copies)):
            ranking.update(dict.fromkeys(ids.get(uid, ())))
    return list(ranking)


def rank_hits(hits: "Iterable[Hit]", ids: Mapping[str, Sequence[str]]) -> list[str]:
    """Return chunks as `<id of the document>:<number of the chunk, from 0>`, best first."""
    ranking: dict[str, None] = {}
    for hit in hits:
        for identity in ids.get(hit.doc_uid, ()):
            ranking[f"{identity}:{hit.chunk_index}"] = None
        for copy in hit.copies:
            _, _, number = copy.rpartition(":")
            for identity in ids.get(_document_of(copy), ()):
                ranking[f"{identity}:{number}"] = None
    return list(ranking)


def _document_of(chunk_key: str) -> str:
    """Return the `doc_uid` of `namespace::doc_uid:number`."""
    _, _, chunk_id = chunk_key.partition("::")
    uid, _, _ = chunk_id.rpartition(":")
    return uid
