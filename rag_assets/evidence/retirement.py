"""Packs outlive the publications that they were made from, and then say so."""

from collections.abc import Iterator
from datetime import UTC, datetime

from rag_assets.evidence.query_runs import query_runs
from rag_assets.storage import is_complete, put_json
from rag_assets.workspace import Workspace


def mark_retired(workspace: Workspace, namespace: str, publications: tuple[str, ...]) -> int:
    """Note in every query run that its publication was retired. Returns how many were marked."""
    marked = 0
    for key, record in query_runs(workspace) if publications else ():
        if record["publications"].get(namespace) in publications:
            record.setdefault("retired", {})[namespace] = datetime.now(UTC).isoformat(
                timespec="seconds"
            )
            put_json(workspace.store, key, record)
            marked += 1
    return marked


def packs_without_publication(workspace: Workspace) -> Iterator[str]:
    """Yield a sentence for every pack whose publication is gone without a word."""
    for key, record in query_runs(workspace):
        for namespace, publication in record["publications"].items():
            stands = is_complete(workspace.root / "index" / namespace, publication)
            if not stands and namespace not in record.get("retired", {}):
                yield (
                    f"{key.rpartition('/')[2]} ({record['outputs']['.md']}): publication "
                    f"{namespace}/{publication} is gone and was never retired"
                )
