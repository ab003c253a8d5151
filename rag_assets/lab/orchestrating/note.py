"""RunNote: the memory that all tasks of a run share, kept by the program (spec 004 §4.3)."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from rag_assets.model import UsageError

Role = Literal["orchestrator", "mof_expert", "tio2_expert"]
Section = Literal["constraints", "decisions", "candidates", "evidence", "risks", "questions"]
SECTIONS: tuple[Section, ...] = get_args(Section)
Operation = Literal["append", "replace", "upsert"]


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """One line; `key` is unique in its section, `by` as of its revision."""

    key: str
    text: str
    citations: tuple[str, ...] = ()
    by: str = ""

    @property
    def is_own_words(self) -> bool:
        """Whether a model wrote it: nobody has held it against what it cites."""
        return self.by in get_args(Role)


@dataclass(frozen=True, slots=True)
class Revision:
    """A change of the note.

    Args:
        op: `append` a new entry; `replace` one that is there; `upsert` either.
        by: the role that made it, or `program`.
    """

    op: Operation
    section: Section
    key: str
    text: str
    citations: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True)
class RunNote:
    """The note as it stands; `revision` counts its changes."""

    sections: Mapping[Section, tuple[NoteEntry, ...]] = field(default_factory=dict)
    revision: int = 0

    def entries(self, section: Section) -> tuple[NoteEntry, ...]:
        """Return the lines of a section, in order."""
        return self.sections.get(section, ())

    def next_key(self, section: Section) -> str:
        """Return a key that is free: `e3` in `evidence`."""
        taken = {entry.key for entry in self.entries(section)}
        number = len(taken) + 1
        while f"{section[0]}{number}" in taken:
            number += 1
        return f"{section[0]}{number}"

    def revise(self, change: Revision) -> "RunNote":
        """Return the note after a change.

        Raises:
            UsageError: what is to be replaced is not there, or what is appended is.
        """
        entries = list(self.entries(change.section))
        place = next((i for i, one in enumerate(entries) if one.key == change.key), None)
        if change.op == "replace" and place is None:
            known = ", ".join(one.key for one in entries) or "none"
            raise UsageError(f"note: '{change.section}' has no '{change.key}' (there is {known}).")
        if change.op == "append" and place is not None:
            raise UsageError(
                f"note: '{change.section}' has a '{change.key}' already; upsert changes it."
            )
        entry = NoteEntry(change.key, change.text, change.citations, change.by)
        if place is None:
            entries.append(entry)
        else:
            entries[place] = entry
        return RunNote({**self.sections, change.section: tuple(entries)}, self.revision + 1)

    def to_json(self) -> dict[str, Any]:
        """Return the note as values that JSON knows: entries by section."""
        return {name: [asdict(one) for one in self.entries(name)] for name in SECTIONS}


def fold_note(events: Iterable[Mapping[str, Any]], until: int | None = None) -> RunNote:
    """Return the note that the events of a trace make.

    Args:
        until: number of the last event that counts; all without.
    """
    note = RunNote()
    for event in events:
        if until is not None and event["seq"] > until:
            break
        if event["kind"] == "noted":
            keys = ("op", "section", "key", "text", "by")
            values = {key: event[key] for key in keys}
            note = note.revise(Revision(**values, citations=tuple(event["citations"])))
    return note
