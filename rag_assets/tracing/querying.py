"""SQL over everything: catalogues of all namespaces, packs, verdicts, claims, runs, lineage."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rag_assets.chunking.editing import read_histories
from rag_assets.model import PublicationError, UsageError
from rag_assets.publishing.catalogue import (
    attach_catalogues,
    catalogue_errors_explained,
    catalogue_name,
    file_column,
    quote_identifier,
    quote_literal,
    seal,
)
from rag_assets.storage import (
    MANIFEST,
    Listed,
    LocalStore,
    current_folder,
    list_publications,
    match_keys,
    read_pointer,
)
from rag_assets.workspace import Namespace, Workspace
from rag_assets.workspace.stages import recorded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
# DuckDB refuses a larger JSON document unless it is told; its own default.
_JSON_BYTES = 16 * 1024 * 1024

_MANIFEST_COLUMNS = (
    "namespace VARCHAR, publication VARCHAR, created_at DOUBLE, inventory_digest VARCHAR, "
    "counts JSON, config_hash VARCHAR, tool_version VARCHAR, made_by JSON"
)
_JOURNAL_COLUMNS = "event VARCHAR, content_hash VARCHAR, path VARCHAR, doc_uid VARCHAR, at VARCHAR"
_LOG_COLUMNS = "file VARCHAR, timestamp VARCHAR, reason VARCHAR, made_by JSON"
# What a publication's catalogue must have to be traced through; all since the first have.
_TRACED = {
    "documents": "doc_uid, doc_id, title, content_hash, content_ref, source_uri, citable",
    "parents": "parent_id, label, hash, page_start, page_end",
    "chunks": "chunk_id, doc_uid, parent_id, citation_id, content_hash, input_hash, char_start, "
    "char_end, page_start, page_end, section_path",
    "parse_reports": "content_hash, parser, parser_version, media_type, pages, characters",
    "sources": "content_hash, file, source_type, status",
}


@cache
def _sections() -> dict[str, str]:
    text = Path(__file__).with_name("views.sql").read_text(encoding="utf-8")
    found = re.split(r"^-- :(\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def sql(section: str, **values: str) -> str:
    """Return a section of views.sql with `values` in place of the words in braces."""
    text = _sections()[section]
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


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
    connection.execute(sql("stored_tables"))
    store, key_of = workspace.store, workspace.key_of
    records = [
        store.place(record.key)
        for each in namespaces
        for stage in recorded()
        for record in match_keys(store, f"{key_of(each.records)}/{stage}/*.parquet")
    ]
    if records:
        connection.execute(sql("stages", paths=path_list(records)))
    places = [each.publications / name / MANIFEST for each, name in standing]
    if manifests := [found for place in places if (found := store.find(key_of(place)))]:
        current = {
            f"({quote_literal(each.name)}, {quote_literal(pointer.current)})"
            for each, _ in standing
            if (pointer := read_pointer(each.publications))
        }
        files = json_files(store, manifests, _MANIFEST_COLUMNS)
        connection.execute(sql("publications", files=files, current=", ".join(sorted(current))))
    journals = [found for each in namespaces if (found := store.find(key_of(each.journal)))]
    if written := [found for found in journals if found.size]:
        files = json_files(store, written, _JOURNAL_COLUMNS, lines=True)
        connection.execute(sql("bindings", files=files))
    log = store.find("meta/version_log.jsonl")
    if log is not None and log.size:
        files = json_files(store, [log], _LOG_COLUMNS, lines=True)
        connection.execute(sql("versions", files=files))
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


# By the types that the store declares; JSON comes as text and becomes JSON again.
_TYPES = {
    "INTEGER": pa.int64(), "REAL": pa.float64(), "BOOLEAN": pa.bool_(), "TEXT": pa.string(),
    "JSON": pa.string(),
}  # fmt: skip


def create_laboratory_tables(connection: "DuckDBPyConnection", workspace: Workspace) -> None:
    """Add the tables of a workspace's laboratory, as they are now; none where it has none."""
    if workspace.settings.lab is None:
        return
    from rag_assets.lab.laboratory import lab_file, open_laboratory
    from rag_assets.lab.store import TABLES

    if not lab_file(workspace).is_file():
        return
    with open_laboratory(workspace).store.reading() as reading:
        for table in (*TABLES, "mem_edit_log"):
            found = reading.connection.execute(f"PRAGMA table_info({table})")
            kinds = {name: kind or "TEXT" for _, name, kind, *_ in found}
            rows = [
                {n: json.dumps(v) if kinds[n] == "JSON" else v for n, v in row.items()}
                for row in reading.rows(table, "1")
            ]
            schema = pa.schema([(name, _TYPES[kind]) for name, kind in kinds.items()])
            columns = ", ".join(
                f'CAST("{name}" AS JSON) AS "{name}"' if kind == "JSON" else f'"{name}"'
                for name, kind in kinds.items()
            )
            connection.register("laboratory_rows", pa.Table.from_pylist(rows, schema=schema))
            connection.execute(f"CREATE TABLE lab_{table} AS SELECT {columns} FROM laboratory_rows")
            connection.unregister("laboratory_rows")
    connection.execute(sql("lab_recipes"))
    connection.execute(sql("lab_products"))


