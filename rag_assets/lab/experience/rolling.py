"""Strict rollback: what an extraction did is taken back as if it had never been.

Snapshots of the state before do not do: another extraction's snapshot may hold what is taken back,
and its own rollback would bring it to life again. So nothing is restored. Events are voided, and an
item is the fold of those that are left:

- voided are, on each item that the extraction touched, its events and every edit by hand after the
  first of them;
- an item whose creation is voided is a tombstone; lessons of other feedback that had joined it
  move, in their order, to where they belong now.

Everything here is a function from streams of events to events to be.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from rag_assets.lab.experience.items import (
    BY_HAND,
    Item,
    Lesson,
    creation_of,
    fold_item,
    read_lesson,
    standing,
)
from rag_assets.lab.store.events import Draft, Event

# The streams of all items, by id.
Bank = Mapping[str, Sequence[Event]]
# The item that says what a lesson says, among active ones, oldest first; None where there is none.
FindEqual = Callable[[Lesson, Sequence[Item]], str | None]
# Writes an event into the bank, so that what follows sees it.
Append = Callable[[Draft], None]


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What a rollback voids.

    Args:
        voids: ids of events by item, in the order of the items' first events.
        displaced: lessons of other feedback whose item is gone, with that item, in their order.
    """

    voids: Mapping[str, tuple[str, ...]]
    displaced: tuple[tuple[Lesson, str], ...]


def find_taken_back(bank: Bank, extraction_id: str) -> TakenBack:
    """Return what taking an extraction back voids, and which lessons it leaves without an item."""
    voids: dict[str, tuple[str, ...]] = {}
    displaced: list[tuple[int, Lesson, str]] = []
    for item_id, events in bank.items():
        holding = standing(events)
        own = [event for event in holding if event.cause == extraction_id]
        if not own:
            continue
        first = own[0].seq
        gone = {event.id for event in own} | {
            event.id
            for event in holding
            if event.cause is None and event.kind in BY_HAND and event.seq > first
        }
        left = [event for event in holding if event.id not in gone]
        if not any(event.kind == "created" for event in left):
            moving = [event for event in left if event.kind == "joined"]
            displaced += [(e.seq, read_lesson(e.body["lesson"]), item_id) for e in moving]
            gone |= {event.id for event in left}
        voids[item_id] = tuple(event.id for event in holding if event.id in gone)
    displaced.sort(key=lambda entry: entry[0])
    return TakenBack(voids, tuple((lesson, item_id) for _, lesson, item_id in displaced))


def take_back(
    bank: Bank, extraction_id: str, append: Append, find_equal: FindEqual, new_id: Callable[[], str]
) -> None:
    """Take an extraction back, and give the lessons that it displaces a place.

    Args:
        bank: sees every event that `append` writes.
        new_id: gives the id of an item that is to be.
    """
    taken = find_taken_back(bank, extraction_id)
    for item_id, voids in taken.voids.items():
        append(
            Draft(
                "item",
                item_id,
                "rolled_back",
                {"voids": list(voids), "extraction": extraction_id, "moved": []},
            )
        )
    for lesson, item_id in taken.displaced:
        place = place_lesson(bank, lesson, append, find_equal, new_id)
        append(
            Draft(
                "item",
                item_id,
                "rolled_back",
                {"voids": [], "extraction": extraction_id, "moved": [place]},
            )
        )


def place_lesson(
    bank: Bank, lesson: Lesson, append: Append, find_equal: FindEqual, new_id: Callable[[], str]
) -> str:
    """Join a lesson to the active item that says the same, else make it one; return the item."""
    found = find_equal(lesson, active_items(bank))
    if found is not None:
        append(Draft("item", found, "joined", {"lesson": asdict(lesson)}, lesson.extraction_id))
        return found
    made = new_id()
    append(Draft("item", made, "created", creation_of(lesson), lesson.extraction_id))
    return made


def active_items(bank: Bank) -> list[Item]:
    """Return the items that are searched and may be joined, oldest first."""
    items = (fold_item(events) for _, events in sorted(bank.items(), key=lambda b: b[1][0].seq))
    return [item for item in items if item.is_active]
