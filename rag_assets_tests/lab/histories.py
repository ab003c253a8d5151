"""Random histories of experience, in memory: extractions, rollbacks, relearning, edits by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hypothesis import strategies as st

from rag_assets.lab.experience.items import Item, Lesson, fold_item
from rag_assets.lab.experience.rolling import active_items, place_lesson, take_back
from rag_assets.lab.store.events import Draft, Event

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
    """A bank in memory and what is known of it by other means."""

    bank: dict[str, list[Event]] = field(default_factory=dict)
    live: dict[str, list[Lesson]] = field(default_factory=dict)  # by feedback
    gone: set[str] = field(default_factory=set)  # words of feedback that was taken back
    numbers: Any = field(default_factory=lambda: count(1))

    def append(self, draft: Draft) -> None:
        seq = next(self.numbers)
        event = Event(seq, f"e{seq}", f"t{seq:06}", "who", draft.entity, draft.subject, draft.kind,
                      draft.body, draft.cause)  # fmt: skip
        self.bank.setdefault(draft.subject, []).append(event)

    def new_id(self) -> str:
        return f"m{next(self.numbers)}"

    def step(self, what: str, a: int, b: int, c: int) -> None:
        feedback = f"f{a % FEEDBACKS}"
        items = [fold_item(events) for events in self.bank.values()]
        match what:
            case "learn" if feedback not in self.live:
                self.learn(feedback, b, c)
            case "relearn" if feedback in self.live:
                self.undo(feedback)
                self.learn(feedback, b, c)
            case "undo" if feedback in self.live:
                self.undo(feedback)
            case "note":
                words = {"role": "global", "kind": "success", "title": "", "description": "",
                         "content": f"meaning{b % MEANINGS} note{next(self.numbers)}"}  # fmt: skip
                body = {**words, "extra": {}, "type": "manual_note", "lessons": []}
                self.append(Draft("item", self.new_id(), "created", body))
            case "edit" | "archive" | "restore":
                self.by_hand(what, [item for item in items if not item.rolled_back], a, b)

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
            place_lesson(self.bank, lesson, self.append, find_equal, self.new_id)

    def undo(self, feedback: str) -> None:
        lessons = self.live.pop(feedback)
        self.gone.add(lessons[0].extraction_id)
        extraction = lessons[0].extraction_id
        take_back(self.bank, extraction, self.append, find_equal, self.new_id)

    def by_hand(self, what: str, items: list[Item], a: int, b: int) -> None:
        if not items:
            return
        item = items[a % len(items)]
        if what == "edit":
            # A person combines what stands there: all its words come along.
            words = sorted({word for text in item.texts for word in text.split()[1:]})
            text = " ".join([f"meaning{b % MEANINGS}", *words, f"hand{next(self.numbers)}"])
            self.append(Draft("item", item.id, "edited", {"changes": {"content": text}}))
        elif what == "archive" and item.is_active:
            self.append(Draft("item", item.id, "archived"))
        elif what == "restore" and not item.is_active:
            self.append(Draft("item", item.id, "restored"))

    def view(self) -> list[tuple[Any, ...]]:
        """What a search or a list of active items can see."""
        return [
            (i.role, i.kind, i.type, i.title, i.content, tuple(one.id for one in i.lessons))
            for i in active_items(self.bank)
        ]  # fmt: skip

    def lost(self) -> list[str]:
        """Lessons of living feedback that stand in no item, or in several."""
        standing = [
            lesson.id
            for events in self.bank.values()
            if not (item := fold_item(events)).rolled_back
            for lesson in item.lessons
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
            word for item in active_items(self.bank) for text in item.texts for word in text.split()
        }
        return sorted(said & self.gone)
