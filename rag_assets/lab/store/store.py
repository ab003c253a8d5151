"""The store: events are appended, and what is folded out of them changes with them.

One SQLite file. A transaction writes an event and the rows of its subject together, so that a kill
leaves both or neither. Several processes may write; each waits for its turn.
"""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast, get_args  # Any: values of rows

from sqlalchemy import Connection, Table, delete, insert, select, text
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from rag_assets.lab.store.events import Draft, Entity, EntityKind, Event
from rag_assets.lab.store.migrating import (
    HEAD,
    WRITES,
    current_revision,
    engine_of,
    projections_digest,
    recreate_projections,
    upgrade,
)
from rag_assets.lab.store.tables import OWNERS, events
from rag_assets.model import (
    ChangedMeanwhileError,
    DamagedFileError,
    DiskFullError,
    LockedError,
    StorageError,
    UsageError,
    shown_value,
)

ENTITIES: Final[tuple[Entity, ...]] = get_args(Entity)


def new_id() -> str:
    """Return a UUID."""
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True)
class Reading:
    """One unchanging look at the store."""

    connection: Connection
    kinds: Mapping[Entity, EntityKind]

    def stream(self, entity: Entity, subject: str) -> list[Event]:
        """Return the events of one subject, oldest first; none where it is unknown."""
        found = self.connection.execute(
            select(events)
            .where(events.c.entity == entity, events.c.subject == subject)
            .order_by(events.c.seq)
        )
        return [_event(row) for row in found.mappings()]

    def streams(self, entity: Entity) -> dict[str, list[Event]]:
        """Return the events of every subject of one kind, by subject."""
        found = self.connection.execute(
            select(events).where(events.c.entity == entity).order_by(events.c.seq)
        )
        by_subject: dict[str, list[Event]] = {}
        for row in found.mappings():
            by_subject.setdefault(row["subject"], []).append(_event(row))
        return by_subject

    def all_events(self) -> Iterator[Event]:
        """Yield every event, oldest first."""
        for row in self.connection.execute(select(events).order_by(events.c.seq)).mappings():
            yield _event(row)

    def caused_by(self, extraction_id: str) -> list[Event]:
        """Return what an extraction did, oldest first."""
        found = self.connection.execute(
            select(events).where(events.c.cause == extraction_id).order_by(events.c.seq)
        )
        return [_event(row) for row in found.mappings()]

    def head(self) -> int:
        """Return the place of the newest event; 0 where there is none."""
        found: int = self.connection.execute(
            text("SELECT coalesce(max(seq), 0) FROM events")
        ).scalar_one()
        return found

    def rows(self, table: Table, **equal: Any) -> list[dict[str, Any]]:
        """Return the rows of a projection whose columns have the given values, by its key."""
        query = select(table).order_by(*table.primary_key.columns)
        for column, value in equal.items():
            query = query.where(table.c[column] == value)
        return [dict(row) for row in self.connection.execute(query).mappings()]

    def require_version(
        self, entity: Entity, subject: str, what: str, seen: int | None
    ) -> list[Event]:
        """Return the events of a subject, unless it has changed since somebody saw it.

        Args:
            what: how a person calls it, for the message.
            seen: the version that the person saw, 0 where there was none yet; None for whatever
                stands there.

        Raises:
            UsageError: there is no such subject.
            ChangedMeanwhileError: it has changed since; the text says what, by whom and when.
        """
        stream = self.stream(entity, subject)
        if not stream:
            raise UsageError(f"there is no {what} '{subject}' in this laboratory.")
        if seen is not None and seen != len(stream):
            raise ChangedMeanwhileError(self._what_changed(entity, what, stream, seen))
        return stream

    def _what_changed(self, entity: Entity, what: str, stream: list[Event], seen: int) -> str:
        last = stream[-1]
        told = f"{what} '{last.subject}' is at version {len(stream)}, and you have seen {seen}"
        if not 0 <= seen < len(stream):
            return f"{told}. Look at it again, then make your change."
        shown = self.kinds[entity].shown
        before, after = shown(stream[:seen]) if seen else {}, shown(stream)
        changed = [
            f"{key}: {shown_value(before[key])} → {shown_value(value)}"
            if key in before
            else f"{key}: {shown_value(value)}"
            for key, value in after.items()
            if before.get(key) != value and (key in before or value not in ("", [], {}))
        ]
        said = "; ".join(changed) or "what it says is as you saw it"
        return (
            f"{told}. Meanwhile: {said} (last: {last.kind} by {last.by}, {last.at}). "
            "Nothing was written: look at it again, then make your change."
        )


