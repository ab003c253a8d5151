"""Files on disk: written whole, locked per namespace, checked when read."""

from rag_assets.storage.atomic import (
    TEMPORARY_PREFIX,
    explained_errors,
    replace_file,
    sync_folder,
    temporary_name,
    write_bytes,
    write_text,
)
from rag_assets.storage.locks import Notify, hold_lock, hold_locks
from rag_assets.storage.records import (
    Computed,
    Entry,
    Refreshed,
    kept_tables,
    live_digest,
    load_entries_or_mend,
    prune_record,
    read_entries,
    read_rows,
    refresh_record,
    write_record,
)

__all__ = [
    "TEMPORARY_PREFIX",
    "Computed",
    "Entry",
    "Notify",
    "Refreshed",
    "explained_errors",
    "hold_lock",
    "hold_locks",
    "kept_tables",
    "live_digest",
    "load_entries_or_mend",
    "prune_record",
    "read_entries",
    "read_rows",
    "refresh_record",
    "replace_file",
    "sync_folder",
    "temporary_name",
    "write_bytes",
    "write_record",
    "write_text",
]
