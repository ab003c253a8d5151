"""What the laboratory remembers: events, the only truth of its store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal  # Any: JSON

# What an event is about. Each has a stream of events of its own, told apart by its subject.
Entity = Literal[
    "run", "product", "preset", "feedback", "report", "item", "extraction", "template",
    "preferences",
]  # fmt: skip
# Who acts where no person does.
PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Draft:
    """An event that is to be.

    Args:
        entity: what it is about, and `subject` which one.
        kind: what happened, a word in the past tense.
        body: values that JSON knows.
        cause: the extraction that did it; None where a person or the program did.
    """

    entity: Entity
    subject: str
    kind: str
    body: Mapping[str, Any] = field(default_factory=dict)
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; never changed and never removed.

    Args:
        seq: its place among all events of the store, from 1.
        id: a UUID, the same in every copy of the store.
        at: when, ISO 8601 with zone.
        by: who.
    """

    seq: int
    id: str
    at: str
    by: str
    entity: Entity
    subject: str
    kind: str
    body: Mapping[str, Any]
    cause: str | None = None


Rows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class EntityKind:
    """How the events of one subject become rows, and what of it a person edits.

    Args:
        rows: from the stream of a subject to its rows, by table.
        shown: from the stream to what a person sees of it, by field: what changed is told by it.
    """

    entity: Entity
    rows: Callable[[str, Sequence[Event]], Rows]
    shown: Callable[[Sequence[Event]], Mapping[str, Any]]
