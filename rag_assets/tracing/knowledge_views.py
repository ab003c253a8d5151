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
from rag_assets.tracing.querying import open_sql
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

_SOURCES = """
    SELECT source_key, namespace, source_id, name,
        CASE
            WHEN coalesce(
                metadata->>'$.metadata.source_info_auto.kind',
                metadata->>'$.metadata.source_info.kind'
            ) = 'content' THEN 'text'
            WHEN regexp_matches(source_uri, '^https?:', 'i') THEN 'url'
            ELSE 'file'
        END AS source_type,
        source_uri, to_json(tags) AS tags,
        json_merge_patch(
            metadata::JSON,
            json_object('raw', json_object(
                'file', file, 'doc_uid', doc_uid, 'status', status,
                'source_type', source_type, 'source_subtype', source_subtype
            ))
        ) AS metadata,
        created_at, updated_at, NULL::FLOAT[] AS vector
    FROM sources
"""

# A document that is drafted stands in the library as it was, and beside it as a draft.
_DOCS = """
    WITH held AS (
        SELECT * FROM documents UNION ALL BY NAME SELECT * FROM archived_documents
    ), shown AS (
        SELECT * FROM held
        UNION ALL BY NAME
        SELECT held.* REPLACE (
                drafts.namespace || '::' || drafts.doc_uid || ':draft' AS doc_key,
                drafts.namespace AS namespace, drafts.doc_uid AS doc_uid, 'draft' AS status,
                drafts.begun_at::TIMESTAMP AS created_at, drafts.changed_at::TIMESTAMP AS updated_at
            ),
            json_object('revision', drafts.revision, 'by', drafts.changed_by) AS draft
        FROM drafts LEFT JOIN held
            ON held.namespace = drafts.namespace AND held.doc_uid = drafts.doc_uid
        WHERE drafts.status = 'draft'
    ), attached AS (
        SELECT namespace, doc_uid, list_sort(list_distinct(flatten(list(attachment_ids)))) AS ids
        FROM chunks GROUP BY ALL
    )
    SELECT doc_key, namespace, doc_id, source_id, source_uri, title, version, status, language,
        content_hash, content_ref, to_json(tags) AS tags,
        json_merge_patch(
            coalesce(shown.metadata, '{}')::JSON,
            json_object(
                'doc_uid', doc_uid, 'attachments', coalesce(attached.ids, []), 'draft', draft
            )
        ) AS metadata,
        created_at, updated_at, NULL::FLOAT[] AS vector
    FROM shown LEFT JOIN attached USING (namespace, doc_uid)
"""

_SPAN = """[{{'page': {page}, 'start_offset': {start}, 'end_offset': {end}}}]"""
_CHUNKS = f"""
    SELECT chunks.chunk_key, chunks.namespace, chunks.chunk_id, chunks.doc_id, chunks.source_id,
        chunks.doc_title, coalesce(chunks.edited, chunks.text) AS content, chunks.token_count,
        chunks.chunk_index, chunks.section_path, chunks.version, chunks.status, chunks.chunk_type,
        chunks.parent_id, chunks.content_hash,
        json_merge_patch(
            coalesce(chunks.metadata, '{{}}')::JSON,
            json_object(
                'source_spans', {
    _SPAN.format(page="chunks.page_start", start="chunks.char_start", end="chunks.char_end")
},
                'chunk_config', cutting.chunk_config, 'attachments_ref', chunks.attachment_ids,
                'doc_uid', chunks.doc_uid, 'citation_id', chunks.citation_id, 'kind', chunks.kind,
                'printed', CASE WHEN chunks.edited IS NOT NULL THEN chunks.text END
            )
        ) AS metadata,
        to_json(vectors.sparse_vector) AS sparse_vector, chunks.created_at, chunks.updated_at,
        CASE WHEN list_inner_product(vectors.vector, vectors.vector) > 0 THEN vectors.vector END
            AS vector
    FROM chunks
        LEFT JOIN chunk_vectors AS vectors USING (chunk_key)
        LEFT JOIN chunk_settings AS cutting ON cutting.namespace = chunks.namespace
    UNION ALL
    SELECT parents.namespace || '::' || parents.parent_id, parents.namespace, parents.parent_id,
        held.doc_id, held.source_id, held.title, parents.text, NULL, parents."order",
        parents.section_path, held.version, held.status, 'parent', NULL, parents.hash,
        json_merge_patch(
            '{{}}'::JSON,
            json_object(
                'source_spans', {
    _SPAN.format(page="parents.page_start", start="parents.char_start", end="parents.char_end")
},
                'chunk_config', cutting.chunk_config, 'doc_uid', parents.doc_uid
            )
        ),
        NULL, held.created_at, held.updated_at, NULL
    FROM parents
        JOIN documents AS held USING (namespace, doc_uid)
        LEFT JOIN chunk_settings AS cutting ON cutting.namespace = parents.namespace
    UNION ALL
    SELECT namespace || '::' || doc_uid || ':draft:' || chunk_index, namespace,
        doc_uid || ':draft:' || chunk_index, held.doc_id, held.source_id, held.title, content, NULL,
        chunk_index, NULL, held.version, 'draft', 'child', doc_uid || ':' || parent_label,
        drafted.content_hash,
        json_merge_patch(
            '{{}}'::JSON,
            json_object(
                'source_spans', {_SPAN.format(page="page", start="char_start", end="char_end")},
                'doc_uid', doc_uid, 'draft_key', draft_key, 'enabled', is_enabled,
                'printed', CASE WHEN content <> printed THEN printed END
            )
        ),
        NULL, drafts.begun_at::TIMESTAMP, drafts.changed_at::TIMESTAMP, NULL
    FROM drafted_chunks AS drafted
        JOIN drafts USING (namespace, doc_uid)
        LEFT JOIN (
            SELECT * FROM documents UNION ALL BY NAME SELECT * FROM archived_documents
        ) AS held USING (namespace, doc_uid)
"""
_VIEWS = dict(zip(KNOWLEDGE_VIEWS, (_SOURCES, _DOCS, _CHUNKS), strict=True))


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
    for name, query in _VIEWS.items():
        connection.execute(f"CREATE VIEW {name} AS {query}")


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
