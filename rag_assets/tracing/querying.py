"""SQL over everything: catalogues of all namespaces, packs, verdicts, claims, runs, lineage."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any  # Any: values of SQL

from rag_assets.editing import read_histories
from rag_assets.model import PublicationError, UsageError
from rag_assets.publishing.catalogue import attach_catalogues, catalogue_name, seal
from rag_assets.storage import current_folder, match_keys, read_pointer
from rag_assets.tracing.laboratory_tables import create_laboratory_tables
from rag_assets.tracing.lineage import create_lineage
from rag_assets.tracing.stored import create_stored_tables, load_table, path_list
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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

    ended = threading.Event()
    found: list[tuple[list[str], list[tuple[Any, ...]]]] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            found.append(_run(connection, statement))
        except Exception as error:  # noqa: BLE001 - raised again below
            failed.append(error)
        finally:
            ended.set()

    # In a thread: while DuckDB works, Python in this one would not see a Ctrl-C.
    thread = threading.Thread(target=run, name="sql", daemon=True)
    thread.start()
    is_late = False
    try:
        is_late = not ended.wait(seconds)
    finally:
        if not ended.is_set():
            connection.interrupt()
            thread.join()
    if is_late:
        raise UsageError(
            f"SQL: the statement took longer than {seconds:g} s and was ended. Narrow it with "
            "WHERE or LIMIT, or give it more time (--seconds)."
        )
    for error in failed:
        if isinstance(error, duckdb.Error):
            raise UsageError(f"SQL: {error}") from error
        raise error
    return found[0]


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
