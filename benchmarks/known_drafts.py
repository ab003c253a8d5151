"""The drafts with known truth and the documents that they cite."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.auditing import Passage
from rag_assets.evaluation import drafts_rows
from rag_assets.evaluation.drafts_rows import FOUND, GROUPS, bare
from rag_assets.evaluation.drafts_sources import read_sources, sources_beside
from rag_assets.workspace import shipped_settings

__all__ = [
    "FOUND",
    "GROUPS",
    "Cited",
    "bare",
    "group_of",
    "is_located",
    "read_documents",
    "read_rows",
    "shared_data",
]


def shared_data() -> Path:
    """Return the folder of RAG_SHARED_DATA."""
    return Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))


@dataclass(frozen=True)
class Cited:
    """A cited document: its title and those of its passages that can support something."""

    title: str | None
    passages: Sequence[Passage]


def _file(name: str) -> Path:
    return shared_data() / "claims" / "drafts" / f"{name}.jsonl"


def read_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of `dev` or `train` that have evidence."""
    rows = [json.loads(line) for line in _file(name).read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["evidence"]]


def group_of(row: dict[str, Any]) -> str:
    """Return the group that the figures are given for."""
    return drafts_rows.group_of(row["paper"], row["language"])


def is_located(row: dict[str, Any], shown: str) -> bool:
    """Say whether all quotations that decide a row stand in what is shown."""
    return drafts_rows.is_located(row["evidence"], shown)


def read_documents(rows: Sequence[dict[str, Any]], cache: Path) -> dict[str, Cited]:
    """Return the cited documents by their names in rows; what was read is kept in `cache`."""
    found = read_sources(
        (row["paper"] for row in rows), sources_beside(_file("dev")), shipped_settings(), cache
    )
    return {name: Cited(one.title, one.passages) for name, one in found.items()}
