"""Scores of different searchers on one scale.

A searcher's *pool* are the candidates that it ranked itself, best first; candidates of other
searchers are measured on the scale of that pool. Every scale keeps the order of the scores.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rag_assets.model import UsageError, hash_fields
from rag_assets.model.settings import FusionSettings, Normalization, ScoreMode
from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

if TYPE_CHECKING:
    from rag_assets.publishing import PublishedModel
    from rag_assets.retrieval.reader import Reader

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


# Several rankings become one: by reciprocal ranks, or by a weighted sum of scores.


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
    rrf_k: int,
    *,
    by_rank: bool = False,
) -> list[Fused]:
    """Return all candidates by the weighted mean of what the searchers say of them, best first.

    A searcher that cannot read a candidate does not count against it: the weights of the others
    are scaled so that they sum to 1.

    Args:
        searchers: by name.
        weights_for: weights, from 0, of the searchers that can read a candidate. Names it leaves
            out weigh 0; where all weigh 0, all count the same.
        by_rank: counts places (`rank_part` with `rrf_k`) in place of scores, for searchers whose
            scores say nothing to each other.

    Returns:
        Every id of a pool, by falling score, ties by id. Scores are in [0, 1]. The order of
        `searchers` does not matter.

    Raises:
        ValueError: a score is not finite, a weight is negative, a pool holds an id twice or
            without a score, or `rrf_k` is below 1.
    """
    if rrf_k < 1:
        raise ValueError(f"'rrf_k' must be at least 1, got {rrf_k}.")
    names = sorted(searchers)
    mode: ScoreMode = "rank" if by_rank else "normalize"
    parts: dict[str, dict[str, float]] = {}
    for name in names:
        found = searchers[name]
        _refuse_repeats(name, found.pool)
        for identity in found.pool:
            if identity not in found.scores:
                raise ValueError(f"searcher '{name}' ranks '{identity}' without a score.")
        parts[name] = normalized_parts(found.scores, found.pool, mode, "min_max", rrf_k)
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


# Weights of the searchers: those of configs/fusion.yaml, or those that the settings name.


LEXICAL = "lexical"
# Searches by entities (`graph`), of publications that have them.
GRAPH = "graph"
# Searches by questions that are known, of publications of law (`retrieve.questions`).
ASKED = "asked"
# What these weigh where no weights are stated, beside the 1 that all others share. That of the
# graph is chosen on two sets of questions of several hops, that of known questions on STARD
# (docs/evaluation.md, "Entities" and "Law").
_SHARES = {GRAPH: 0.3, ASKED: 1.0}
FUSION_FILE = "fusion.yaml"

# Enough of a fingerprint to tell two versions of a model of one name.
_SHOWN_FINGERPRINT = 8


@dataclass(frozen=True, slots=True)
class Weights:
    """Which weights a search uses.

    Args:
        stated: by searcher, from the settings; None for those of the file.
        file: configs/fusion.yaml: `provenance` (how the rows were fitted), `fallback`, and `rows`,
            each with weights for questions and passages of one pair of languages.
        sparse: searchers that are sparse encoders.
    """

    stated: Mapping[str, float] | None
    file: Mapping[str, Any]
    sparse: frozenset[str] = frozenset()

    def of(self, question: str, passage: str, names: frozenset[str]) -> dict[str, float]:
        """Return the weights of the searchers `names`, from 0; not scaled to any sum.

        Languages are named as `Language` names them.

        1. Weights that the settings state.
        2. The row of both languages whose searchers are `names`.
        3. The row of both languages with the fewest searchers more than `names`, without those.
        4. With `graph` or `asked` what the others weigh by these rules, and a share of their sum.
        5. With sparse encoders what the others weigh by these rules; they stand beside `lexical`
           and share its weight with it evenly.
        6. The file's fallback rule: `lexical` and the models together, which share evenly; one
           for questions in the passage's language, one for others.
        """
        if self.stated is not None:
            return {name: self.stated.get(name, 0.0) for name in names}
        beside = names & _SHARES.keys()
        if beside and beside < names:
            weights = self.of(question, passage, names - beside)
            return weights | {one: _SHARES[one] * sum(weights.values()) for one in beside}
        rows: list[dict[str, float]] = [
            row["weights"]
            for row in self.file["rows"]
            if (row["question"], row["passage"]) == (question, passage)
            and names <= row["weights"].keys()
        ]
        for row in sorted(rows, key=lambda row: (len(row), sorted(row))):
            own = {name: row[name] for name in names}
            if sum(own.values()) > 0:
                return own
        sparse = names & self.sparse
        if sparse and LEXICAL in names:
            others = self.of(question, passage, names - sparse)
            share = others[LEXICAL] / (1 + len(sparse))
            return others | dict.fromkeys((LEXICAL, *sparse), share)
        rule = self.file["fallback"]["same_language" if question == passage else "other_language"]
        share = rule["models"] / max(len(names - {LEXICAL}), 1)
        return {name: rule["lexical"] if name == LEXICAL else share for name in names}

    def provenance(self) -> dict[str, Any]:
        """Return what a pack records of them."""
        if self.stated is not None:
            return {"weights": dict(self.stated)}
        digest = hash_fields(self.file)[:16]
        return {"weights": "fitted", "file": FUSION_FILE, "digest": digest}


def load_weights(
    settings: FusionSettings, known: frozenset[str] | None, sparse: frozenset[str] = frozenset()
) -> Weights:
    """Return the weights that the settings name.

    Args:
        settings: `weights`: `fitted`, or a number by searcher.
        known: searchers of the publications that are asked, even such as sit this question out;
            None where words alone are searched, so that weights decide nothing.
        sparse: those of `known` that are sparse encoders.

    Raises:
        UsageError: the settings weigh a searcher that is not `known`, or none that is.
    """
    path = configs_folder() / FUSION_FILE
    file = _read(path, path.stat().st_mtime_ns)
    if settings.weights == "fitted":
        return Weights(None, file, sparse)
    if known is None:
        return Weights(settings.weights, file)
    strange = sorted(set(settings.weights) - known)
    if strange:
        raise UsageError(
            f"'retrieve.fusion.weights' names '{strange[0]}', which is no searcher here. "
            f"Searchers: {', '.join(sorted(known))}."
        )
    if not any(weight > 0 for weight in settings.weights.values()):
        raise UsageError(
            "'retrieve.fusion.weights' must give at least one searcher a weight above 0. "
            f"Searchers: {', '.join(sorted(known))}."
        )
    return Weights(settings.weights, file)


@lru_cache(maxsize=4)
def _read(path: Path, _modified: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_yaml(path)
    return found


def searcher_names(readers: "Sequence[Reader]") -> dict[str, str]:
    """Return the searcher's name of each model by its fingerprint.

    That is the model's name; where publications hold different versions of it, with the first
    digits of the fingerprint.
    """
    named = {model.fingerprint: model.name for reader in readers for model in reader.models}
    names = list(named.values())
    return {
        fingerprint: name
        if names.count(name) == 1
        else f"{name}@{fingerprint[:_SHOWN_FINGERPRINT]}"
        for fingerprint, name in named.items()
    }


def known_searchers(readers: "Sequence[Reader]") -> frozenset[str]:
    """Return the names that stated weights may have."""
    graph = [GRAPH] if any(reader.entity_graph is not None for reader in readers) else []
    return frozenset({LEXICAL, ASKED, *searcher_names(readers).values(), *graph})


def sparse_names(readers: "Sequence[Reader]") -> frozenset[str]:
    """Return the names (`searcher_names`) of sparse encoders."""
    sparse = {model.fingerprint for reader in readers for model in reader.models if model.is_sparse}
    return frozenset(name for key, name in searcher_names(readers).items() if key in sparse)


def models_asked(reader: "Reader", method: str) -> "list[PublishedModel]":
    """Return the models that a method asks: sparse encoders are no part of `semantic`.

    One that has not looked at any passage yet has nothing to be compared with.
    """
    return [
        model
        for model in reader.models
        if not model.is_empty and (method != "semantic" or not model.is_sparse)
    ]
