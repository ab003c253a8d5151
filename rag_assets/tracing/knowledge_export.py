"""The three tables of spec 001 written as Lance tables, which LanceDB opens as they are."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from rag_assets.model import UsageError
from rag_assets.publishing.catalogue import quote_identifier
from rag_assets.storage import explained_errors, temporary_name
from rag_assets.tracing.knowledge_views import KNOWLEDGE_VIEWS
from rag_assets.tracing.querying import open_sql
from rag_assets.workspace import Workspace, require_free_place

_ROWS_AT_ONCE = 10_000


def export_knowledge(
    workspace: Workspace, folder: Path, names: Sequence[str] | None = None
) -> dict[str, int]:
    """Write `knowledge_sources`, `knowledge_docs` and `knowledge_chunks` as `rag sql` shows them.

    They are a copy of what is published and drafted now. `lancedb.connect(folder)` opens them;
    columns and rows are those of the views, JSON is text. Where all vectors are of one length
    `vector` is a column that LanceDB searches.

    Args:
        folder: new or empty; appears with all three tables or not at all.
        names: of the namespaces; None for all.

    Returns:
        Rows by table.

    Raises:
        UsageError: the folder holds something, or lies where the workspace keeps its own.
        PublicationError: nothing is published.
        StorageError: the disk is full or refuses a write.
    """
    import lance

    require_free_place(folder, workspace)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} holds something already. Name a folder that is new or empty.")
    made = folder.with_name(temporary_name())
    rows = {}
    with open_sql(workspace, names) as connection, explained_errors(folder):
        try:
            for view in KNOWLEDGE_VIEWS:
                found = connection.sql(f"SELECT * FROM {view}")
                kinds = dict(zip(found.columns, map(str, found.types), strict=True))
                plain = [
                    f"CAST({quote_identifier(name)} AS VARCHAR) AS {quote_identifier(name)}"
                    for name, kind in kinds.items()
                    if kind == "JSON"
                ]
                lengths = connection.execute(
                    f"SELECT DISTINCT len(vector) FROM {view} WHERE vector IS NOT NULL"
                ).fetchall()
                if len(lengths) == 1:
                    plain.append(f"CAST(vector AS FLOAT[{lengths[0][0]}]) AS vector")
                reader = connection.sql(
                    f"SELECT * REPLACE ({', '.join(plain)}) FROM {view}"
                ).to_arrow_reader(_ROWS_AT_ONCE)
                written = lance.write_dataset(reader, str(made / f"{view}.lance"))
                rows[view] = written.count_rows()
            if folder.exists():
                folder.rmdir()
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return rows
