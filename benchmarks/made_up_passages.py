"""Made-up passages for benchmarks of publishing: Zipf words from a seed, vectors in clusters."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_assets.publishing.document_keys import DocumentKey
from rag_assets.publishing.schemas import (
    ARCHIVED_DOCUMENTS,
    CHUNK_EDITS,
    DOCUMENTS,
    PARENTS,
    PARSE_REPORTS,
    SOURCES,
    search_schema,
)

CHUNKS_A_DOCUMENT = 20
CHUNKS_A_PARENT = 4
# Words of a passage; with some 8 letters each about 130 tokens.
WORDS = 90
VOCABULARY = 200_000
CLUSTERS = 2_000
_NOW = datetime(2026, 1, 2, tzinfo=UTC).replace(tzinfo=None)
_BLOCK = 500  # documents whose words are drawn from one seed

_SHARES = 1 / np.arange(1, VOCABULARY + 1)
_CUMULATED = np.cumsum(_SHARES / _SHARES.sum())
_SYLLABLES = [a + b for a in "bcdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "al", "or")]

Document = tuple[int, int]
"""Number and version of a document."""


def word(rank: int) -> str:
    """Return the word of a frequency rank."""
    parts = []
    left = rank + len(_SYLLABLES)
    while left:
        left, part = divmod(left, len(_SYLLABLES))
        parts.append(_SYLLABLES[part])
    return "".join(parts)


_WORDS = np.array([word(rank) for rank in range(VOCABULARY)], dtype=object)


def uid(document: Document) -> str:
    """Return a document's uid."""
    return f"paper-{document[0]:07d}"


def texts_of(documents: Sequence[Document]) -> list[str]:
    """Return the passages of documents, in order."""
    found: list[str] = []
    for number, version in documents:
        rng = np.random.default_rng((17, number, version))
        drawn = np.searchsorted(_CUMULATED, rng.random(CHUNKS_A_DOCUMENT * WORDS))
        words = _WORDS[np.minimum(drawn, VOCABULARY - 1)].reshape(CHUNKS_A_DOCUMENT, WORDS)
        found += [" ".join(row) for row in words]
    return found


def vectors_of(documents: Sequence[Document], dimension: int) -> NDArray[np.float32]:
    """Return the vectors of the passages: each document leans to one of the clusters."""
    centres = np.random.default_rng(5).normal(size=(CLUSTERS, dimension)).astype(np.float32)
    matrix = np.empty((len(documents) * CHUNKS_A_DOCUMENT, dimension), np.float32)
    for place, (number, version) in enumerate(documents):
        rng = np.random.default_rng((23, number, version))
        noise = rng.standard_normal((CHUNKS_A_DOCUMENT, dimension), np.float32)
        start = place * CHUNKS_A_DOCUMENT
        matrix[start : start + CHUNKS_A_DOCUMENT] = centres[number % CLUSTERS] + 0.7 * noise
    return matrix


def tables_of(
    added: Sequence[Document], all_documents: Sequence[Document], dimension: int
) -> dict[str, pa.Table]:
    """Return the tables of a publication: passages of what is added, the others of all."""
    return {
        "sources": _plain(SOURCES, all_documents, {"source_key": _uids, "path": _uids}),
        "documents": _plain(DOCUMENTS, all_documents, {"doc_key": _uids, "title": _uids}),
        "archived_documents": ARCHIVED_DOCUMENTS.empty_table(),
        "parse_reports": _plain(PARSE_REPORTS, all_documents, {"content_hash": _hashes}),
        "parents": _parents(added),
        "chunks": _chunks(added, dimension),
        "chunk_edits": CHUNK_EDITS.empty_table(),
    }


def keys_of(documents: Sequence[Document]) -> dict[str, DocumentKey]:
    """Return the documents' keys."""
    return {uid(each): DocumentKey(f"{each}", CHUNKS_A_DOCUMENT) for each in documents}


def _uids(documents: Sequence[Document]) -> list[str]:
    return [uid(each) for each in documents]


def _hashes(documents: Sequence[Document]) -> list[str]:
    return [f"{number:056x}{version:08x}" for number, version in documents]


def _plain(schema: pa.Schema, documents: Sequence[Document], keys: Any) -> pa.Table:
    columns: dict[str, Any] = {name: make(documents) for name, make in keys.items()}
    columns |= {"doc_uid": _uids(documents)}
    return _filled(schema, columns, len(documents))


def _parents(documents: Sequence[Document]) -> pa.Table:
    texts = texts_of(documents)
    size = len(texts) // CHUNKS_A_PARENT
    a_document = CHUNKS_A_DOCUMENT // CHUNKS_A_PARENT
    owners = np.repeat(np.array(_uids(documents), object), a_document)
    order = np.tile(np.arange(a_document), len(documents))
    columns = {
        "parent_id": [f"{own}:p{n + 1:03d}" for own, n in zip(owners, order, strict=True)],
        "doc_uid": pa.array(owners, pa.string()),
        "label": [f"p{n + 1:03d}" for n in order],
        "order": order,
        "text": [
            " ".join(texts[start : start + CHUNKS_A_PARENT])
            for start in range(0, len(texts), CHUNKS_A_PARENT)
        ],
    }
    return _filled(PARENTS, columns, size)


def _chunks(documents: Sequence[Document], dimension: int) -> pa.Table:
    texts = pa.array(texts_of(documents), pa.string())
    size = len(texts)
    owners = np.repeat(np.array(_uids(documents), object), CHUNKS_A_DOCUMENT)
    order = np.tile(np.arange(CHUNKS_A_DOCUMENT), len(documents))
    ids = [f"{own}:{n}" for own, n in zip(owners, order, strict=True)]
    hashes = np.repeat(np.array(_hashes(documents), object), CHUNKS_A_DOCUMENT)
    columns = {
        "chunk_key": [f"made::{each}" for each in ids],
        "chunk_id": ids,
        "doc_uid": pa.array(owners, pa.string()),
        "chunk_index": order,
        "parent_id": [
            f"{own}:p{n // CHUNKS_A_PARENT + 1:03d}" for own, n in zip(owners, order, strict=True)
        ],
        "text": texts,
        "search_text": texts,
        "search_heading": pa.array(owners, pa.string()),
        "input_hash": [f"{each[:56]}{n:08x}" for each, n in zip(hashes, order, strict=True)],
        "content_hash": pa.array(hashes, pa.string()),
        "citation_id": [f"kb:made__chunk-{each}" for each in ids],
        "citable": np.ones(size, np.bool_),
        "boxes": [[{"page": 1, "x0": 72.0, "y0": 72.0, "x1": 500.5, "y1": 90.25}]] * size,
        "passage_language": ["en"] * size,
        "vector": pa.FixedSizeListArray.from_arrays(
            pa.array(vectors_of(documents, dimension).reshape(-1)), dimension
        ),
    }
    return _filled(search_schema([dimension]), columns, size)


def _filled(schema: pa.Schema, columns: dict[str, Any], size: int) -> pa.Table:
    """Return a table of a schema; what is not given is the same everywhere, or null."""
    same = {"namespace": "made", "status": "published", "created_at": _NOW, "section_path": []}
    arrays = []
    for field in schema:
        value = columns.get(field.name)
        if value is None and field.name in same:
            value = pa.array([same[field.name]], field.type).take(pa.array(np.zeros(size, "i8")))
        if value is None:
            value = pa.nulls(size, field.type)
        arrays.append(value if isinstance(value, pa.Array) else pa.array(value, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
