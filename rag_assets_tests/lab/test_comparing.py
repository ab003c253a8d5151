"""Comparison equals an oracle that was written from the requirements alone."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.lab.feedback import (
    Comparison,
    Entry,
    Figures,
    compare,
    fractions,
    measure,
    signature,
)
from rag_assets.model import UsageError
from rag_assets_tests.lab.comparison_oracle import Entry as Plain
from rag_assets_tests.lab.comparison_oracle import expected

QUICK, LONG = 300, 10_000
PRODUCTS = ["C2H4", "CH4", "CO", "H2"]
# Few values, so that scores and times are often equal.
numbers = st.one_of(st.sampled_from([0.0, 1.0, 2.5]), st.floats(0, 1e6))
tables = st.dictionaries(st.sampled_from(PRODUCTS), numbers, min_size=1)
entries = st.lists(
    st.tuples(
        st.sampled_from([f"r{n}" for n in range(8)]),
        st.sampled_from(["t1", "t2", "t3"]),
        st.one_of(st.sampled_from([1.0, 7.0]), st.floats(-1e6, 1e6)),
        tables,
    ),
    min_size=1, max_size=8, unique_by=lambda entry: entry[0],
)  # fmt: skip
cases = st.tuples(entries, st.lists(st.integers(0, 7), max_size=4), st.booleans())
Case = tuple[list[Plain], list[int], bool]


def entry_of(plain: Plain) -> Entry:
    run, at, score, values = plain
    return Entry(run, 1, score, measure(values), at)


def plain_figures(figures: Figures | None) -> dict[tuple[str, str], Any] | None:
    if figures is None:
        return None
    found = {("", "score"): figures.score}
    for one in figures.products:
        found[one.product_id, "value"] = one.value
        found[one.product_id, "fraction"] = one.fraction
    return found


def said_by(found: Comparison) -> dict[str, Any]:
    return {
        "signature": found.signature,
        "mean": plain_figures(found.mean),
        "maximum": plain_figures(found.maximum),
        "best": found.best.run_id if found.best else None,
        "minus_mean": plain_figures(found.minus_mean),
        "minus_best": plain_figures(found.minus_best),
        "history": found.history,
        "details": [entry.run_id for entry in found.details],
        "notes": list(found.notes),
    }


def hold_in(case: Case) -> None:
    history, places, method3 = case
    current, *others = history
    named = [others[place] for place in places if place < len(others)]
    found = compare(
        entry_of(current), [entry_of(one) for one in named], "", use_method3=method3,
        history=[entry_of(one) for one in history],
    )  # fmt: skip
    once = list({one[0]: one for one in named}.values())
    wanted = expected(current, once, history, method3=method3)
    said = said_by(found)
    for part, value in wanted.items():
        if isinstance(value, dict):
            assert said[part].keys() == value.keys(), part
            for name, number in value.items():
                # 156: values up to 1e6, whose doubles differ from exact numbers by so much.
                assert said[part][name] == pytest.approx(float(number), rel=1e-9, abs=1e-8)
        else:
            assert said[part] == value, part


@settings(max_examples=QUICK)
@given(cases)
def test_a_comparison_says_what_the_requirements_say(case: Case) -> None:
    hold_in(case)


@pytest.mark.slow
@settings(max_examples=LONG)
@given(cases)
def test_ten_thousand_comparisons_say_what_the_requirements_say(case: Case) -> None:
    hold_in(case)


@settings(max_examples=QUICK)
@given(st.lists(st.floats(0, 1.7e308), max_size=6))
def test_fractions_sum_to_one_or_are_all_zero(values: list[float]) -> None:
    shares = fractions(values)
    assert sum(shares) == (pytest.approx(1, abs=1e-9) if any(values) else 0)
    assert all(0 <= share <= 1 for share in shares)


def test_signature_is_readable_and_knows_no_order() -> None:
    assert signature(["b", "a"]) == signature(["a", "b"]) == "a|b"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1])
def test_a_value_that_is_none_is_refused(value: float) -> None:
    with pytest.raises(UsageError, match="must be a number from 0"):
        measure({"C2H4": value})


def test_a_run_is_not_compared_with_itself() -> None:
    one = entry_of(("r1", "t1", 1.0, {"CO": 1.0}))
    with pytest.raises(UsageError, match="itself"):
        compare(one, [one], "", use_method3=False, history=[])


def test_what_was_chosen_counts_for_products_in_common_alone() -> None:
    one = entry_of(("r1", "t1", 1.0, {"CO": 2.0}))
    other = entry_of(("r2", "t2", 3.0, {"CO": 4.0, "H2": 4.0}))
    found = compare(one, [other], "", use_method3=False, history=[])
    assert found.mean is not None
    assert [m.product_id for m in found.mean.products] == ["CO"]
    assert (found.mean.products[0].fraction, found.notes) == (0.5, ("other_products",))


def test_ties_go_to_the_earlier_feedback_then_to_the_lower_run() -> None:
    current = entry_of(("r0", "t9", 1.0, {"CO": 1.0}))
    late, early = (
        entry_of((run, at, 5.0, {"CO": 1.0})) for run, at in (("r1", "t2"), ("r2", "t1"))
    )
    beside = replace(early, run_id="r3")
    found = compare(current, [], "", use_method3=True, history=[late, beside, early])
    assert found.best == early
