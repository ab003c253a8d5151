"""The identity journal: append-only, synced, readable lines. Who was called what, and when."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from rag_assets.model import DamagedFileError
from rag_assets.storage import append_journal_lines, read_journal_lines, read_once


@dataclass(frozen=True, slots=True)
class Binding:
    """A living content at a path is called `doc_uid`; `pin` where a sidecar asked for it.

    `at` (ISO 8601) is for people to read; it decides nothing.
    """

    event: Literal["bind", "pin"]
    content_hash: str
    path: str
    doc_uid: str
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Override:
    """A field of a document set by a person (`rag meta set`), with the reason."""

    doc_uid: str
    field: str
    value: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Journal:
    """All events, oldest first."""

    bindings: tuple[Binding, ...] = ()
    overrides: tuple[Override, ...] = ()


def read_journal(path: Path) -> Journal:
    """Return the journal; a missing file is an empty one, a half-written last line is left out.

    Raises:
        DamagedFileError: a line in the middle is not what was written; names the line.
    """
    return read_once([path], "journal", lambda: _read(path))


def _read(path: Path) -> Journal:
    bindings: list[Binding] = []
    overrides: list[Override] = []
    for number, line in enumerate(read_journal_lines(path), start=1):
        try:
            event = json.loads(line)
            kind = event.pop("event")
            at = event.pop("at")
            _check_values(event)
            if kind in {"bind", "pin"}:
                bindings.append(Binding(kind, **event, at=at))
            elif kind == "set":
                overrides.append(Override(**event))
            else:
                raise KeyError(kind)  # noqa: TRY301 - told with its line below
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedFileError(
                f"{path}, line {number}: not a journal event ({error}). Nothing was changed. "
                "Restore the file from a backup, or delete this line: the documents it names may "
                "then get other uids."
            ) from error
    return Journal(tuple(bindings), tuple(overrides))


def _check_values(event: dict[str, Any]) -> None:
    for key, value in event.items():
        if not isinstance(value, str) and not (key == "value" and value is None):
            raise TypeError(f"'{key}' must be text, got {value!r}")


def append_events(path: Path, events: Sequence[Binding | Override]) -> None:
    """Append events in one synced write; call with the lock held and the journal mended.

    Raises:
        StorageError: the disk is full or refuses the write; the journal is as it was.
    """
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [json.dumps(_as_line(event) | {"at": at}, ensure_ascii=False) for event in events]
    append_journal_lines(path, lines)


def _as_line(event: Binding | Override) -> dict[str, Any]:
    kind = {"event": "set"} if isinstance(event, Override) else {}
    return kind | asdict(event)


def latest_overrides(overrides: Iterable[Override]) -> dict[str, dict[str, str]]:
    """Return the fields that hold now, by uid; a value of None takes an override back."""
    latest: dict[str, dict[str, str]] = {}
    for override in overrides:
        fields = latest.setdefault(override.doc_uid, {})
        if override.value is None:
            fields.pop(override.field, None)
        else:
            fields[override.field] = override.value
    return latest