_CLAIM_AUDITS = "outputs/audits/*_claims_v*.json"
_AUDITS = "outputs/audits/*_citations_v*.json"
_PACKS = "outputs/evidence_pack_v*.json"

# The columns of one end of a chain, in the order of the two selections below.
_REFERENCE = (
    "kind VARCHAR, id VARCHAR, file VARCHAR, output VARCHAR, number BIGINT, label VARCHAR, "
    "made_from VARCHAR, line BIGINT, draft_file VARCHAR, "
    "sentence VARCHAR, claim VARCHAR, status VARCHAR, reason_code VARCHAR, "
    "reason VARCHAR, score DOUBLE, scorer VARCHAR, scorer_fingerprint VARCHAR, "
    "namespace VARCHAR, doc_uid VARCHAR, chunk_id VARCHAR, parent_id VARCHAR, "
    "citation_id VARCHAR, passage_hash VARCHAR, quote VARCHAR, locator VARCHAR, "
    "judged_content VARCHAR, judged_publication VARCHAR"
)

_AUDIT_COLUMNS = (
    "audit_id VARCHAR, draft_name VARCHAR, scorer VARCHAR, scorer_fingerprint VARCHAR, "
    "publications MAP(VARCHAR,VARCHAR), rows JSON[]"
)

_PACK_COLUMNS = (
    "query_id VARCHAR, question VARCHAR, publications MAP(VARCHAR,VARCHAR), items JSON[], "
    "sources JSON[]"
)


def create_lineage(connection: "DuckDBPyConnection", workspace: Workspace) -> None:
    """Add the table `ends` (verdicts, items, claims, passages) and the view `lineage` over it."""
    parts = [sql("passages")]
    for pattern, columns, section in (
        (_AUDITS, _AUDIT_COLUMNS, "verdicts"),
        (_PACKS, _PACK_COLUMNS, "items"),
        (_CLAIM_AUDITS, _AUDIT_COLUMNS, "claims"),
    ):
        if found := match_keys(workspace.store, pattern):
            parts.append(sql(section, files=json_files(workspace.store, found, columns)))
    names = ", ".join(part.split(" ")[0] for part in _REFERENCE.split(", "))
    types = ", ".join(
        f"CAST({name} AS {kind}) AS {name}"
        for name, kind in (part.split(" ") for part in _REFERENCE.split(", "))
    )
    union = " UNION ALL ".join(parts)
    query = f"SELECT {types} FROM ({union}) AS united({names})"
    load_table(connection, "ends", _REFERENCE, query)
    connection.execute(
        sql(
            "lineage",
            stages=str(list(recorded())),
            root=quote_literal(f"{workspace.root.as_posix()}/"),
        )
    )


# All are held in memory.
_MOST_ROWS = 1_000_000
# name → (files below the workspace, what stands there when there are none, the query)
_OUTPUTS = {
    "runs": ("meta/query_runs/*.json", "query_id VARCHAR", "SELECT * FROM {files}"),
    "packs": (
        "outputs/evidence_pack_v*.json",
        "query_id VARCHAR, question VARCHAR, item STRUCT(doc_uid VARCHAR)",
        "SELECT query_id, question, filename AS file, unnest(items) AS item FROM {files}",
    ),
    "claims": (
        "outputs/audits/*_claims_v*.json",
        "audit_id VARCHAR, draft_name VARCHAR, claim STRUCT(status VARCHAR)",
        "SELECT audit_id, draft_name, filename AS file, unnest(rows) AS claim FROM {files}",
    ),
    "verdicts": (
        "outputs/audits/*_citations_v*.json",
        "audit_id VARCHAR, draft_name VARCHAR, verdict STRUCT(status VARCHAR)",
        "SELECT audit_id, draft_name, filename AS file, unnest(rows) AS verdict FROM {files}",
    ),
}


