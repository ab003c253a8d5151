"""The laboratory's memory: an append-only table of events, and what is folded out of it."""

from rag_assets.lab.store.comparing import altered_rows, projections
from rag_assets.lab.store.events import PROGRAM, Draft, EntityKind, Event, Rows
from rag_assets.lab.store.exchange import export_events, import_events
from rag_assets.lab.store.runs import (
    RUNS,
    Dropped,
    Ground,
    Modifier,
    Recipe,
    Run,
    Support,
    list_runs,
    parse_run,
    read_run,
    record_run,
)
from rag_assets.lab.store.store import Reading, Store, Writing, new_id

__all__ = [
    "PROGRAM",
    "RUNS",
    "Draft",
    "Dropped",
    "EntityKind",
    "Event",
    "Ground",
    "Modifier",
    "Reading",
    "Recipe",
    "Rows",
    "Run",
    "Store",
    "Support",
    "Writing",
    "altered_rows",
    "export_events",
    "import_events",
    "list_runs",
    "new_id",
    "parse_run",
    "projections",
    "read_run",
    "record_run",
]
