"""SQL over everything: the catalogues of all namespaces, packs, verdicts and runs."""

from typing import TYPE_CHECKING

from rag_assets.model import PublicationError
from rag_assets.publishing.catalogue import attach_catalogues, catalogue_name
from rag_assets.storage import current_folder, read_pointer
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# name → (files below the workspace, what stands there when there are none, the query)
_VIEWS = {
    "runs": ("meta/query_runs/*.json", "query_id VARCHAR", "SELECT * FROM {files}"),
    "packs": (
        "outputs/evidence_pack_v*.json",
        "query_id VARCHAR, question VARCHAR, item STRUCT(doc_uid VARCHAR)",
        "SELECT query_id, question, filename AS file, unnest(items) AS item FROM {files}",
    ),
    "verdicts": (
        "outputs/audits/*_citations_v*.json",
        "audit_id VARCHAR, draft_name VARCHAR, verdict STRUCT(status VARCHAR)",
        "SELECT audit_id, draft_name, filename AS file, unnest(rows) AS verdict FROM {files}",
    ),
}


def open_sql(workspace: Workspace) -> "DuckDBPyConnection":
    """Return an in-memory connection with a read-only view on all that is published.

    Views `sources`, `documents`, `parse_reports`, `parents`, `chunks` over all namespaces;
    `runs`, `packs` and `verdicts` over the stored outputs.

    Raises:
        PublicationError: nothing is published.
    """
    catalogues = {}
    for name in workspace.namespace_names:
        folder = workspace.namespace(name).publications
        if read_pointer(folder) is not None:
            current = current_folder(folder, name)
            catalogues[name] = current / catalogue_name(current.name)
    if not catalogues:
        raise PublicationError(f"nothing is published in {workspace.root}. Run `rag ingest` first.")
    connection = attach_catalogues(catalogues)
    for view, (pattern, columns, query) in _VIEWS.items():
        if any(workspace.root.glob(pattern)):
            path = str(workspace.root / pattern).replace("'", "''")
            files = f"read_json('{path}', union_by_name = true, filename = true)"
            connection.execute(f"CREATE VIEW {view} AS {query.format(files=files)}")
        else:
            connection.execute(f"CREATE TABLE {view} ({columns})")
    return connection
