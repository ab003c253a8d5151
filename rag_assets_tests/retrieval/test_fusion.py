"""Fused rankings are orders that no searcher's place in a mapping can change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model.settings import Normalization, ScoreMode
from rag_assets.retrieval import Candidates, fuse_rrf, fuse_weighted
from rag_assets.retrieval.fusion import make_scale, normalized_parts

NORMALIZATIONS: list[Normalization] = ["min_max", "sigmoid", "softmax", "zscore"]
MODES: list[ScoreMode] = ["rank", "normalize", "raw"]
IDENTITIES = [f"c{number}" for number in range(8)]

scores = st.floats(-20, 20, allow_nan=False).map(lambda value: round(value, 6))
pools = st.lists(scores, min_size=1, max_size=20)


@st.composite
def searchers(draw: st.DrawFn) -> dict[str, Candidates]:
    """Searchers that each read some ids and hold the best of them in a pool."""
    found = {}
    for name in draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)):
        own = draw(st.dictionaries(st.sampled_from(IDENTITIES), scores, min_size=1))
        order = sorted(own, key=lambda key: (-own[key], key))
        found[name] = Candidates(order[: draw(st.integers(1, len(order)))], own)
    pooled = {key for one in found.values() for key in one.pool}
    return {
        name: Candidates(one.pool, {key: s for key, s in one.scores.items() if key in pooled})
        for name, one in found.items()
    }


def evenly(_: str, names: frozenset[str]) -> dict[str, float]:
    return dict.fromkeys(names, 1.0)


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    fused = fuse_rrf({"lexical": ["a", "b"], "semantic": ["b"]}, 60)
    assert fused == [("b", pytest.approx(1 / 62 + 1 / 61)), ("a", pytest.approx(1 / 61))]


def test_ties_go_by_id() -> None:
    assert [key for key, _ in fuse_rrf({"x": ["b"], "y": ["a"]}, 60)] == ["a", "b"]


@given(st.permutations(["x", "y", "z"]))
def test_order_of_rankings_does_not_matter(names: list[str]) -> None:
    rankings = {"x": ["a", "b", "c"], "y": ["c", "a"], "z": ["d", "b"]}
    assert fuse_rrf({name: rankings[name] for name in names}, 60) == fuse_rrf(rankings, 60)


def test_a_constant_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="'rrf_k' must be at least 1, got 0"):
        fuse_rrf({"x": ["a"]}, 0)


def test_a_ranking_that_repeats_an_id_is_refused() -> None:
    with pytest.raises(ValueError, match="'x' must hold each id at most once"):
        fuse_rrf({"x": ["a", "a"]}, 60)


@given(kind=st.sampled_from(NORMALIZATIONS), pool=pools, pair=st.tuples(scores, scores))
def test_every_scale_keeps_the_order(
    kind: Normalization, pool: list[float], pair: tuple[float, float]
) -> None:
    scale = make_scale(kind, pool)
    low, high = sorted(pair)
    assert scale(low) <= scale(high)


@given(kind=st.sampled_from(["min_max", "sigmoid", "softmax"]), pool=pools)
def test_parts_of_a_pool_lie_between_0_and_1(kind: Normalization, pool: list[float]) -> None:
    scale = make_scale(kind, pool)
    assert all(0 <= scale(score) <= 1 for score in pool)


@given(pool=pools)
def test_min_max_reaches_1_and_softmax_sums_to_1(pool: list[float]) -> None:
    assert max(map(make_scale("min_max", pool), pool)) == 1
    assert sum(map(make_scale("softmax", pool), pool)) == pytest.approx(1)


@pytest.mark.parametrize("kind", NORMALIZATIONS)
@given(score=scores, size=st.integers(1, 5))
def test_a_pool_of_equal_scores_says_the_same_of_each(
    kind: Normalization, score: float, size: int
) -> None:
    scale = make_scale(kind, [score] * size)
    expected = {"min_max": 1.0, "sigmoid": 0.5, "softmax": 1 / size, "zscore": 0.0}[kind]
    assert scale(score) == pytest.approx(expected)


@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_a_searcher_that_found_nothing_says_nothing(kind: Normalization) -> None:
    assert make_scale(kind, [])(3.0) == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(mode: ScoreMode, bad: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        normalized_parts({"a": 1.0, "b": bad}, ["a"], mode, "min_max", 60)


@given(by_rank=st.booleans(), found=searchers())
def test_order_of_searchers_does_not_matter(by_rank: bool, found: dict[str, Candidates]) -> None:
    shuffled = dict(reversed(found.items()))
    fused = fuse_weighted(found, evenly, 60, by_rank=by_rank)
    assert fuse_weighted(shuffled, evenly, 60, by_rank=by_rank) == fused
    assert [one.identity for one in fused] == [
        one.identity for one in sorted(fused, key=lambda one: (-one.score, one.identity))
    ]
    assert {one.identity for one in fused} == {key for one in found.values() for key in one.pool}


@given(by_rank=st.booleans(), found=searchers())
def test_fused_scores_are_bounded_and_weights_sum_to_1(
    by_rank: bool, found: dict[str, Candidates]
) -> None:
    weights = lambda _, names: dict.fromkeys(names, 0.3)  # noqa: E731 - one line
    for one in fuse_weighted(found, weights, 60, by_rank=by_rank):
        assert 0 <= one.score <= 1
        assert sum(one.weights.values()) == pytest.approx(1)
        assert all(0 <= part <= 1 for part in one.parts.values())


def test_a_searcher_that_cannot_read_a_passage_does_not_count_against_it() -> None:
    found = {
        "english": Candidates(["en"], {"en": 0.9}),
        "every": Candidates(["zh", "en"], {"zh": 0.8, "en": 0.4}),
    }
    fused = fuse_weighted(found, evenly, 60)
    by_id = {one.identity: one for one in fused}
    assert by_id["zh"].weights == {"every": 1.0}
    assert by_id["zh"].score == 1.0
    assert by_id["en"].score == pytest.approx(0.5)


def test_weights_decide_which_searcher_is_believed() -> None:
    found = {
        "weak": Candidates(["a", "b"], {"a": 2.0, "b": 1.0}),
        "strong": Candidates(["b", "a"], {"a": 0.1, "b": 0.9}),
    }
    for weights, first in (({"weak": 0.2, "strong": 0.8}, "b"), ({"weak": 3, "strong": 1}, "a")):
        fused = fuse_weighted(found, lambda _, __, w=weights: w, 60)  # type: ignore[misc]
        assert fused[0].identity == first


def test_weights_that_are_all_zero_count_the_same() -> None:
    found = {"x": Candidates(["a"], {"a": 1.0}), "y": Candidates(["a"], {"a": 1.0})}
    assert fuse_weighted(found, lambda _, __: {}, 60)[0].weights == {
        "x": 0.5,
        "y": 0.5,
    }


def test_a_negative_weight_is_refused() -> None:
    found = {"x": Candidates(["a"], {"a": 1.0})}
    with pytest.raises(ValueError, match="weight of 'x' must be at least 0, got -1"):
        fuse_weighted(found, lambda _, __: {"x": -1.0}, 60)


def test_rank_mode_counts_places_not_scores() -> None:
    found = {"x": Candidates(["a", "b"], {"a": 100.0, "b": 99.0, "c": 1.0})}
    parts = {one.identity: one.score for one in fuse_weighted(found, evenly, 60, by_rank=True)}
    assert parts == {"a": 1.0, "b": pytest.approx(61 / 62)}
