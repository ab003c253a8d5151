"""Packs outlive the publications that they were made from, and then say so."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from rag_assets.evidence.query_runs import query_runs
from rag_assets.storage import is_complete, read_json, write_text
from rag_assets.workspace import Workspace


def mark_retired(workspace: Workspace, namespace: str, publications: tuple[str, ...]) -> int:
    """Note in every query run that its publication was retired. Returns how many were marked."""
    marked = 0
    for path in query_runs(workspace) if publications else ():
        record: dict[str, Any] = read_json(path, "query run")
        if record["publications"].get(namespace) in publications:
            record.setdefault("retired", {})[namespace] = datetime.now(UTC).isoformat(
                timespec="seconds"
            )
            write_text(path, json.dumps(record, indent=1, ensure_ascii=False))
            marked += 1
    return marked


def packs_without_publication(workspace: Workspace) -> Iterator[str]:
    """Yield a sentence for every pack whose publication is gone without a word."""
    for path in query_runs(workspace):
        record: dict[str, Any] = read_json(path, "query run")
        for namespace, publication in record["publications"].items():
            stands = is_complete(workspace.root / "index" / namespace, publication)
            if not stands and namespace not in record.get("retired", {}):
                yield (
                    f"{path.name} ({record['outputs']['.md']}): publication "
                    f"{namespace}/{publication} is gone and was never retired"
                )
