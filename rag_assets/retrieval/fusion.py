"""Several rankings become one: by reciprocal ranks, or by a weighted sum of scores."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.retrieval.normalizing import normalized_parts
from rag_assets.settings import Normalization, ScoreMode

# Fused scores are sums of a few fractions; only the noise of adding them is rounded away.
_DECIMALS = 12

# From a candidate and the searchers that can read it to their weights.
WeightRule = Callable[[str, frozenset[str]], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one searcher says.

    Args:
        pool: ids that it ranked itself, best first, each once.
        scores: by id, finite: of the pool, and of other searchers' candidates that it can read.
            An id without a score is one that it cannot read.
    """

    pool: Sequence[str]
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate's fused score with what it was made from, by searcher.

    Args:
        parts: scores on the common scale.
        weights: of the searchers that can read it; they sum to 1.
    """

    identity: str
    score: float
    parts: Mapping[str, float]
    weights: Mapping[str, float]


def fuse_rrf(rankings: Mapping[str, Sequence[str]], rrf_k: int) -> list[tuple[str, float]]:
    """Return the ids of all rankings, best first: each scores the sum of 1 / (rrf_k + rank).

    Reciprocal rank fusion (Cormack, Clarke, Buettcher, SIGIR 2009).

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
        _refuse_repeats(name, ranking)
        for rank, identity in enumerate(ranking, start=1):
            scores[identity] += 1 / (rrf_k + rank)
    rounded = ((identity, round(score, _DECIMALS)) for identity, score in scores.items())
    return sorted(rounded, key=lambda item: (-item[1], item[0]))


def fuse_weighted(
    searchers: Mapping[str, Candidates],
    weights_for: WeightRule,
    mode: ScoreMode,
    normalize: Normalization,
    rrf_k: int,
) -> list[Fused]:
    """Return all candidates by the weighted mean of what the searchers say of them, best first.

    A searcher that cannot read a candidate does not count against it: the weights of the others
    are scaled so that they sum to 1.

    Args:
        searchers: by name.
        weights_for: weights, from 0, of the searchers that can read a candidate. Names it leaves
            out weigh 0; where all weigh 0, all count the same.
        mode: `normalize`, `rank` or `raw`; `normalize`, `rrf_k`: as in `normalized_parts`.

    Returns:
        Every id of a pool, by falling score, ties by id. Scores are in [0, 1] for mode `rank`, and
        for `normalize` with every kind but `zscore`. The order of `searchers` does not matter.

    Raises:
        ValueError: a score is not finite, a weight is negative, a pool holds an id twice or
            without a score, or `rrf_k` is below 1.
    """
    if rrf_k < 1:
        raise ValueError(f"'rrf_k' must be at least 1, got {rrf_k}.")
    names = sorted(searchers)
    parts: dict[str, dict[str, float]] = {}
    for name in names:
        found = searchers[name]
        _refuse_repeats(name, found.pool)
        for identity in found.pool:
            if identity not in found.scores:
                raise ValueError(f"searcher '{name}' ranks '{identity}' without a score.")
        parts[name] = normalized_parts(found.scores, found.pool, mode, normalize, rrf_k)
    fused = []
    # Most candidates are weighed by the same few mappings; each is held here, so its id stays its.
    shares: dict[tuple[int, frozenset[str]], tuple[Mapping[str, float], dict[str, float]]] = {}
    for identity in {identity for name in names for identity in searchers[name].pool}:
        own = {name: parts[name][identity] for name in names if identity in parts[name]}
        able = frozenset(own)
        said = weights_for(identity, able)
        if (id(said), able) not in shares:
            shares[id(said), able] = (said, _share(said, list(own)))
        weights = shares[id(said), able][1]
        score = sum(weights[name] * part for name, part in own.items())
        fused.append(Fused(identity, round(score, _DECIMALS), own, weights))
    return sorted(fused, key=lambda item: (-item.score, item.identity))


def _share(weights: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    own = {name: weights.get(name, 0.0) for name in names}
    for name, weight in own.items():
        if not weight >= 0:
            raise ValueError(f"the weight of '{name}' must be at least 0, got {weight}.")
    total = sum(own.values())
    if total == 0:
        return {name: 1 / len(names) for name in names}
    return {name: weight / total for name, weight in own.items()}


def _refuse_repeats(name: str, ranking: Sequence[str]) -> None:
    if len(set(ranking)) != len(ranking):
        raise ValueError(f"ranking '{name}' must hold each id at most once.")
