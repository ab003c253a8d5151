"""The way from a pack or audit to the partitions that its sources came through, as links."""

from collections.abc import Iterable

import dagster as dg

from rag_assets.assets.reporting import Metadata, bullet_list
from rag_assets.model.markdown import code_span, escape_inline
from rag_assets.stages import partitioned, way_to
from rag_assets.workspace import Inventory, Workspace, read_inventory

# Documents listed; more make the page slow, and `rag trace` lists them all.
_MOST_DOCUMENTS = 100

Cited = tuple[str | None, str, str | None, str]
"""Namespace, doc_uid, SHA-256 of the document's bytes and how the output calls the row; None
where a citation could not be resolved."""


def lineage_metadata(workspace: Workspace, cited: Iterable[Cited]) -> Metadata:
    """Return the metadata `lineage`: each cited document, links to its stages, and its files."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for namespace, uid, content, row in cited:
        if namespace is not None and content is not None:
            rows.setdefault((namespace, uid, content), []).append(row)
    if not rows:
        return {}
    shown = list(rows.items())[:_MOST_DOCUMENTS]
    inventories = {
        name: read_inventory(workspace.namespace(name))
        for name in {name for (name, *_), _ in shown}
    }
    lines = [
        f"{code_span(uid)} (rows {escape_inline(', '.join(labels), opens=False)}): "
        f"{_links(workspace, namespace, content)} ← "
        f"{_files(inventories[namespace], content)}, SHA-256 {code_span(content[:16])}"
        for (namespace, uid, content), labels in shown
    ]
    if len(rows) > len(shown):
        lines.append(f"… and {len(rows) - len(shown)} more documents: `rag trace`")
    return {"lineage": dg.MetadataValue.md(bullet_list(lines))}


def _files(inventory: Inventory | None, content: str) -> str:
    found = inventory.contents.get(content) if inventory else None
    if found is None:
        return "bytes that raw/ does not hold any more"
    return ", ".join(code_span(source.source_uri) for source in found.sources)


def _links(workspace: Workspace, namespace: str, content: str) -> str:
    key = workspace.namespace(namespace).partition_of(content)
    between = [
        f"[{stage} {key}](/assets/{namespace}/{stage}?view=partitions&partition={key})"
        for stage in reversed(partitioned(way_to("chunks")))
    ]
    first, last = (
        f"[{stage}](/assets/{namespace}/{stage})" for stage in ("search_index", "inventory")
    )
    return " ← ".join((first, *between, last))