@dataclass(frozen=True, slots=True)
class Writing(Reading):
    """A transaction: all that is appended in it holds, or none of it.

    Args:
        at: now, ISO 8601 with zone; `by` who writes.
    """

    at: str
    by: str

    def append(self, draft: Draft) -> Event:
        """Write an event, and the rows of its subject anew."""
        return self.restore(
            Event(
                seq=self.head() + 1, id=new_id(), at=self.at, by=self.by, entity=draft.entity,
                subject=draft.subject, kind=draft.kind, body=draft.body, cause=draft.cause,
            )
        )  # fmt: skip

    def restore(self, event: Event) -> Event:
        """Write an event as it was written elsewhere, and the rows of its subject anew."""
        self.connection.execute(insert(events).values(_row(event)))
        self.project(event.entity, event.subject, self.stream(event.entity, event.subject))
        return event

    def project(self, entity: Entity, subject: str, stream: Sequence[Event]) -> None:
        """Put the rows of one subject in place of those that were there."""
        folded = self.kinds[entity].rows(subject, stream)
        for table, owner in OWNERS.items():
            if table.name in folded:
                self.connection.execute(delete(table).where(table.c[owner] == subject))
                if folded[table.name]:
                    self.connection.execute(insert(table), [dict(r) for r in folded[table.name]])


class Store:
    """A laboratory's memory.

    Args:
        path: of its SQLite file; made with its folder where it is missing.
        kinds: how each kind of subject is folded.
    """

    def __init__(self, path: Path, kinds: Sequence[EntityKind]) -> None:
        self.path = path
        self.kinds: dict[Entity, EntityKind] = {kind.entity: kind for kind in kinds}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = engine_of(path)
        self._prepare()

    def _prepare(self) -> None:
        wanted = f"{HEAD}:{projections_digest()}"
        with self._trouble(), self._engine.connect() as connection, connection.begin():
            if current_revision(connection) == HEAD and _projected(connection) == wanted:
                return
        with self.writing("", "") as writing:
            if (
                current_revision(writing.connection) == HEAD
                and _projected(writing.connection) == wanted
            ):
                return  # another process was faster
            upgrade(writing.connection, self.path)
            self._fold(writing)
            writing.connection.execute(text("DROP TABLE IF EXISTS projected"))
            writing.connection.execute(text("CREATE TABLE projected (digest TEXT NOT NULL)"))
            writing.connection.execute(text("INSERT INTO projected VALUES (:d)"), {"d": wanted})

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Look at the store as it is now, whatever is written meanwhile."""
        with self._trouble(), self._engine.connect() as connection, connection.begin():
            yield Reading(connection, self.kinds)

    @contextmanager
    def writing(self, at: str, by: str) -> Iterator[Writing]:
        """Write to the store; waits for whoever writes before.

        Args:
            at: now, ISO 8601 with zone.
            by: who.

        Raises:
            LockedError: another process has been writing for minutes.
        """
        with (
            self._trouble(),
            self._engine.connect().execution_options(**{WRITES: True}) as connection,
            connection.begin(),
        ):
            yield Writing(connection, self.kinds, at, by)

    def close(self) -> None:
        """Close the file; the store opens it again where it is used again."""
        self._engine.dispose()

    def fold_anew(self) -> None:
        """Drop all projections and fold them out of the events again."""
        with self.writing("", "") as writing:
            self._fold(writing)

    def _fold(self, writing: Writing) -> None:
        recreate_projections(writing.connection)
        for entity in ENTITIES:
            for subject, stream in writing.streams(entity).items():
                writing.project(entity, subject, stream)

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        """Say in our words what SQLite cannot do."""
        try:
            yield
        except OperationalError as error:
            if "locked" in str(error.orig):
                raise LockedError(
                    f"{self.path}: another process has been writing for minutes. Let it end, or "
                    "end it, then do this again."
                ) from error
            if "disk is full" in str(error.orig):
                raise DiskFullError(
                    f"{self.path}: there is no room left to write to it."
                ) from error
            raise StorageError(
                f"{self.path}: SQLite cannot work with it ({error.orig}). Nothing was written."
            ) from error
        except IntegrityError as error:
            raise UsageError(
                f"{self.path}: what was to be written refers to what is not there, or stands "
                f"twice ({error.orig}). Nothing was written."
            ) from error
        except DatabaseError as error:
            raise DamagedFileError(
                f"{self.path}: this is no store that SQLite can read ({error.orig}). Take it back "
                "from a backup, or import an export into a new laboratory."
            ) from error


def _projected(connection: Connection) -> str | None:
    from sqlalchemy import inspect

    if not inspect(connection).has_table("projected"):
        return None
    return cast("str | None", connection.execute(text("SELECT digest FROM projected")).scalar())


def _event(row: Mapping[Any, Any]) -> Event:
    return Event(**{name: row[name] for name in _COLUMNS})


def _row(event: Event) -> dict[str, Any]:
    # As JSON gives it back, so that what is read equals what was written.
    try:
        body = json.loads(json.dumps(dict(event.body), allow_nan=False))
    except ValueError as error:
        raise UsageError(
            f"{event.entity} '{event.subject}' holds a value that JSON does not know ({error}). "
            "Nothing was written."
        ) from error
    return {name: getattr(event, name) for name in _COLUMNS} | {"body": body}


_COLUMNS = ("seq", "id", "at", "by", "entity", "subject", "kind", "body", "cause")
