"""Tables over the files that runs leave behind: records, publications, journals, version log.

Each is read as it stands on disk; where there are no files yet the table is empty.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.publishing.catalogue import (
    catalogue_errors_explained,
    catalogue_name,
    file_column,
    quote_identifier,
    quote_literal,
)
from rag_assets.stages import recorded
from rag_assets.storage import (
    MANIFEST,
    Listed,
    LocalStore,
    list_publications,
    match_keys,
    read_pointer,
)
from rag_assets.workspace import Namespace, Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# DuckDB refuses a larger JSON document unless it is told; its own default.
_JSON_BYTES = 16 * 1024 * 1024

_SIGNED = "run_id VARCHAR, code_version VARCHAR, config_hash VARCHAR, tool_version VARCHAR"
# What a publication's catalogue must have to be traced through; all since the first have.
_TRACED = {
    "documents": "doc_uid, doc_id, title, content_hash, content_ref, source_uri, citable",
    "parents": "parent_id, label, hash, page_start, page_end",
    "chunks": "chunk_id, doc_uid, parent_id, citation_id, content_hash, input_hash, char_start, "
    "char_end, page_start, page_end, section_path",
    "parse_reports": "content_hash, parser, parser_version, media_type, pages, characters",
    "sources": "content_hash, file, source_type, status",
}


def create_stored_tables(
    connection: "DuckDBPyConnection",
    workspace: Workspace,
    names: Sequence[str],
    publication: str | None = None,
) -> None:
    """Add `stages`, `publications`, `bindings`, `versions` and the `standing_…` views.

    `standing_documents`, `standing_chunks` … hold the rows of every publication that stands, not
    only of the one that readers see, with `publication` and `is_current` before them.

    Args:
        names: of the namespaces to look at; nothing of another is opened.
        publication: only this one, where it is given.

    Raises:
        DamagedFileError: the catalogue of a publication cannot be read.
    """
    namespaces = [workspace.namespace(name) for name in names]
    standing = [
        (each, name)
        for each in namespaces
        for name in _standing(each)
        if publication in {None, name}
    ]
    _create_stages(connection, workspace, namespaces)
    _create_publications(connection, workspace, standing)
    _create_bindings(connection, workspace, namespaces)
    _create_versions(connection, workspace)
    _create_standing(connection, standing)


def read_named_rows(
    connection: "DuckDBPyConnection", query: str, values: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a query, each by its columns' names."""
    result = connection.execute(query, dict(values) if values else None)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def load_table(connection: "DuckDBPyConnection", name: str, columns: str, query: str) -> None:
    """Create a table from a query over files, so that nothing has to be read later.

    Where a file is not what it should be, the table says so when it is asked, and no other.

    Args:
        columns: `name TYPE, …` of what stands there where the query fails.
    """
    import duckdb

    try:
        connection.execute(f"CREATE TABLE {name} AS {query}")
    except duckdb.InvalidInputException as error:
        said = str(error).partition("\n")[0]
        typed = ", ".join(
            f"CAST(said AS {kind}) AS {column}"
            for column, kind in (part.split(" ", 1) for part in columns.split(", "))
        )
        # Asked for no column, it is to fail too: hence the condition.
        connection.execute(
            f"CREATE VIEW {name} AS SELECT {typed} FROM "
            f"(SELECT error({quote_literal(said)}) AS said) WHERE said IS NOT NULL"
        )


def path_list(paths: Iterable[Path]) -> str:
    """Return paths as an SQL list."""
    return f"[{', '.join(quote_literal(str(path)) for path in paths)}]"


