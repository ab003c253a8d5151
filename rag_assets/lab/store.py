"""The laboratory's store: plain tables in one SQLite file.

A transaction writes a row and its line in `changes` together, so that a kill leaves both or
neither. `changes` says who did what and when, with what a subject said afterwards. Several
processes may write; each waits for its turn.
"""

import json
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args  # Any: values of rows

from rag_assets.model import (
    ChangedMeanwhileError,
    DamagedFileError,
    DiskFullError,
    LockedError,
    StorageError,
    UsageError,
    shown_value,
)

Entity = Literal[
    "run", "product", "preset", "feedback", "report", "item", "extraction", "template", "settings"
]
# Who acts where no person does.
PROGRAM = "program"
# Raise it with a step in `Store._prepare` when tables change.
SCHEMA_VERSION = 2
# How long a writer waits for others: four of them, a thousand writes each, wait for less.
BUSY_SECONDS = 120.0
# The table of each entity that has one row a subject.
_TABLE_OF = {
    "run": "runs", "product": "products", "preset": "presets", "feedback": "feedback",
    "report": "reports", "template": "templates", "settings": "settings",
}  # fmt: skip
# What a person did not write is no change to tell.
_NOT_TOLD = frozenset({"updated_at", "given_at", "saved_at", "signature"})
# What `rag sql` shows, and what an export holds: rows that point to others come behind them.
TABLES = (
    "changes", "runs", "products", "presets", "feedback", "reports", "extractions", "items",
    "lessons", "templates", "settings",
)  # fmt: skip
# Tables of the store of earlier versions, whose events are replayed once.
_OF_EVENTS = (
    "lessons", "mem_edit_log", "items", "extractions", "reports", "feedback_products", "feedback",
    "preset_products", "presets", "products", "runs", "templates", "preferences", "projected",
    "alembic_version", "events",
)  # fmt: skip

sqlite3.register_converter("JSON", json.loads)
sqlite3.register_converter("BOOLEAN", lambda value: value == b"1")


def new_id() -> str:
    """Return a UUID."""
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True)
class Reading:
    """One unchanging look at the store."""

    connection: sqlite3.Connection

    def rows(self, table: str, order: str = "rowid", **equal: Any) -> list[dict[str, Any]]:
        """Return the rows of a table whose columns have the given values."""
        where = " AND ".join(f'"{name}" IS ?' for name in equal) or "1"
        found = self.connection.execute(
            f"SELECT * FROM {table} WHERE {where} ORDER BY {order}", [*equal.values()]
        )
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found]

    def head(self) -> int:
        """Return the number of the newest change; 0 where there is none."""
        found: int
        (found,) = self.connection.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()
        return found

    def version(self, entity: Entity, subject: str) -> int:
        """Return how often a subject was changed; 0 where it is unknown."""
        found: int
        (found,) = self.connection.execute(
            "SELECT coalesce(max(version), 0) FROM changes WHERE entity = ? AND subject = ?",
            [entity, subject],
        ).fetchone()
        return found

    def require_version(self, entity: Entity, subject: str, what: str, seen: int | None) -> None:
        """Refuse to go on where a subject is unknown, or has changed since somebody saw it.

        Args:
            what: how a person calls it, for the message.
            seen: the version that the person saw, 0 where there was none; None for any.

        Raises:
            UsageError: there is no such subject.
            ChangedMeanwhileError: it has changed since; the text says what, by whom and when.
        """
        changes = self.rows("changes", "version", entity=entity, subject=subject)
        if not changes:
            raise UsageError(f"there is no {what} '{subject}' in this laboratory.")
        if seen is None or seen == len(changes):
            return
        said = f"{what} '{subject}' is at version {len(changes)}, and you have seen {seen}"
        if not 0 <= seen < len(changes):
            raise ChangedMeanwhileError(f"{said}. Look at it again, then make your change.")
        last = changes[-1]
        before = changes[seen - 1]["state"] if seen else {}
        changed = [
            f"{key}: {shown_value(before[key])} → {shown_value(value)}"
            if key in before
            else f"{key}: {shown_value(value)}"
            for key, value in last["state"].items()
            if before.get(key) != value
            and key not in _NOT_TOLD
            and (key in before or value not in ("", [], {}, None))
        ]
        raise ChangedMeanwhileError(
            f"{said}. Meanwhile: {'; '.join(changed) or 'what it says is as you saw it'} (last: "
            f"{last['action']} by {last['by']}, {last['at']}). Nothing was written: look at it "
            "again, then make your change."
        )


@dataclass(frozen=True, slots=True)
class Writing(Reading):
    """A transaction: all that is written in it holds, or none of it.

    Args:
        at: now, ISO 8601 with zone; `by` who writes.
    """

    at: str
    by: str

    def change(
        self, entity: Entity, subject: str, action: str, state: Mapping[str, Any], reason: str = ""
    ) -> int:
        """Log what was done, and what the subject says now; return the subject's version."""
        version = self.version(entity, subject) + 1
        self.put("changes", {
            "at": self.at, "by": self.by, "entity": entity, "subject": subject, "version": version,
            "action": action, "reason": reason, "state": dict(state), "voided": False,
        })  # fmt: skip
        return version

    def save(self, entity: Entity, subject: str, action: str, row: Mapping[str, Any]) -> None:
        """Store the row of a subject with its version, and log the change."""
        version = self.change(entity, subject, action, row)
        self.put(_TABLE_OF[entity], {**row, "version": version})

    def put(self, table: str, row: Mapping[str, Any]) -> None:
        """Write a row in place of the one of its key.

        Raises:
            UsageError: it holds a value that JSON does not know.
        """
        try:
            values = [
                json.dumps(value, ensure_ascii=False, allow_nan=False)
                if isinstance(value, (dict, list, tuple))
                else value
                for value in row.values()
            ]
        except ValueError as error:
            raise UsageError(
                f"{table}: a value is not one that JSON knows ({error}). Nothing was written."
            ) from error
        names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
        put = f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})"
        self.connection.execute(put, values)


