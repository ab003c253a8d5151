"""The journal of a document's edits: who did what to its chunks, and when. Append-only.

A file of JSON lines for each document that was ever drafted, below the identity journal: like that
one it cannot be rebuilt from raw/. It names the document by its uid, so it follows a file that is
renamed, edited in place or parsed again. A line is appended by replacing the file as a whole, and
only where it is still what the writer read: of two editors one wins, the other is told; a crash
leaves the file as it was before or after. A draft is no copy: it is what stands in the journal
since the last publication.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rag_assets.chunking.editing.folding import Numbered, Operation, operation_from, operation_type
from rag_assets.model import DamagedFileError, DraftMovedError, hash_fields, hash_text
from rag_assets.workspace import Namespace

EventKind = Literal["create", "operation", "undo", "publish", "discard"]
# Of a uid, what its journal's name shows; the hash behind it tells all apart.
_SHOWN_UID = 40


@dataclass(frozen=True, slots=True)
class Event:
    """One line.

    Args:
        number: from 1.
        by: who; `at` when (ISO 8601), `reason` why. They decide nothing.
        operation: of the kind `operation`.
        undoes: number of the operation, or of the undoing, that `undo` takes back.
    """

    number: int
    event: EventKind
    by: str
    at: str
    reason: str = ""
    operation: Operation | None = None
    undoes: int | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Everything that happened to the chunks of one document, oldest first."""

    doc_uid: str
    events: tuple[Event, ...] = ()
    version: str | None = None

    @property
    def revision(self) -> int:
        """How many events there are: what an editor has seen."""
        return len(self.events)

    @property
    def is_open(self) -> bool:
        """Whether there is a draft."""
        return bool(self.events) and self.ended_by is None

    @property
    def ended_by(self) -> EventKind | None:
        """What ended the last draft; None while there is one, or where there was none."""
        last = self.events[-1].event if self.events else None
        return last if last in {"publish", "discard"} else None

    @property
    def is_published(self) -> bool:
        """Whether a draft was ever published."""
        return any(event.event == "publish" for event in self.events)

    @property
    def drafted(self) -> tuple[Numbered, ...]:
        """The operations that hold in the draft; without one those that are published."""
        return effective(self._listed()[0])

    @property
    def published(self) -> tuple[Numbered, ...]:
        """The operations that hold in a publication."""
        return effective(self._listed()[1])

    @property
    def listed(self) -> tuple[Event, ...]:
        """The operations and undoings that the draft consists of."""
        return tuple(self._listed()[0])

    def _listed(self) -> tuple[list[Event], list[Event]]:
        current: list[Event] = []
        published: list[Event] = []
        for event in self.events:
            if event.event in {"operation", "undo"}:
                current.append(event)
            elif event.event == "publish":
                published = list(current)
            elif event.event == "discard":
                current = list(published)
        return current, published


def effective(events: Sequence[Event]) -> tuple[Numbered, ...]:
    """Return the operations that nothing has undone; an undoing that was undone counts not."""
    undone: set[int] = set()
    held = []
    for event in reversed(events):
        if event.number in undone:
            continue
        if event.undoes is not None:
            undone.add(event.undoes)
        elif event.operation is not None:
            held.append(Numbered(event.number, event.operation))
    return tuple(reversed(held))


def journal_key(namespace: Namespace, doc_uid: str) -> str:
    """Return the key of a document's journal in the workspace's store."""
    return f"{_folder(namespace)}{doc_uid[:_SHOWN_UID]}-{hash_text(doc_uid)[:12]}.jsonl"


def _folder(namespace: Namespace) -> str:
    return namespace.workspace.key_of(namespace.edits) + "/"


def read_history(namespace: Namespace, doc_uid: str) -> History:
    """Return the history of a document; an empty one where nobody has drafted it.

    Raises:
        DamagedFileError: a line is not what was written; names it.
    """
    return _read(namespace, journal_key(namespace, doc_uid), doc_uid)


def read_histories(namespace: Namespace) -> dict[str, History]:
    """Return the histories of all documents that were ever drafted, by uid."""
    store = namespace.workspace.store
    read = [_read(namespace, each.key, None) for each in store.list(_folder(namespace))]
    return {history.doc_uid: history for history in sorted(read, key=lambda h: h.doc_uid)}


