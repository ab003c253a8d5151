"""Items of experience, each the fold of its events."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args  # Any: JSON

from rag_assets.lab.store.events import Event

Role = Literal["global", "orchestrator", "mof_expert", "tio2_expert"]
ROLES: tuple[Role, ...] = get_args(Role)
Kind = Literal["success", "failure", "note"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Status = Literal["active", "archived"]
ItemType = Literal["reasoningbank_item", "manual_note"]
SCHEMA_VERSION = 1

# What a person does to an item by hand, as events.
BY_HAND = ("edited", "archived", "restored")
# What a person may change.
EDITABLE = ("role", "kind", "title", "description", "content", "extra")
_WORDS = ("title", "description", "content")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one extraction learned of one feedback; it stands in one item, as written or joined.

    Args:
        id: a UUID.
        extraction_id: the extraction that taught it; `run_id` the run that was reported on.
        title: a few words; `description` one sentence; `content` what was learned.
        extra: further fields.
    """

    id: str
    extraction_id: str
    run_id: str
    role: Role
    kind: Kind
    title: str
    description: str
    content: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of experience as it stands.

    Args:
        id: a UUID; cited as `mem:<id>`.
        version: the number of its events, by which two editors are told apart.
        lessons: those that it stands for, in the order in which they came; none of a person's note.
        rolled_back: whether the feedback that it came from was edited or deleted since: a
            tombstone, archived, which shows what it last said.
        moved_to: of a tombstone the items in which the lessons of other feedback stand now.
    """

    id: str
    role: Role
    kind: Kind
    type: ItemType
    status: Status
    title: str
    description: str
    content: str
    extra: Mapping[str, Any]
    lessons: tuple[Lesson, ...]
    created_at: str
    updated_at: str
    version: int
    schema_version: int = SCHEMA_VERSION
    rolled_back: bool = False
    moved_to: tuple[str, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether it is searched and may be joined."""
        return self.status == "active"

    @property
    def variants(self) -> tuple[Lesson, ...]:
        """The lessons that say the same in other words."""
        return tuple(lesson for lesson in self.lessons if lesson.content != self.content)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text that a reader of it sees."""
        own = (self.title, self.description, self.content)
        return (*own, *(text for one in self.variants for text in (one.title, one.content)))


def voided_ids(events: Sequence[Event]) -> frozenset[str]:
    """Return the ids of the events of an item that later ones have taken back."""
    return frozenset(
        voided for event in events if event.kind == "rolled_back" for voided in event.body["voids"]
    )


def standing(events: Sequence[Event]) -> list[Event]:
    """Return the events of an item that hold: neither taken back, nor the taking back itself."""
    gone = voided_ids(events)
    return [event for event in events if event.kind != "rolled_back" and event.id not in gone]


def fold_item(events: Sequence[Event]) -> Item:
    """Return what the events of one item make, in their order.

    Raises:
        ValueError: it does not begin with its creation.
    """
    if not events or events[0].kind != "created":
        raise ValueError("the events of an item begin with its creation.")
    holding = standing(events)
    is_gone = not any(event.kind == "created" for event in holding)
    # A tombstone shows what it last said.
    values = _fold_values(
        [event for event in events if event.kind != "rolled_back"] if is_gone else holding
    )
    moved = [to for event in events if event.kind == "rolled_back" for to in event.body["moved"]]
    if is_gone:
        values["status"] = "archived"
    return Item(
        id=events[0].subject,
        created_at=events[0].at,
        updated_at=events[-1].at,
        version=len(events),
        rolled_back=is_gone,
        moved_to=tuple(dict.fromkeys(moved)) if is_gone else (),
        **values,
    )


def _fold_values(events: Sequence[Event]) -> dict[str, Any]:
    values: dict[str, Any] = {"status": "active"}
    lessons: list[Lesson] = []
    for event in events:
        match event.kind:
            case "created":
                values |= {key: event.body[key] for key in (*EDITABLE, "type")}
                lessons += [read_lesson(each) for each in event.body["lessons"]]
            case "joined":
                lessons.append(read_lesson(event.body["lesson"]))
            case "edited":
                values |= event.body["changes"]
            case "archived":
                values["status"] = "archived"
            case "restored":
                values["status"] = "active"
            case other:
                raise ValueError(f"an item knows no event '{other}'.")
    return {**values, "lessons": tuple(lessons)}


def read_lesson(values: Mapping[str, Any]) -> Lesson:
    """Return the lesson of which `asdict` made `values`."""
    return Lesson(**values)


def creation_of(lesson: Lesson) -> dict[str, Any]:
    """Return the body of the event by which a lesson becomes an item."""
    return {
        **{key: getattr(lesson, key) for key in ("role", "kind", *_WORDS)},
        "extra": dict(lesson.extra),
        "type": "reasoningbank_item",
        "lessons": [asdict(lesson)],
    }


def shown_item(events: Sequence[Event]) -> dict[str, Any]:
    """Return what a person sees of an item, by field."""
    item = fold_item(events)
    return {
        **{key: getattr(item, key) for key in EDITABLE},
        "status": item.status,
        "rolled_back": item.rolled_back,
        "stands for": len(item.lessons),
    }
