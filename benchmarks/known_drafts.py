"""The drafts with known truth and the documents that they cite, as `eval_claims` reads them."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.evaluating.drafts import read_sources, sources_beside
from rag_assets.auditing import CitedDocument
from rag_assets.workspace import shipped_settings

CACHE = Path("~/.cache/rag-assets-benchmarks/drafts").expanduser()
"""Where parses are kept."""


def shared_data() -> Path:
    """Return the folder of RAG_SHARED_DATA."""
    return Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))


def _file(name: str) -> Path:
    return shared_data() / "claims" / "drafts" / f"{name}.jsonl"


def read_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of `dev` or `train` that have evidence."""
    rows = [json.loads(line) for line in _file(name).read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["evidence"]]


def read_documents(rows: Sequence[dict[str, Any]], cache: Path) -> dict[str, CitedDocument]:
    """Return the cited documents by their names in rows; what was read is kept in `cache`."""
    names = (row["paper"] for row in rows)
    return read_sources(names, sources_beside(_file("dev")), shipped_settings(), cache)
