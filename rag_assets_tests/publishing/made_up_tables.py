"""Small published tables in English and Chinese, for tests of publishing and retrieval."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from rag_assets.publishing.content_words import passage_language
from rag_assets.publishing.schemas import (
    ARCHIVED_DOCUMENTS,
    CHUNK_EDITS,
    CHUNKS,
    DOCUMENTS,
    PARENTS,
    PARSE_REPORTS,
    SOURCES,
    search_schema,
)

DIMENSION = 8
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

TEXTS: Mapping[str, Sequence[str]] = {
    "leaf-2021": (
        "Elevated carbon dioxide narrows the stomata of a leaf.",
        "Einstein's reply came from O'Brien by post.",
        "Stomatal conductance falls; water is saved.",
    ),
    "叶片-2020": (
        "二氧化碳浓度升高使植物叶片的气孔导度下降。",
        "当事人一方不履行合同义务的,应当承担违约责任。",
        "见第1024条与附表。",
    ),
    "rubric": ("Cite carbon budgets with a page.", "Name the stomata in Latin."),
}


def direction(position: int, lean: float = 0.0) -> list[float]:
    """Return a unit axis, leaning by `lean` towards the next one."""
    vector = [0.0] * DIMENSION
    vector[position % DIMENSION] = 1.0
    vector[(position + 1) % DIMENSION] += lean
    return vector


def chunk_row(doc_uid: str, index: int, text: str, **changes: Any) -> dict[str, Any]:
    namespace = changes.get("namespace", "thesis")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    row: dict[str, Any] = {
        "chunk_key": f"{namespace}::{doc_uid}:{index}",
        "namespace": namespace,
        "chunk_id": f"{doc_uid}:{index}",
        "doc_id": "d" * 64,
        "doc_uid": doc_uid,
        "source_id": "s" * 64,
        "parent_id": f"{doc_uid}:p{index // 2 + 1:03d}",
        "chunk_index": index,
        "char_start": index * 100,
        "char_end": index * 100 + len(text),
        "page_start": index // 2 + 1,
        "page_end": index // 2 + 1,
        "section_path": ["Results"],
        "section_title": "Results",
        "hierarchy_level": 0,
        "section_category": 3,
        "kind": "text",
        "text": text,
        "search_text": text,
        "search_heading": "",
        "tags": [],
        "passage_language": passage_language(text, None),
        "context": "",
        "boxes": [{"page": index // 2 + 1, "x0": 72.0, "y0": 72.0, "x1": 500.5, "y1": 90.25}],
        "attachment_ids": [],
        "token_count": 10,
        "input_tokens": 10,
        "chunk_type": "child",
        "status": "published",
        "version": 1,
        "content_hash": digest,
        "input_hash": digest,
        "citation_id": f"kb:{namespace}__chunk-{digest[:16]}",
        "citable": doc_uid != "rubric",
        "source_type": "instruction" if doc_uid == "rubric" else "evidence",
        "doc_title": doc_uid.title(),
        "metadata": "{}",
        "is_cut": False,
        "created_at": NOW,
        "vector": direction(index),
    }
    return row | changes


def chunk_rows(
    texts: Mapping[str, Sequence[str]] = TEXTS, namespace: str = "thesis"
) -> list[dict[str, Any]]:
    rows = [
        chunk_row(doc_uid, index, text, namespace=namespace)
        for doc_uid, passages in texts.items()
        for index, text in enumerate(passages)
    ]
    return [row | {"vector": direction(position)} for position, row in enumerate(rows)]


def chunk_table(rows: Sequence[Mapping[str, Any]], *dimensions: int) -> pa.Table:
    """Return the rows as `write_search_table` takes them; one vector of DIMENSION by default."""
    return pa.Table.from_pylist(list(rows), schema=search_schema(dimensions or (DIMENSION,)))


def published_tables(
    rows: Sequence[Mapping[str, Any]], namespace: str = "thesis"
) -> dict[str, pa.Table]:
    """Return the five tables that belong to these chunks."""
    uids = sorted({row["doc_uid"] for row in rows})
    parents: dict[str, dict[str, Any]] = {}
    for row in rows:
        parent = parents.setdefault(
            row["parent_id"],
            {
                "parent_id": row["parent_id"],
                "namespace": namespace,
                "doc_uid": row["doc_uid"],
                "label": row["parent_id"].rpartition(":")[2],
                "order": len(parents),
                "char_start": row["char_start"],
                "text": "",
                "section_path": ["Results"],
                "page_start": row["page_start"],
                "page_end": row["page_end"],
            },
        )
        parent["text"] += row["text"]
        parent["char_end"] = row["char_end"]
        parent["hash"] = hashlib.sha256(parent["text"].encode("utf-8", "replace")).hexdigest()
    documents = [
        {
            "doc_key": f"{namespace}::{uid}",
            "namespace": namespace,
            "doc_uid": uid,
            "title": uid.title(),
            "version": 1,
            "status": "published",
            "citable": uid != "rubric",
            "authors": ["A. Writer", "王小明"],
            "metadata": '{"mime_type": "text/markdown"}',
            "created_at": NOW,
        }
        for uid in uids
    ]
    sources = [
        {
            "source_key": f"{namespace}::{uid}",
            "namespace": namespace,
            "doc_uid": uid,
            "path": f"evidence/{uid}.md",
            "status": "failed" if uid == "rubric" else "published",
            "reason_code": "empty_file" if uid == "rubric" else None,
            "created_at": NOW,
        }
        for uid in uids
    ]
    reports = [
        {"content_hash": f"{namespace}-{uid}", "doc_uid": uid, "status": "ok", "seconds": 0.5}
        for uid in uids
    ]
    return {
        "sources": pa.Table.from_pylist(sources, schema=SOURCES),
        "documents": pa.Table.from_pylist(documents, schema=DOCUMENTS),
        "archived_documents": ARCHIVED_DOCUMENTS.empty_table(),
        "parse_reports": pa.Table.from_pylist(reports, schema=PARSE_REPORTS),
        "parents": pa.Table.from_pylist(list(parents.values()), schema=PARENTS),
        "chunks": pa.Table.from_pylist(list(rows), schema=CHUNKS),
        "chunk_edits": CHUNK_EDITS.empty_table(),
    }
