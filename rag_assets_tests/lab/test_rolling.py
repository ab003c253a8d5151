"""Strict rollback, by its properties: nothing lost, nothing leaked, as if it had never been."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_assets.lab import experience
from rag_assets.lab.laboratory import replay_events
from rag_assets.lab.store import Store
from rag_assets_tests.lab.histories import LONG_STEPS, STEPS, History
from rag_assets_tests.lab.laboratories import AT

Step = tuple[str, int, int, int]
Steps = list[Step]
QUICK, LONG = 300, 10_000


@contextmanager
def new_history() -> Iterator[History]:
    """Begin a history in one transaction."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "lab.sqlite", replay_events)
        with store.writing(AT, "who") as writing:
            yield History(writing)


def hold_in(steps: Steps) -> None:
    """Go through a history; after each step nothing is lost and nothing has leaked."""
    with new_history() as history:
        for step in steps:
            history.step(*step)
            assert (history.lost(), history.leaked()) == ([], []), step
        for feedback in list(history.live):
            history.undo(feedback)
        assert history.leaked() == []
        left = [item for item in history.items() if item.is_active]
        assert all(item.type == "manual_note" and not item.lessons for item in left)


# The shortest history in which snapshots of the state before leak: three lessons join one item.
SNAPSHOTS_LEAK = [("learn", 0, 0, 3), ("learn", 1, 0, 3), ("learn", 2, 0, 3), ("undo", 0, 0, 0),
                  ("undo", 2, 0, 0)]  # fmt: skip


@settings(max_examples=QUICK)
@given(STEPS)
@example(SNAPSHOTS_LEAK)
def test_nothing_is_lost_and_nothing_leaks(steps: Steps) -> None:
    hold_in(steps)


@pytest.mark.slow
@settings(max_examples=LONG)
@given(LONG_STEPS)
def test_nothing_is_lost_and_nothing_leaks_in_ten_thousand_histories(steps: Steps) -> None:
    hold_in(steps)


@settings(max_examples=QUICK)
@given(STEPS, st.integers(0, 99), st.integers(0, 99), st.lists(st.integers(0, 99), max_size=4))
def test_taking_back_gives_the_state_before_hand_edits_in_between_included(
    steps: Steps, meaning: int, lessons: int, edits: list[int]
) -> None:
    with new_history() as history:
        for step in steps:
            history.step(*step)
        before = history.view()
        history.learn("f9", meaning, lessons)
        taught = {one.id for one in history.live["f9"]}
        touched = [one.id for one in history.items() if taught & {x.id for x in one.lessons}]
        for number in edits:
            items = [one for one in history.items() if one.id in touched]
            history.by_hand(["edit", "archive", "restore"][number % 3], items, number, number)
        history.undo("f9")
        assert history.view() == before


def test_hand_edits_of_what_the_extraction_did_not_touch_stay() -> None:
    with new_history() as history:
        history.step("note", 0, 1, 0)
        history.step("learn", 0, 0, 3)
        note = history.items()[0]
        experience.edit_item(history.writing, note.id, {"content": "meaning1 mine"})
        history.undo("f0")
        assert [one.content for one in history.items() if one.is_active] == ["meaning1 mine"]


def test_a_tombstone_opens_and_says_where_other_lessons_went() -> None:
    with new_history() as history:
        history.step("learn", 0, 0, 3)
        history.step("learn", 1, 0, 3)
        (first,) = history.items()
        history.undo("f0")
        tomb = experience.find_item(history.writing, first.id)
        (left,) = [item for item in history.items() if item.is_active]
        assert (tomb.status, tomb.rolled_back, tomb.moved_to) == ("archived", True, (left.id,))
        assert tomb.content.startswith("meaning0 x")
        assert [lesson.run_id for lesson in left.lessons] == ["f1"]


@pytest.mark.parametrize("broken", ["edits stay", "displaced are dropped"])
def test_the_properties_can_fail(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if broken == "edits stay":
        monkeypatch.setattr(experience, "BY_HAND", ())
        steps = [("learn", 0, 0, 3), ("learn", 1, 0, 3), ("edit", 0, 0, 0), ("undo", 1, 0, 0)]
    else:
        void = experience.void_lessons
        monkeypatch.setattr(experience, "void_lessons", lambda *given: void(*given)[:0])
        steps = SNAPSHOTS_LEAK
    with pytest.raises(AssertionError):
        hold_in(steps)
