"""The drafts with known truth and the documents that they cite, parsed and cut as a build does."""

import json
import os
import pickle
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from rag_assets.model import Chunk
from rag_assets.previewing import PreviewSource
from rag_assets.retrieval import NOT_EVIDENCE

# A quotation stands in a text from this partial ratio on, without white space and punctuation.
FOUND = 85
GROUPS = ("en", "zh", "cross", "law")
# As an audit reads a document (`auditing.published`).
_UNSAID_SECTIONS = ("references", "acknowledgements")
_LAW = "retrieval/law/law_vault.tar.xz"


def shared_data() -> Path:
    """Return the folder of RAG_SHARED_DATA."""
    return Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))


@dataclass(frozen=True)
class Cited:
    """A cited document: its title and those of its chunks that can support something."""

    title: str | None
    passages: Sequence[Chunk]


def read_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of `dev` or `train`."""
    path = shared_data() / "claims" / "drafts" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def group_of(row: dict[str, Any]) -> str:
    """Return the group that the figures are given for."""
    if row["paper"].startswith("law"):
        return "law"
    is_chinese = any("\u4e00" <= character <= "\u9fff" for character in row["paper"])
    return "cross" if (row["language"] == "zh") != is_chinese else str(row["language"])


def bare(text: str) -> str:
    """Return a text without white space and punctuation."""
    return re.sub(r"\W", "", text)


def is_located(row: dict[str, Any], shown: str) -> bool:
    """Say whether all quotations that decide a row stand in what is shown."""
    return all(fuzz.partial_ratio(bare(e), bare(shown)) >= FOUND for e in row["evidence"])


def read_documents(rows: Sequence[dict[str, Any]], cache: Path) -> dict[str, Cited]:
    """Return the cited documents by their names in rows; parses are kept in `cache`."""
    cache.mkdir(parents=True, exist_ok=True)
    return dict(_documents(sorted({row["paper"] for row in rows}), cache))


def _documents(names: Sequence[str], cache: Path) -> Iterator[tuple[str, Cited]]:
    statutes = {name for name in names if name.startswith("law")}
    kept = {name: cache / f"{sha256(name.encode()).hexdigest()[:16]}.pickle" for name in names}
    with tempfile.TemporaryDirectory() as folder:
        wanted = {name for name in statutes if not kept[name].exists()}
        if wanted:
            with tarfile.open(shared_data() / _LAW) as vault:
                members = [member for member in vault if member.name in wanted]
                vault.extractall(folder, members, filter="data")
        for name in names:
            if not kept[name].exists():
                root = Path(folder) if name in statutes else shared_data() / "papers"
                preview = PreviewSource(root / name).chunk()
                kept[name].write_bytes(pickle.dumps((preview.document.title, preview.chunks)))
            # Our own files, written a moment ago or by an earlier run.
            title, chunks = pickle.loads(kept[name].read_bytes())  # noqa: S301
            yield name, Cited(title, [chunk for chunk in chunks if _is_said(chunk)])


def _is_said(chunk: Chunk) -> bool:
    return chunk.kind not in NOT_EVIDENCE and chunk.section_subtype not in _UNSAID_SECTIONS
