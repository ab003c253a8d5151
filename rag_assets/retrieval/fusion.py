"""Reciprocal rank fusion (Cormack, Clarke, Buettcher, SIGIR 2009)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

# Fused scores are sums of a few fractions; only the noise of adding them is rounded away.
_DECIMALS = 12


def fuse_rrf(rankings: Mapping[str, Sequence[str]], rrf_k: int) -> list[tuple[str, float]]:
    """Return the ids of all rankings, best first: each scores the sum of 1 / (rrf_k + rank).

    Args:
        rankings: ids by searcher, best first, each id at most once in a ranking.
        rrf_k: from 1; the larger, the less the first places count. 60 in the paper.

    Returns:
        (id, score), by falling score, ties by id; the order of `rankings` does not matter.

    Raises:
        ValueError: `rrf_k` is below 1 or a ranking holds an id twice.
    """
    if rrf_k < 1:
        raise ValueError(f"'rrf_k' must be at least 1, got {rrf_k}.")
    scores: dict[str, float] = defaultdict(float)
    for name in sorted(rankings):
        ranking = rankings[name]
        if len(set(ranking)) != len(ranking):
            raise ValueError(f"ranking '{name}' must hold each id at most once.")
        for rank, identity in enumerate(ranking, start=1):
            scores[identity] += 1 / (rrf_k + rank)
    rounded = ((identity, round(score, _DECIMALS)) for identity, score in scores.items())
    return sorted(rounded, key=lambda item: (-item[1], item[0]))