def open_sql(
    workspace: Workspace, names: Sequence[str] | None = None, *, has_knowledge: bool = True
) -> "DuckDBPyConnection":
    """Return an in-memory connection with a read-only view on all that is published.

    It is sealed: whatever is asked of it reads no other file and writes none. What runs left
    behind is loaded when it is opened, so it stays as it was.

    Views `sources`, `documents`, `archived_documents`, `parse_reports`, `parents`, `chunks`,
    `chunk_edits` over all namespaces, and those of spec 001: `knowledge_sources`,
    `knowledge_docs`, `knowledge_chunks`;
    tables `runs`, `packs`, `verdicts` and `claims` of the stored outputs; `drafts` of chunks, with
    the status draft, published or archived (discarded, and never published); `lineage` from each
    verdict and item to the bytes, with `stages`, `publications`, `bindings` and `versions` beside
    it; of a laboratory `lab_runs`, `lab_recipes`, `lab_feedback`, `lab_feedback_products`,
    `lab_products`, `lab_items` and the other tables of its store.

    Args:
        names: of the namespaces to look at; None for all.
        has_knowledge: the views of spec 001 and the laboratory's tables are wanted; what they need
            takes a moment to import.

    Raises:
        PublicationError: nothing is published.
    """
    chosen = workspace.namespace_names if names is None else names
    folders = {}
    for name in chosen:
        folder = workspace.namespace(name).publications
        if read_pointer(folder) is not None:
            folders[name] = current_folder(folder, name)
    if not folders:
        raise PublicationError(f"nothing is published in {workspace.root}. Run `rag ingest` first.")
    connection = attach_catalogues(
        {name: folder / catalogue_name(folder.name) for name, folder in folders.items()}
    )
    try:
        _load_outputs(connection, workspace)
        _load_drafts(connection, workspace, chosen)
        if has_knowledge:
            from rag_assets.tracing.knowledge_views import create_knowledge_views

            namespaces = [workspace.namespace(name) for name in chosen]
            create_knowledge_views(connection, folders, namespaces)
            create_laboratory_tables(connection, workspace)
        create_stored_tables(connection, workspace, chosen)
        create_lineage(connection, workspace)
        seal(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def run_sql(
    connection: "DuckDBPyConnection", statement: str, seconds: float
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns and rows of one statement that reads.

    Ctrl-C ends it, and the time limit: a query can be endless.

    Raises:
        UsageError: it is no such statement, takes too long or returns too many rows.
        KeyboardInterrupt: a person has ended it.
    """
    import duckdb

    # In a thread: while DuckDB works, Python in this one would not see a Ctrl-C.
    with ThreadPoolExecutor(1, "sql") as pool:
        running = pool.submit(_run, connection, statement)
        try:
            return running.result(seconds)
        except TimeoutError as error:
            raise UsageError(
                f"SQL: the statement took longer than {seconds:g} s and was ended. Narrow it with "
                "WHERE or LIMIT, or give it more time (--seconds)."
            ) from error
        except duckdb.Error as error:
            raise UsageError(f"SQL: {error}") from error
        finally:
            if not running.done():
                connection.interrupt()


def _run(
    connection: "DuckDBPyConnection", statement: str
) -> tuple[list[str], list[tuple[Any, ...]]]:
    import duckdb

    parsed = connection.extract_statements(statement)
    # Says it in a sentence; that nothing is written is the connection's own doing.
    if [each.type for each in parsed] != [duckdb.StatementType.SELECT]:
        raise UsageError("SQL: write one statement that reads: SELECT, FROM or DESCRIBE.")
    relation = connection.sql(statement)
    if relation is None:
        raise UsageError("the statement returns no rows; write a SELECT.")
    rows = relation.limit(_MOST_ROWS + 1).fetchall()
    if len(rows) > _MOST_ROWS:
        raise UsageError(f"SQL: more than {_MOST_ROWS} rows. Add a LIMIT, or count them.")
    return relation.columns, rows


def _load_outputs(connection: "DuckDBPyConnection", workspace: Workspace) -> None:
    for table, (pattern, columns, query) in _OUTPUTS.items():
        if found := match_keys(workspace.store, pattern):
            paths = path_list(workspace.store.place(each.key) for each in found)
            files = f"read_json({paths}, union_by_name = true, filename = true)"
            load_table(connection, table, columns, query.format(files=files))
        else:
            connection.execute(f"CREATE TABLE {table} ({columns})")


def _load_drafts(
    connection: "DuckDBPyConnection", workspace: Workspace, names: Sequence[str]
) -> None:
    connection.execute(
        "CREATE TABLE drafts (namespace VARCHAR, doc_uid VARCHAR, status VARCHAR, "
        "revision BIGINT, operations BIGINT, changed_by VARCHAR, changed_at VARCHAR, "
        "begun_at VARCHAR)"
    )
    rows = []
    for name in names:
        for uid, history in read_histories(workspace.namespace(name)).items():
            ended = "published" if history.is_published else "archived"
            last = history.events[-1]
            begun = next(e for e in reversed(history.events) if e.event == "create")
            rows.append(
                (name, uid, "draft" if history.is_open else ended, history.revision,
                 len(history.drafted), last.by, last.at, begun.at)
            )  # fmt: skip
    if rows:
        connection.executemany("INSERT INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
