"""A laboratory as lines of JSON: one event a line, oldest first. They make it again."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from typing import Any, get_args

from rag_assets.lab.store.events import Entity, Event
from rag_assets.lab.store.store import Store
from rag_assets.model import UsageError

_FIELDS = frozenset(field.name for field in fields(Event))
_ENTITIES = frozenset(get_args(Entity))


def export_events(store: Store) -> Iterator[str]:
    """Yield the events of a store, a line of JSON each, without its end of line."""
    with store.reading() as reading:
        for event in reading.all_events():
            yield json.dumps(asdict(event), ensure_ascii=False, sort_keys=True)


def import_events(store: Store, lines: Iterable[str]) -> int:
    """Put exported events into an empty store, all of them or none; return how many.

    Raises:
        UsageError: the store is not empty, or a line is no event; the text names it.
    """
    with store.writing("", "") as writing:
        if writing.head():
            raise UsageError(
                f"{store.path}: this laboratory has {writing.head()} events already; an export is "
                "imported into an empty one, so that nobody's events are mixed with others'."
            )
        count = 0
        for number, line in enumerate(lines, 1):
            if line.strip():
                event = _read(line, number, count + 1)
                try:
                    writing.restore(event)
                except (KeyError, TypeError, ValueError) as error:
                    if isinstance(error, UsageError):
                        raise
                    raise UsageError(
                        f"line {number}: the event '{event.kind}' of {event.entity} "
                        f"'{event.subject}' does not follow from those before ({error}). Nothing "
                        "was imported."
                    ) from error
                count += 1
    return count


def _read(line: str, number: int, seq: int) -> Event:
    try:
        values: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(f"line {number} is not JSON ({error}). Nothing was imported.") from error
    if not isinstance(values, dict) or set(values) != _FIELDS:
        wanted = ", ".join(sorted(_FIELDS))
        raise UsageError(
            f"line {number} is no event: it must have exactly {wanted}. Nothing was imported."
        )
    if values["seq"] != seq or values["entity"] not in _ENTITIES:
        raise UsageError(
            f"line {number} is not the next event: 'seq' must be {seq} and 'entity' one of "
            f"{', '.join(sorted(_ENTITIES))}, got {values['seq']} and '{values['entity']}'. "
            "Nothing was imported."
        )
    return Event(**values)
