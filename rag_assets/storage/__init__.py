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

__all__ = [
    "TEMPORARY_PREFIX",
    "explained_errors",
    "replace_file",
    "sync_folder",
    "temporary_name",
    "write_bytes",
    "write_text",
]
