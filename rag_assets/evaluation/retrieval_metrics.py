"""How good a ranking is against judgements: nDCG, recall, reciprocal rank, hit."""

import math
from collections.abc import Collection, Mapping, Sequence

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