def published_edits(namespace: Namespace) -> dict[str, tuple[Numbered, ...]]:
    """Return the operations that hold in a publication, of each document that has had any."""
    return {
        uid: history.published
        for uid, history in read_histories(namespace).items()
        if history.is_published
    }


def operations_digest(operations: Sequence[Numbered]) -> str:
    """Return the digest of what operations do; who did it, and when, is no part of it."""
    dump = operation_type().dump_python
    return hash_fields([(one.number, dump(one.operation, mode="json")) for one in operations])


def edits_digest(namespace: Namespace) -> str:
    """Return the digest of all operations that hold in a publication; "" where nobody edited."""
    edits = published_edits(namespace)
    if not edits:
        return ""
    return hash_fields([(uid, operations_digest(edits[uid])) for uid in sorted(edits)])


def append_event(namespace: Namespace, seen: History, event: Event) -> History:
    """Append an event to the history that its author has seen.

    Returns:
        The history with it.

    Raises:
        DraftMovedError: somebody has changed it since; nothing was written.
        StorageError: the disk is full or refuses the write; the journal is as it was.
    """
    store, key = namespace.workspace.store, journal_key(namespace, seen.doc_uid)
    found = store.get(key)
    line = (json.dumps(_as_line(seen.doc_uid, event), ensure_ascii=False) + "\n").encode()
    if found is None and seen.version is None:
        version = store.put_if_absent(key, line)
    elif found is not None and found.version == seen.version:
        version = store.put_if_unchanged(key, found.data + line, found.version)
    else:
        version = None
    if version is None:
        now = read_history(namespace, seen.doc_uid)
        raise DraftMovedError(moved(now, seen.doc_uid, seen.revision))
    return History(seen.doc_uid, (*seen.events, event), version)


def moved(now: History, doc_uid: str, seen: int) -> str:
    """Return what an editor is told who has seen another revision."""
    last = now.events[-1] if now.events else None
    who = f" ({last.by}: {last.event}, {last.at})" if last else ""
    return (
        f"the draft of '{doc_uid}' is at revision {now.revision}{who}, and you have seen {seen}. "
        "Nothing was changed: look at it again (`rag draft show`) and repeat what still fits."
    )


def _as_line(doc_uid: str, event: Event) -> dict[str, Any]:
    values: dict[str, Any] = {"number": event.number, "event": event.event, "doc_uid": doc_uid}
    if event.operation is not None:
        values["operation"] = operation_type().dump_python(
            event.operation, mode="json", exclude_none=True
        )
    if event.undoes is not None:
        values["undoes"] = event.undoes
    return values | {"reason": event.reason, "by": event.by, "at": event.at}


def _read(namespace: Namespace, key: str, doc_uid: str | None) -> History:
    store = namespace.workspace.store
    found = store.get(key)
    if found is None:
        return History(doc_uid or "")
    events: list[Event] = []
    try:
        for line in found.data.decode("utf-8").split("\n")[:-1]:
            doc_uid, event = _event_of(json.loads(line), doc_uid, len(events) + 1)
            events.append(event)
        if not found.data.endswith(b"\n") or doc_uid is None:
            raise ValueError("the last line is not whole")  # noqa: TRY301 - told with its line below
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedFileError(
            f"{store.place(key)}, line {len(events) + 1}: not an event of a draft ({error}). "
            "Nothing was changed. Restore the file from a backup; without it the edits of its "
            "document are lost."
        ) from error
    return History(doc_uid, tuple(events), found.version)


def _event_of(values: Mapping[str, Any], doc_uid: str | None, number: int) -> tuple[str, Event]:
    own = str(values["doc_uid"])
    if values["number"] != number or own != (doc_uid or own):
        raise ValueError(f"number {values['number']} of {own!r} stands here")
    kind = values["event"]
    if kind not in {"create", "operation", "undo", "publish", "discard"}:
        raise KeyError(kind)
    operation = operation_from(values["operation"]) if kind == "operation" else None
    undoes = int(values["undoes"]) if kind == "undo" else None
    by, at, reason = (str(values[name]) for name in ("by", "at", "reason"))
    return own, Event(number, kind, by, at, reason, operation, undoes)
