"""The laboratory: runs with their recipes, what experiments gave, what was learned of them.

A run's record is `Run`; whoever makes runs stores them with `record_run` inside a transaction:

    lab = open_laboratory(workspace)
    with lab.store.writing(at=now, by="program") as writing:
        record_run(writing, Run(id=…, kind="model", state="done", …))
"""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.lab.store import (
        PROGRAM,
        Draft,
        Dropped,
        Event,
        Ground,
        Modifier,
        Reading,
        Recipe,
        Run,
        Store,
        Writing,
        list_runs,
        new_id,
        parse_run,
        read_run,
        record_run,
    )

__all__ = [
    "PROGRAM",
    "Draft",
    "Dropped",
    "Event",
    "Ground",
    "Modifier",
    "Reading",
    "Recipe",
    "Run",
    "Store",
    "Writing",
    "list_runs",
    "new_id",
    "parse_run",
    "read_run",
    "record_run",
]

_HOMES = {
    "store": (
        "PROGRAM", "Draft", "Dropped", "Event", "Ground", "Modifier", "Reading", "Recipe", "Run",
        "Store", "Writing", "list_runs", "new_id", "parse_run", "read_run", "record_run",
    ),
}  # fmt: skip

# Imported on first use: a workspace without a laboratory loads none of it.
__getattr__ = lazy_names(__name__, {name: home for home, names in _HOMES.items() for name in names})