# Makes rows of the events of a laboratory of an earlier version.
Replay = Callable[[Writing, Iterable[Mapping[str, Any]]], int]


class Store:
    """A laboratory's memory.

    Args:
        path: of its SQLite file; made with its folder where it is missing.
        replay: brings a store of an earlier version up to this one.
    """

    def __init__(self, path: Path, replay: Replay) -> None:
        self.path = path
        self._replay = replay
        path.parent.mkdir(parents=True, exist_ok=True)
        with self.reading() as reading:
            if self._is_ready(reading.connection):
                return
        with self.writing("", "") as writing:
            if not self._is_ready(writing.connection):  # else another process was faster
                self._prepare(writing)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Look at the store as it is now, whatever is written meanwhile."""
        with self._transaction("BEGIN") as connection:
            yield Reading(connection)

    @contextmanager
    def writing(self, at: str, by: str) -> Iterator[Writing]:
        """Write to the store; waits for others that write.

        Args:
            at: now, ISO 8601 with zone; `by` who writes.

        Raises:
            LockedError: another process has been writing for minutes.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield Writing(connection, at, by)

    def export(self) -> Iterator[str]:
        """Yield every row as a line of JSON, without its end of line."""
        with self.reading() as reading:
            for table in TABLES:
                for row in reading.rows(table):
                    yield json.dumps({"table": table, "row": row}, ensure_ascii=False)

    def restore(
        self, lines: Iterable[str],
        place: Callable[[Reading, list[Mapping[str, Any]]], None] = lambda *_: None,
    ) -> int:  # fmt: skip
        """Put an export into this store, which is empty, all of it or nothing; return how much.

        Args:
            place: puts the lines of traces where they belong, last in the transaction.

        Raises:
            UsageError: the store is not empty, or a line is none of an export.
        """
        with self.writing("", "") as writing:
            if writing.head():
                raise UsageError(
                    f"{self.path}: this laboratory is not empty. An export is imported into an "
                    "empty one, so that it is not mixed with others' work."
                )
            found: list[Mapping[str, Any]] = []
            traces: list[Mapping[str, Any]] = []
            for number, line in enumerate(lines, start=1):
                try:
                    values = json.loads(line)
                    is_row = values.get("table") in TABLES and isinstance(values["row"], dict)
                except (ValueError, AttributeError, KeyError) as error:
                    raise UsageError(
                        f"line {number} is not of an export ({error}). Nothing was imported."
                    ) from error
                if isinstance(values.get("trace"), str) and isinstance(values.get("text"), str):
                    traces.append(values)
                    continue
                if not is_row and values.get("entity") not in (*get_args(Entity), "preferences"):
                    raise UsageError(f"line {number} is no row of an export. Nothing was imported.")
                found.append(values)
            if found and "entity" in found[0]:  # of an earlier version
                return self._replay(writing, found)
            for number, values in enumerate(found, start=1):
                try:
                    writing.put(values["table"], values["row"])
                except sqlite3.DatabaseError as error:
                    raise UsageError(
                        f"line {number} is no row of '{values['table']}' ({error}). Nothing was "
                        "imported."
                    ) from error
            place(writing, traces)
            return len(found) + len(traces)

    def _is_ready(self, connection: sqlite3.Connection) -> bool:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise DamagedFileError(
                f"{self.path}: its tables are of version {version}, which this version of "
                "rag-assets does not know. A newer one wrote it: install that one."
            )
        return bool(version == SCHEMA_VERSION)

    def _prepare(self, writing: Writing) -> None:
        known = {row["name"] for row in writing.rows("sqlite_master", type="table")}
        events: list[dict[str, Any]] = []
        if "events" in known:
            events = writing.rows("events", "seq")
            for name in _OF_EVENTS:
                writing.connection.execute(f"DROP TABLE IF EXISTS {name}")
        schema = files("rag_assets.lab").joinpath("schema.sql").read_text(encoding="utf-8")
        for statement in schema.split(";"):
            writing.connection.execute(statement)
        if events:
            self._replay(writing, events)
        writing.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, and say in plain words what SQLite cannot do."""
        try:
            # Begun and ended below, not by the module.
            connection = sqlite3.connect(
                self.path, BUSY_SECONDS, sqlite3.PARSE_DECLTYPES, isolation_level=None
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()  # what is not committed is taken back
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise LockedError(
                    f"{self.path}: another process has been writing for minutes. Let it end, or "
                    "end it, then do this again."
                ) from error
            if "disk is full" in str(error):
                raise DiskFullError(
                    f"{self.path}: there is no room left to write to it."
                ) from error
            raise StorageError(
                f"{self.path}: SQLite cannot work with it ({error}). Nothing was written."
            ) from error
        except sqlite3.IntegrityError as error:
            raise UsageError(
                f"{self.path}: what was to be written refers to what is not there, or is there "
                f"twice ({error}). Nothing was written."
            ) from error
        except sqlite3.DatabaseError as error:
            raise DamagedFileError(
                f"{self.path}: this is no store that SQLite can read ({error}). Take it back "
                "from a backup, or import an export into a new laboratory."
            ) from error
