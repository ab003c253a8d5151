"""Comparisons over histories of feedback that is given, edited, deleted and given again."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.lab.feedback import (
    Comparison,
    Entry,
    FeedbackForm,
    Strategy,
    compare,
    measure,
)
from rag_assets.lab.products import add_product, delete_product
from rag_assets.lab.teaching import compare_again, give_feedback, withdraw_feedback
from rag_assets_tests.lab.comparison_oracle import Entry as Plain
from rag_assets_tests.lab.comparison_oracle import expected
from rag_assets_tests.lab.laboratories import make_laboratory, put_run
from rag_assets_tests.lab.test_comparing import said_by, tables

QUICK, LONG = 300, 10_000
RUNS = [f"r{number}" for number in range(5)]
# Few times of day, so that feedback is often given at the same one.
TIMES = [f"2026-03-0{day}T00:00:00+00:00" for day in (1, 2, 3)]
# Few sets of products and scores, so that runs are of one kind and equally good.
_values = st.one_of(
    st.fixed_dictionaries({"CO": st.sampled_from([0.0, 1.0, 3.0])}),
    st.fixed_dictionaries({"C2H4": st.floats(0, 100), "CO": st.floats(0, 100)}),
    tables,
)
_step = st.tuples(
    st.sampled_from(["say", "say", "say", "delete"]),
    st.sampled_from(RUNS),
    st.sampled_from(TIMES),
    st.sampled_from([5.0, 5.0, 7.5]),
    _values,
)
_asked = st.tuples(st.lists(st.sampled_from(RUNS), max_size=3), st.booleans())
HISTORIES = st.tuples(st.lists(_step, min_size=1, max_size=12), _asked)
Steps = list[tuple[str, str, str, float, dict[str, float]]]
Asked = tuple[list[str], bool]


class Ledger:
    """What each run says now, kept by hand: the oracle's side of a history."""

    def __init__(self) -> None:
        self.said: dict[str, Plain] = {}

    def step(self, what: str, run: str, at: str, score: float, values: dict[str, float]) -> bool:
        """Return whether the step does anything."""
        if what == "delete":
            return self.said.pop(run, None) is not None
        since = self.said[run][1] if run in self.said else at
        self.said[run] = (run, since, score, values)
        return True


def must_equal(found: Comparison, ledger: Ledger, run: str, asked: Asked) -> None:
    named = [ledger.said[one] for one in dict.fromkeys(asked[0]) if one in ledger.said]
    named = [one for one in named if one[0] != run]
    history = list(ledger.said.values())
    wanted = expected(ledger.said[run], named, history, method3=asked[1])
    said: Any = said_by(found)
    for part, value in wanted.items():
        if isinstance(value, dict):
            numbers = {name: pytest.approx(float(n), abs=1e-8) for name, n in value.items()}
            assert said[part] == numbers, part
        else:
            assert said[part] == value, part


def hold_in_memory(steps: Steps, asked: Asked) -> None:
    """Compare every run that still has feedback at the end of a history."""
    ledger, entries = Ledger(), dict[str, Entry]()
    for what, run, at, score, values in steps:
        if not ledger.step(what, run, at, score, values):
            continue
        old = entries.pop(run, None)
        if what != "delete":
            given_at = old.given_at if old is not None else at
            entries[run] = Entry(run, 1, score, measure(values), given_at)
    for run, entry in entries.items():
        chosen = [entries[one] for one in asked[0] if one in entries and one != run]
        found = compare(entry, chosen, "", use_method3=asked[1], history=list(entries.values()))
        must_equal(found, ledger, run, asked)


def hold_on_disk(steps: Steps, asked: Asked) -> None:
    """Go through the store instead; a product is deleted in the end, and still counts."""
    with tempfile.TemporaryDirectory() as folder:
        lab = make_laboratory(Path(folder) / "lab")
        with lab.store.writing(TIMES[0], "ana") as writing:
            ids = {name: add_product(writing, f"own {name}").id for name in
                   ("C2H4", "CH4", "CO", "H2")}  # fmt: skip
        for run in RUNS:
            put_run(lab, run)
        ledger = Ledger()
        for what, run, at, score, values in steps:
            by_id = {ids[name]: value for name, value in values.items()}
            if not ledger.step(what, run, at, score, by_id):
                continue
            if what == "delete":
                withdraw_feedback(lab, run, at=at, by="ana")
            else:
                give_feedback(lab, run, FeedbackForm(score, by_id), Strategy(), at=at, by="ana",
                              learn=False)  # fmt: skip
        with lab.store.writing(TIMES[0], "ana") as writing:
            delete_product(writing, ids["CO"])
        for run in ledger.said:
            chosen = tuple(one for one in dict.fromkeys(asked[0])
                           if one in ledger.said and one != run)  # fmt: skip
            strategy = Strategy(chosen, "", asked[1])
            report = compare_again(lab, run, strategy, at=TIMES[2], by="ana").report
            assert report is not None
            must_equal(report.comparison, ledger, run, asked)


@settings(max_examples=QUICK)
@given(HISTORIES)
def test_comparisons_over_a_history_say_what_the_requirements_say(
    history: tuple[Steps, Asked],
) -> None:
    hold_in_memory(*history)


@pytest.mark.slow
@settings(max_examples=LONG)
@given(HISTORIES)
def test_so_they_do_over_ten_thousand_histories(history: tuple[Steps, Asked]) -> None:
    hold_in_memory(*history)


@settings(max_examples=5)
@given(HISTORIES)
def test_so_they_do_through_the_store(history: tuple[Steps, Asked]) -> None:
    hold_on_disk(*history)


@pytest.mark.slow
@settings(max_examples=200)
@given(HISTORIES)
def test_so_they_do_through_the_store_two_hundred_times(history: tuple[Steps, Asked]) -> None:
    hold_on_disk(*history)
