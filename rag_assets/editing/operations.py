"""The operations of spec 001 (ChunkOp), as values that say by content what they are about."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

from rag_assets.editing.prints import Place

Kind = Literal[
    "edit_text", "split_at", "merge_with_next", "move_before", "move_after", "reparent",
    "enable", "disable",
]  # fmt: skip
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Target:
    """A chunk as a person saw it.

    Args:
        place: of what is printed there.
        shown: the text that the chunk had by then; None where that was the printed one.
    """

    place: Place
    shown: str | None = None

    __pydantic_config__ = _STRICT

    @property
    def text(self) -> str:
        """What the person saw."""
        return self.place.printed if self.shown is None else self.shown


@dataclass(frozen=True, slots=True)
class ParentTarget:
    """A parent as a person saw it.

    Args:
        label: what it was called, `p003` or `s012`; for people, it decides nothing.
        parent_hash: SHA-256 of its text.
        opening: where it begins, for a parent whose text was changed since.
    """

    label: str
    parent_hash: str
    opening: Place

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a person did to a chunk.

    Args:
        other: the chunk that follows (`merge_with_next`), or beside which it is moved.
        text: the new text of `edit_text`.
        shown_at: of `split_at`, how many visible characters of what is shown come before the cut;
            `printed_at` likewise of what is printed.
        parent: of `reparent`.
    """

    kind: Kind
    target: Target
    other: Target | None = None
    text: str | None = None
    shown_at: int | None = None
    printed_at: int | None = None
    parent: ParentTarget | None = None

    __pydantic_config__ = _STRICT

    @property
    def seen(self) -> str:
        """The texts that the person saw, of both chunks where there are two."""
        parts = [self.target.text, *([self.other.text] if self.other else [])]
        return "\n⋯\n".join(parts)


@cache
def operation_type() -> TypeAdapter[Operation]:
    """Return what checks and restores the values of an operation."""
    return TypeAdapter(Operation)


def operation_from(values: Any) -> Operation:
    """Return the operation that `operation_type().dump_python` gave as plain values.

    Raises:
        ValueError: a value is missing, unknown or of another type.
    """
    return operation_type().validate_python(values)


@dataclass(frozen=True, slots=True)
class Numbered:
    """An operation with its number in the history of its document, from 1."""

    number: int
    operation: Operation
