"""Figures of a ranking, against worked examples and the formula over arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.evaluation.metrics import (
    difference_interval,
    hit_at,
    mean_interval,
    mean_intervals,
    ndcg_at,
    recall_at,
    reciprocal_rank_at,
    score_ranking,
)


@given(st.permutations(range(12)), st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_ndcg_is_the_gain_over_that_of_the_best_order(
    order: list[int], relevance: list[int]
) -> None:
    ranking = [str(number) for number in order]
    judged = {str(number): float(value) for number, value in enumerate(relevance)}
    discounts = 1 / np.log2(np.arange(2, 12))
    gained = discounts @ np.array(relevance)[order][:10]
    best = discounts @ np.sort(relevance)[::-1][:10]
    assert ndcg_at(ranking, judged, 10) == pytest.approx(gained / best if best else 0.0)


def test_figures_of_a_worked_example() -> None:
    ranking = ["a", "b", "c", "d"]
    assert recall_at(ranking, {"b", "d", "x"}, 3) == pytest.approx(1 / 3)
    assert reciprocal_rank_at(ranking, {"c", "d"}, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank_at(ranking, {"d"}, 3) == 0.0
    assert (hit_at(ranking, {"a"}, 1), hit_at(ranking, {"b"}, 1)) == (1.0, 0.0)


def test_what_is_relevant_and_not_found_lowers_ndcg() -> None:
    assert ndcg_at(["a"], {"a": 1.0}, 10) == 1.0
    assert ndcg_at(["a"], {"a": 1.0, "b": 1.0}, 10) == pytest.approx(1 / (1 + 1 / np.log2(3)))


def test_recall_at_100_is_that_of_the_deeper_search() -> None:
    deep = [str(number) for number in range(200)]
    scores = score_ranking(deep[:5], deep, {"99": 1.0, "100": 1.0})
    assert scores["recall_at_100"] == 0.5
    assert scores["recall_at_10"] == 0.0


def test_an_interval_holds_its_mean_and_is_the_same_each_time() -> None:
    values = list(np.random.default_rng(1).random(300))
    first, second = mean_interval(values), mean_interval(values)
    assert first == second
    assert first.mean == pytest.approx(np.mean(values))
    assert first.low < first.mean < first.high


def test_an_interval_is_as_wide_as_the_normal_one_for_many_questions() -> None:
    values = list(np.random.default_rng(1).random(1000))
    interval = mean_interval(values)
    expected = 2 * 1.96 * np.std(values) / np.sqrt(1000)
    assert interval.high - interval.low == pytest.approx(expected, rel=0.1)


def test_figures_are_drawn_together() -> None:
    random = np.random.default_rng(2)
    first, second = list(random.random(40)), list(random.random(40))
    together = mean_intervals([first, second])
    for interval, values in zip(together, (first, second), strict=True):
        alone = mean_interval(values)
        assert interval.mean == pytest.approx(alone.mean)
        assert (interval.low, interval.high) == pytest.approx((alone.low, alone.high))


def test_a_small_difference_on_every_question_is_certain_though_the_means_vary() -> None:
    first = list(np.random.default_rng(3).random(50))
    second = [value - 0.01 for value in first]
    change = difference_interval(first, second)
    assert change.mean == pytest.approx(0.01)
    assert 0 < change.low <= change.high < 0.02
    assert mean_interval(first).low < mean_interval(second).high


def test_questions_must_be_the_same() -> None:
    with pytest.raises(ValueError, match="same questions"):
        difference_interval([0.1], [0.1, 0.2])
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([])