def json_files(
    store: LocalStore, files: Iterable[Listed], columns: str, *, lines: bool = False
) -> str:
    """Return the table function that reads JSON files with the columns named, and no others.

    A key that a file does not have is null, one that is not asked for is passed over: files of
    older versions are read beside new ones.

    Args:
        columns: `name TYPE, …`.
        lines: one document a line; else one a file.
    """
    found = sorted(files, key=lambda each: each.key)
    typed = ", ".join(
        f"{quote_identifier(name)}: {quote_literal(kind)}"
        for name, kind in (part.split(" ", 1) for part in columns.split(", "))
    )
    most = max(_JSON_BYTES, *(each.size + 1 for each in found))
    form = "newline_delimited" if lines else "unstructured"
    paths = path_list(store.place(each.key) for each in found)
    return (
        f"read_json({paths}, columns = {{{typed}}}, filename = true, format = '{form}', "
        f"maximum_object_size = {most}, ignore_errors = {str(lines).lower()})"
    )


def _create_stages(
    connection: "DuckDBPyConnection", workspace: Workspace, namespaces: Sequence[Namespace]
) -> None:
    store, key_of = workspace.store, workspace.key_of
    paths = [
        store.place(record.key)
        for each in namespaces
        for stage in recorded()
        for record in match_keys(store, f"{key_of(each.records)}/{stage}/*.parquet")
    ]
    if not paths:
        connection.execute(
            "CREATE TABLE stages (namespace VARCHAR, stage VARCHAR, partition VARCHAR, "
            "content_hash VARCHAR, fingerprint VARCHAR, digest VARCHAR, computed_at VARCHAR, "
            f"{_SIGNED})"
        )
        return
    connection.execute(f"""
        CREATE TABLE stages AS
        WITH records AS (
            SELECT string_split(file_name, '/')[-3:] AS place,
                unnest(map_entries(from_json(decode(value), '"MAP(VARCHAR, JSON)"'))) AS entry
            FROM parquet_kv_metadata({path_list(paths)}) WHERE decode(key) = 'rag_record'
        )
        SELECT place[1] AS namespace, place[2] AS stage,
            replace(place[3], '.parquet', '') AS partition, entry.key AS content_hash,
            entry.value->>'$.fingerprint' AS fingerprint, entry.value->>'$.digest' AS digest,
            entry.value->>'$.note.made_by.at' AS computed_at,
            entry.value->>'$.note.made_by.run_id' AS run_id,
            entry.value->>'$.note.made_by.code_version' AS code_version,
            entry.value->>'$.note.made_by.config_hash' AS config_hash,
            entry.value->>'$.note.made_by.tool_version' AS tool_version
        FROM records
    """)


def _create_publications(
    connection: "DuckDBPyConnection",
    workspace: Workspace,
    standing: Sequence[tuple[Namespace, str]],
) -> None:
    store, key_of = workspace.store, workspace.key_of
    paths = [each.publications / publication / MANIFEST for each, publication in standing]
    manifests = [found for path in paths if (found := store.find(key_of(path)))]
    connection.execute(
        "CREATE TABLE publications (namespace VARCHAR, publication VARCHAR, is_current BOOLEAN, "
        "created_at TIMESTAMP, inventory_digest VARCHAR, chunks BIGINT, "
        f"{_SIGNED})"
    )
    if not manifests:
        return
    columns = (
        "namespace VARCHAR, publication VARCHAR, created_at DOUBLE, inventory_digest VARCHAR, "
        "counts JSON, config_hash VARCHAR, tool_version VARCHAR, made_by JSON"
    )
    current = {
        f"({quote_literal(each.name)}, {quote_literal(pointer.current)})"
        for each, _ in standing
        if (pointer := read_pointer(each.publications))
    }
    connection.execute(f"""
        INSERT INTO publications
        SELECT namespace, publication, (namespace, publication) IN ({", ".join(sorted(current))}),
            make_timestamp((created_at * 1000000)::BIGINT), inventory_digest,
            (counts->>'chunks')::BIGINT, made_by->>'run_id', made_by->>'code_version',
            coalesce(config_hash, made_by->>'config_hash'), tool_version
        FROM {json_files(store, manifests, columns)}
    """)


