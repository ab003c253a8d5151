"""Random histories of experience: extractions, rollbacks, relearning, edits by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hypothesis import strategies as st

from rag_assets.lab.experience import (
    Item,
    Lesson,
    add_note,
    archive_item,
    edit_item,
    list_items,
    place_lesson,
    restore_item,
    take_back,
)
from rag_assets.lab.store import Writing

# Few meanings, so that lessons of many feedbacks join one item.
MEANINGS = 3
FEEDBACKS = 5
# What happens: its kind, and numbers that choose of what is there.
_STEP = st.tuples(
    st.sampled_from(
        ["learn", "learn", "learn", "undo", "relearn", "edit", "note", "archive", "restore"]
    ),
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 99),
)
STEPS = st.lists(_STEP, max_size=16)
LONG_STEPS = st.lists(_STEP, min_size=8, max_size=24)


def meaning_of(text: str) -> str:
    """Return what a text says: its first word. Every further word names where it comes from."""
    return text.split(maxsplit=1)[0]


def find_equal(lesson: Lesson, items: Sequence[Item]) -> str | None:
    """The oracle of sameness: equal role, kind and meaning; the oldest."""
    for item in items:
        same = (item.role, item.kind, meaning_of(item.content)) == (
            lesson.role, lesson.kind, meaning_of(lesson.content),
        )  # fmt: skip
        if same:
            return item.id
    return None


@dataclass
class History:
    """Experience within one transaction of a store, and what is known of it by other means."""

    writing: Writing
    live: dict[str, list[Lesson]] = field(default_factory=dict)  # by feedback
    gone: set[str] = field(default_factory=set)  # words of feedback that was taken back
    numbers: Any = field(default_factory=lambda: count(1))

    def items(self) -> list[Item]:
        return list_items(self.writing)

    def step(self, what: str, a: int, b: int, c: int) -> None:
        feedback = f"f{a % FEEDBACKS}"
        match what:
            case "learn" if feedback not in self.live:
                self.learn(feedback, b, c)
            case "relearn" if feedback in self.live:
                self.undo(feedback)
                self.learn(feedback, b, c)
            case "undo" if feedback in self.live:
                self.undo(feedback)
            case "note":
                content = f"meaning{b % MEANINGS} note{next(self.numbers)}"
                add_note(self.writing, {"kind": "success", "content": content})
            case "edit" | "archive" | "restore":
                self.by_hand(what, [one for one in self.items() if not one.rolled_back], a, b)

    def learn(self, feedback: str, b: int, c: int) -> None:
        extraction = f"x{next(self.numbers)}"
        lessons = [
            Lesson(f"l{next(self.numbers)}", extraction, feedback, "global",
                   "failure" if (c + n) % 5 == 0 else "success", "", "",
                   f"meaning{(b + n) % MEANINGS} {extraction}")
            for n in range(1 + c % 3)
        ]  # fmt: skip
        self.live[feedback] = lessons
        for lesson in lessons:
            place_lesson(self.writing, lesson, find_equal)

    def undo(self, feedback: str) -> None:
        extraction = self.live.pop(feedback)[0].extraction_id
        self.gone.add(extraction)
        take_back(self.writing, extraction, find_equal)

    def by_hand(self, what: str, items: list[Item], a: int, b: int) -> None:
        if not items:
            return
        item = items[a % len(items)]
        if what == "edit":
            # A person combines what is there: all its words come along.
            words = sorted({word for text in item.texts for word in text.split()[1:]})
            text = " ".join([f"meaning{b % MEANINGS}", *words, f"hand{next(self.numbers)}"])
            edit_item(self.writing, item.id, {"content": text})
        else:
            (archive_item if what == "archive" else restore_item)(self.writing, item.id)

    def view(self) -> list[tuple[Any, ...]]:
        """What a search or a list of active items can see."""
        return [
            (i.role, i.kind, i.type, i.title, i.content, tuple(one.id for one in i.lessons))
            for i in self.items() if i.is_active
        ]  # fmt: skip

    def lost(self) -> list[str]:
        """Lessons of living feedback that stand in no item, or in several."""
        standing = [
            lesson.id for item in self.items() if not item.rolled_back for lesson in item.lessons
        ]
        return [
            lesson.id
            for lessons in self.live.values()
            for lesson in lessons
            if standing.count(lesson.id) != 1
        ]

    def leaked(self) -> list[str]:
        """Words of feedback that was taken back and still stand in an active item."""
        said = {
            word for item in self.items() if item.is_active
            for text in item.texts for word in text.split()
        }  # fmt: skip
        return sorted(said & self.gone)
