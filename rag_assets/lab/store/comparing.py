"""Whether the tables of a store still are what its events make."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Table

from rag_assets.lab.store.store import ENTITIES, Reading, Store
from rag_assets.lab.store.tables import OWNERS
from rag_assets.model import shown_value

_Rows = Mapping[str, Mapping[str, Any]]


def altered_rows(store: Store) -> Iterator[str]:
    """Yield a sentence for each row that is missing, too many or other than the events make it.

    The program writes both in one transaction: what is found here was written by something else,
    or by a fault of ours.
    """
    with store.reading() as reading:
        wanted = _fold(reading)
        for table, rows in projections(reading):
            keys = [column.name for column in table.primary_key.columns]
            found = {_key(row, keys): row for row in rows}
            told = {_key(row, keys): row for row in wanted.get(table.name, ())}
            yield from _differences(table.name, told, found)


def projections(reading: Reading) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """Yield every table that is folded out of the events, with its rows."""
    for table in OWNERS:
        yield table, reading.rows(table)


def _fold(reading: Reading) -> dict[str, list[Mapping[str, Any]]]:
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for entity in ENTITIES:
        for subject, stream in reading.streams(entity).items():
            for name, folded in reading.kinds[entity].rows(subject, stream).items():
                rows.setdefault(name, []).extend(folded)
    return rows


def _key(row: Mapping[str, Any], keys: list[str]) -> str:
    return " ".join(str(row[name]) for name in keys)


def _differences(table: str, told: _Rows, found: _Rows) -> Iterator[str]:
    for key in sorted(told.keys() | found.keys()):
        if key not in found:
            yield f"the table '{table}' lacks '{key}', which events made. {_MEND}"
        elif key not in told:
            yield f"the table '{table}' holds '{key}', which no event made. {_MEND}"
        else:
            for name, value in told[key].items():
                if _plain(found[key][name]) != _plain(value):
                    yield (
                        f"the table '{table}' says of '{key}' that its {name} is "
                        f"{shown_value(found[key][name])}; by its events it is "
                        f"{shown_value(value)}. {_MEND}"
                    )


def _plain(value: Any) -> str:
    # As JSON keeps it: a tuple is a list there.
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


_MEND = (
    "Events are the truth: `rag lab export`, put meta/lab away, `rag lab init`, then `rag lab "
    "import` makes the tables of them again."
)
