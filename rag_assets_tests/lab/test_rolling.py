"""Strict rollback, by its properties: nothing lost, nothing leaked, as if it had never been."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_assets.lab.experience.items import fold_item
from rag_assets.lab.experience.rolling import active_items
from rag_assets.lab.store.events import Draft
from rag_assets_tests.lab.histories import LONG_STEPS, STEPS, History

Step = tuple[str, int, int, int]
Steps = list[Step]
QUICK, LONG = 300, 10_000


def hold_in(steps: Steps) -> None:
    """Go through a history; after each step nothing is lost and nothing has leaked."""
    history = History()
    for step in steps:
        history.step(*step)
        assert (history.lost(), history.leaked()) == ([], []), step
    for feedback in list(history.live):
        history.undo(feedback)
    assert history.leaked() == []
    left = active_items(history.bank)
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
    history = History()
    for step in steps:
        history.step(*step)
    before = history.view()
    history.learn("f9", meaning, lessons)
    extraction = history.live["f9"][0].extraction_id
    touched = [
        item_id
        for item_id, events in history.bank.items()
        if any(event.cause == extraction for event in events)
    ]
    for number in edits:
        items = [fold_item(history.bank[item_id]) for item_id in touched]
        history.by_hand(["edit", "archive", "restore"][number % 3], items, number, number)
    history.undo("f9")
    assert history.view() == before


def test_hand_edits_of_what_the_extraction_did_not_touch_stay() -> None:
    history = History()
    history.step("note", 0, 1, 0)
    history.step("learn", 0, 0, 3)
    (note, *_) = history.bank
    history.append(Draft("item", note, "edited", {"changes": {"content": "meaning1 mine"}}))
    history.undo("f0")
    assert [item.content for item in active_items(history.bank)] == ["meaning1 mine"]


def test_a_tombstone_opens_and_says_where_other_lessons_went() -> None:
    history = History()
    history.step("learn", 0, 0, 3)
    history.step("learn", 1, 0, 3)
    (first,) = history.bank
    history.undo("f0")
    tomb = fold_item(history.bank[first])
    (left,) = active_items(history.bank)
    assert (tomb.status, tomb.rolled_back, tomb.moved_to) == ("archived", True, (left.id,))
    assert tomb.content.startswith("meaning0 x")
    assert [lesson.run_id for lesson in left.lessons] == ["f1"]


@pytest.mark.parametrize("broken", ["edits stay", "displaced are dropped"])
def test_the_properties_can_fail(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_assets.lab.experience import rolling

    if broken == "edits stay":
        monkeypatch.setattr(rolling, "BY_HAND", ())
        steps = [("learn", 0, 0, 3), ("learn", 1, 0, 3), ("edit", 0, 0, 0), ("undo", 1, 0, 0)]
    else:
        find: Callable[..., rolling.TakenBack] = rolling.find_taken_back
        monkeypatch.setattr(
            rolling, "find_taken_back", lambda *a: rolling.TakenBack(find(*a).voids, ())
        )
        steps = SNAPSHOTS_LEAK
    with pytest.raises(AssertionError):
        hold_in(steps)
