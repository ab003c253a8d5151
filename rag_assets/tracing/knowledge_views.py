"""The three tables of spec 001 under its own names, as views over what is published and drafted.

`knowledge_sources`, `knowledge_docs` and `knowledge_chunks` hold nothing of their own: their rows
are those of the catalogues, of the journals of drafts and of the search tables, from which vectors
are read only by a statement that names them. A row's key is `namespace::id`. Rows of a draft have
`:draft` in it, since what is published stays beside them.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rag_assets.chunking.editing import read_histories
from rag_assets.model import UsageError, hash_text
from rag_assets.publishing import PublishedVectors
from rag_assets.publishing.catalogue import quote_identifier
from rag_assets.storage import explained_errors, read_manifest, temporary_name
from rag_assets.tracing.querying import open_sql, sql
from rag_assets.workspace import Namespace, Workspace, require_free_place

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
KNOWLEDGE_VIEWS = ("knowledge_sources", "knowledge_docs", "knowledge_chunks")

_DRAFTED = pa.schema(
    [
        ("namespace", pa.string()), ("doc_uid", pa.string()), ("chunk_index", pa.int64()),
        ("draft_key", pa.string()), ("content", pa.string()), ("printed", pa.string()),
        ("content_hash", pa.string()), ("parent_label", pa.string()), ("page", pa.int64()),
        ("char_start", pa.int64()), ("char_end", pa.int64()), ("is_enabled", pa.bool_()),
    ]
)  # fmt: skip


def create_knowledge_views(
    connection: "DuckDBPyConnection", published: Mapping[str, Path], drafted: Sequence[Namespace]
) -> None:
    """Add the three views to a connection that has the catalogues' views and `drafts`.

    Args:
        published: folder of the current publication by namespace.
        drafted: the namespaces whose open drafts are shown.
    """
    manifests = {name: read_manifest(folder) for name, folder in published.items()}
    _create_vectors(connection, published, manifests)
    connection.execute("CREATE TABLE chunk_settings (namespace VARCHAR, chunk_config JSON)")
    for name, manifest in manifests.items():
        # Publications of older versions do not say it, nor do those of chunks cut otherwise.
        if manifest.get("chunk_config") is not None:
            connection.execute(
                "INSERT INTO chunk_settings VALUES (?, ?)",
                [name, json.dumps(manifest["chunk_config"])],
            )
    chunks = pa.Table.from_pylist(list(_drafted_chunks(drafted)), schema=_DRAFTED)
    connection.register("drafted_chunks", chunks)
    for name in KNOWLEDGE_VIEWS:
        connection.execute(f"CREATE VIEW {name} AS {sql(name)}")


def _create_vectors(
    connection: "DuckDBPyConnection",
    published: Mapping[str, Path],
    manifests: Mapping[str, Mapping[str, Any]],
) -> None:
    nothing = (
        "SELECT NULL::VARCHAR AS chunk_key, NULL::FLOAT[] AS vector, "
        "NULL::STRUCT(token INTEGER, weight FLOAT)[] AS sparse_vector WHERE false"
    )
    parts = [nothing]
    for name, folder in published.items():
        if "embedders" not in manifests[name]:  # of an older version
            continue
        table = PublishedVectors(folder, manifests[name])
        connection.register(f"vectors of {name}", table)
        # Models of two namespaces may give vectors of different lengths.
        vector = ", vector::FLOAT[] AS vector" if "vector" in table.schema.names else ""
        sparse = ", sparse_vector" if "sparse_vector" in table.schema.names else ""
        parts.append(
            f"SELECT chunk_key{vector}{sparse} FROM {quote_identifier(f'vectors of {name}')}"
        )
    connection.execute(f"CREATE VIEW chunk_vectors AS {' UNION ALL BY NAME '.join(parts)}")


def _drafted_chunks(namespaces: Sequence[Namespace]) -> Iterator[dict[str, Any]]:
    """Yield the chunks of every open draft, as they are now."""
    from rag_assets.chunking.editing import DraftEditor

    for namespace in namespaces:
        for uid, history in read_histories(namespace).items():
            if not history.is_open:
                continue
            try:
                draft = DraftEditor(namespace, uid, by="a reader").draft()
            except UsageError:  # gone, or not cut again yet: it has no chunks until it is
                continue
            for chunk in draft.chunks:
                yield {
                    "namespace": namespace.name,
                    "doc_uid": uid,
                    "chunk_index": chunk.order,
                    "draft_key": chunk.key,
                    "content": chunk.text,
                    "printed": chunk.printed,
                    "content_hash": hash_text(chunk.text),
                    "parent_label": chunk.parent_label,
                    "page": chunk.page,
                    "char_start": chunk.start,
                    "char_end": chunk.end,
                    "is_enabled": chunk.is_enabled,
                }


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
