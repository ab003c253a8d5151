"""Scores of different searchers on one scale.

A searcher's *pool* are the candidates that it ranked itself, best first; candidates of other
searchers are measured on the scale of that pool. Every scale keeps the order of the scores.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from rag_assets.settings import Normalization, ScoreMode

# From a score to its part of a fused score.
Scale = Callable[[float], float]


def make_scale(kind: Normalization, pool: Sequence[float]) -> Scale:
    """Return the function that puts scores on the scale of a pool.

    - `min_max`: 0 at the pool's lowest score, 1 at its highest; clipped to [0, 1]. In a pool whose
      scores are all equal, as of one candidate, that score and higher ones are 1, lower ones 0.
    - `zscore`: (score - mean) / standard deviation of the pool; no bounds. A pool without spread
      has the deviation 1.
    - `sigmoid`: 1 / (1 + exp(-zscore)), in (0, 1).
    - `softmax`: exp(zscore) / sum of exp(zscore) over the pool: its parts sum to 1.

    The last two start from the z-score because cosines, BM25 scores and logits have different
    units. A searcher with an empty pool found nothing: every score is 0.

    Args:
        kind: one of the four.
        pool: finite scores of the searcher's own candidates.

    Raises:
        ValueError: a score of the pool is not finite.
    """
    for score in pool:
        if not math.isfinite(score):
            raise ValueError(f"a score to be normalised must be finite, got {score}.")
    if not pool:
        return lambda score: 0.0
    if kind == "min_max":
        return _min_max(min(pool), max(pool))
    standard = _standard(pool)
    if kind == "zscore":
        return standard
    if kind == "sigmoid":
        return lambda score: _logistic(standard(score))
    total = sum(math.exp(standard(score)) for score in pool)
    return lambda score: math.exp(standard(score)) / total


def _min_max(low: float, high: float) -> Scale:
    if low == high:
        return lambda score: 1.0 if score >= high else 0.0
    width = high - low
    return lambda score: min(1.0, max(0.0, (score - low) / width))


def _standard(pool: Sequence[float]) -> Scale:
    mean = fmean(pool)
    spread = 1.0
    if min(pool) < max(pool):
        spread = math.sqrt(fmean((score - mean) ** 2 for score in pool)) or 1.0
    return lambda score: (score - mean) / spread


def _logistic(value: float) -> float:
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    return math.exp(value) / (1 + math.exp(value))


def rank_part(rank: int, rrf_k: int) -> float:
    """Return the part of a place, 1 for the first: reciprocal ranks scaled by `rrf_k` + 1."""
    return (rrf_k + 1) / (rrf_k + rank)


def normalized_parts(
    scores: Mapping[str, float],
    pool: Sequence[str],
    mode: ScoreMode,
    kind: Normalization,
    rrf_k: int,
) -> dict[str, float]:
    """Return what a searcher says of each candidate, as a part of a weighted sum.

    Args:
        scores: by candidate, finite: those of the pool and those of other searchers' candidates.
        pool: the searcher's own candidates, best first.
        mode: `normalize` as `make_scale`; `raw` the scores as they are; `rank` by place in the
            pool (`rank_part`), 0 for candidates outside of it.
        kind: looked at by mode `normalize`.
        rrf_k: from 1; looked at by mode `rank`.

    Raises:
        ValueError: a score is not finite.
    """
    for key, score in scores.items():
        if not math.isfinite(score):
            raise ValueError(f"the score of '{key}' must be finite, got {score}.")
    if mode == "raw":
        return dict(scores)
    if mode == "rank":
        places = {key: rank for rank, key in enumerate(pool, start=1)}
        return {key: rank_part(places[key], rrf_k) if key in places else 0.0 for key in scores}
    scale = make_scale(kind, [scores[key] for key in pool])
    return {key: scale(score) for key, score in scores.items()}
