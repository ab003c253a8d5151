"""From a citation back to the bytes: passage, parent, parse, file."""

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from rag_assets.evidence.locating import locate
from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary
from rag_assets.storage import current_folder, read_manifest
from rag_assets.tracing import chain_to_json, open_sql
from rag_assets.tracing import trace as trace_verdict
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_CHUNK = (
    "namespace, chunk_id, citation_id, doc_uid, doc_id, parent_id, chunk_index, char_start, "
    "char_end, page_start, page_end, section_path, kind, text, content_hash, input_hash, citable"
)
_PARENT = "parent_id, label, char_start, char_end, page_start, page_end, hash"
_PARSE = "status, parser, parser_version, media_type, pages, characters, warnings, content_hash"
_SOURCE = (
    "source_id, source_uri, content_hash, source_type, source_subtype, citable, status, metadata"
)


def trace(
    library: OpenedLibrary,
    citation: Annotated[
        str,
        Field(
            description="kb:<namespace>__chunk-…, or <namespace>::<chunk_id>, of a hit; or a "
            "stored verdict or item such as chapter_citations_v001#3."
        ),
    ],
) -> dict[str, Any]:
    """Lead from a citation to passage, parent, parse and file, with the hash of each."""
    return trace_name(library.workspace, citation)


def trace_name(workspace: Workspace, name: str) -> dict[str, Any]:
    """Return the steps from a citation, or from a stored verdict or item, to the file.

    Args:
        name: as `trace_citation`; or a verdict or item as `rag trace` takes it, for instance
            `chapter_citations_v001#3`; then the answer is `chains`.

    Raises:
        UsageError: nothing is called so.
        PublicationError: nothing is published.
    """
    if name.startswith("kb:") or "::" in name:
        return trace_citation(workspace, name)
    return {"chains": [chain_to_json(chain) for chain in trace_verdict(workspace, name)]}


def trace_citation(workspace: Workspace, citation: str) -> dict[str, Any]:
    """Return every step from a passage to the file that it was read from.

    Args:
        citation: `kb:<namespace>__chunk-<hash16>`, or `<namespace>::<chunk_id>`.

    Returns:
        `passage`, `parent`, `document`, `parse`, `sources` (every file with these bytes) and
        `publication` with the embedding models; each with the hash that identifies it.

    Raises:
        UsageError: no current publication holds it.
        PublicationError: nothing is published.
    """
    connection = open_sql(workspace)
    try:
        found = _rows(
            connection,
            f"SELECT {_CHUNK} FROM chunks WHERE citation_id = $it OR chunk_key = $it",
            it=citation,
        )
        if not found:
            raise UsageError(
                f"no current publication holds '{citation}'. Give a citation id "
                "(kb:<namespace>__chunk-…) or <namespace>::<chunk_id> from a search; what was "
                "edited or removed since is no longer there."
            )
        passage = found[0]
        name, uid = passage["namespace"], passage["doc_uid"]
        passage["place"] = _place(passage)
        parents = _rows(
            connection,
            f"SELECT {_PARENT} FROM parents WHERE namespace = $ns AND parent_id = $it",
            ns=name,
            it=passage["parent_id"],
        )
        (document,) = _rows(
            connection,
            "SELECT doc_uid, doc_id, title, content_hash, content_ref, source_uri, version FROM "
            "documents WHERE namespace = $ns AND doc_uid = $it",
            ns=name,
            it=uid,
        )
        reports = _rows(
            connection,
            f"SELECT {_PARSE} FROM parse_reports WHERE namespace = $ns AND content_hash = $it",
            ns=name,
            it=document["content_hash"],
        )
        sources = _rows(
            connection,
            f"SELECT {_SOURCE} FROM sources WHERE namespace = $ns AND content_hash = $it "
            "ORDER BY source_uri",
            ns=name,
            it=document["content_hash"],
        )
    finally:
        connection.close()
    return {
        "passage": passage,
        "parent": parents[0] if parents else None,
        "document": document,
        "parse": reports[0] if reports else None,
        "sources": [{**one, "metadata": json.loads(one["metadata"] or "{}")} for one in sources],
        "publication": _publication(workspace, name),
    }


def _publication(workspace: Workspace, name: str) -> dict[str, Any]:
    manifest = read_manifest(current_folder(workspace.namespace(name).publications, name))
    models = [
        {key: model[key] for key in ("kind", "model", "fingerprint", "dimension")}
        for model in manifest["embedders"]
    ]
    return {
        "namespace": name,
        "publication": manifest["publication"],
        "tool_version": manifest["tool_version"],
        "embedders": models,
    }


def _place(row: dict[str, Any]) -> str:
    place = locate(
        row["page_start"], row["page_end"], row["char_start"], row["char_end"],
        row["section_path"] or (),
    )  # fmt: skip
    return place.text if place else ""


def _rows(connection: "DuckDBPyConnection", sql: str, **values: str) -> list[dict[str, Any]]:
    result = connection.execute(sql, values)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