def _create_bindings(
    connection: "DuckDBPyConnection", workspace: Workspace, namespaces: Sequence[Namespace]
) -> None:
    store, key_of = workspace.store, workspace.key_of
    journals = [found for each in namespaces if (found := store.find(key_of(each.journal)))]
    written = [found for found in journals if found.size]
    if not written:
        connection.execute(
            "CREATE TABLE bindings (namespace VARCHAR, content_hash VARCHAR, path VARCHAR, "
            "doc_uid VARCHAR, bound_at VARCHAR)"
        )
        return
    columns = "event VARCHAR, content_hash VARCHAR, path VARCHAR, doc_uid VARCHAR, at VARCHAR"
    connection.execute(f"""
        CREATE TABLE bindings AS
        SELECT regexp_extract(filename, '([^/]+)\\.jsonl$', 1) AS namespace, content_hash, path,
            doc_uid, "at" AS bound_at
        FROM {json_files(store, written, columns, lines=True)} WHERE event IN ('bind', 'pin')
    """)


def _create_versions(connection: "DuckDBPyConnection", workspace: Workspace) -> None:
    log = workspace.store.find("meta/version_log.jsonl")
    if log is None or not log.size:
        connection.execute(
            f"CREATE TABLE versions (file VARCHAR, made_at VARCHAR, reason VARCHAR, {_SIGNED})"
        )
        return
    columns = "file VARCHAR, timestamp VARCHAR, reason VARCHAR, made_by JSON"
    connection.execute(f"""
        CREATE TABLE versions AS
        SELECT file, "timestamp" AS made_at, reason, made_by->>'run_id' AS run_id,
            made_by->>'code_version' AS code_version,
            made_by->>'config_hash' AS config_hash, made_by->>'tool_version' AS tool_version
        FROM {json_files(workspace.store, [log], columns, lines=True)} WHERE file IS NOT NULL
    """)


def _standing(namespace: Namespace) -> list[str]:
    """Return the name of every publication of a namespace that stands whole."""
    folder, workspace = namespace.publications, namespace.workspace
    return [
        name
        for name in list_publications(folder)
        if workspace.store.find(workspace.key_of(folder / name / catalogue_name(name)))
    ]


def _create_standing(
    connection: "DuckDBPyConnection", standing: Sequence[tuple[Namespace, str]]
) -> None:
    parts: dict[str, list[str]] = {table: [] for table in _TRACED}
    # DuckDB opens a file once: the publications that readers see are attached already.
    attached = dict(
        connection.execute("SELECT path, database_name FROM duckdb_databases()").fetchall()
    )
    for namespace, publication in standing:
        path = str(namespace.publications / publication / catalogue_name(publication))
        alias = quote_identifier(attached.get(path, f"{namespace.name}@{publication}"))
        pointer = read_pointer(namespace.publications)
        is_current = pointer is not None and pointer.current == publication
        mend = f"Delete the folder {publication}: readers do not see it any more."
        with catalogue_errors_explained(Path(path), mend):
            if path not in attached:
                connection.execute(f"ATTACH {quote_literal(path)} AS {alias} (READ_ONLY)")
        place = file_column(connection, attached.get(path, f"{namespace.name}@{publication}"))
        for table, names in _TRACED.items():
            columns = names.replace(" file,", f" {place} AS file,")
            parts[table].append(
                f"SELECT {quote_literal(publication)} AS publication, {is_current} AS is_current, "
                f"{quote_literal(namespace.name)} AS namespace, {columns} FROM {alias}.main.{table}"
            )
    for table, columns in _TRACED.items():
        empty = (
            f"SELECT '' AS publication, false AS is_current, namespace, {columns} FROM {table} "
            "WHERE false"
        )
        union = " UNION ALL ".join(parts[table] or [empty])
        connection.execute(f"CREATE VIEW standing_{table} AS {union}")
