"""The product's own search over the chunks of one corpus: a search table in a folder, three ways.

Words alone, vectors alone, and both fused go through the same `search` as a question to a
published namespace: same text index, same filters, one hit for chunks of equal text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import hash_text
from rag_assets.retrieval import Reader, SearchFilters, search
from rag_assets.workspace.settings import RetrieveSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METHODS = ("semantic", "lexical", "hybrid")


@dataclass(frozen=True, slots=True)
class SearchedChunk:
    """What the search table holds of a chunk.

    Args:
        start: first code point in the clean text; `end` is exclusive.
        text: that slice; of chunks with the same text the first one is found.
        indexed: what the text index holds.
        kind: as in `Chunk`; headings that stand alone are never found.
        section_subtype: as in `Chunk`; references are found where the settings say so.
    """

    start: int
    end: int
    text: str
    indexed: str
    kind: str | None = None
    section_subtype: str | None = None


class CorpusSearch:
    """Searches one corpus.

    Args:
        folder: existing and empty; the table is written there.
        corpus: its name.
        chunks: in order.
        vectors: one a chunk, shape (len(chunks), dimension), length 1.
        settings: `pool_k`, `rrf_k`, `references`; the method is said by each search.
    """

    def __init__(
        self,
        folder: Path,
        corpus: str,
        chunks: Sequence[SearchedChunk],
        vectors: "NDArray[np.float32]",
        settings: RetrieveSettings,
    ) -> None:
        # Imported here: Arrow and Lance cost a second that other evaluations need not wait.
        from rag_assets.publishing.search_table import write_search_table

        write_search_table(folder, _table(corpus, chunks, vectors))
        self._corpus = corpus
        self._settings = settings
        self._reader = Reader(folder, corpus, corpus)

    def rank(self, question: str, vector: Sequence[float], method: str, most: int) -> list[int]:
        """Return the best chunks by index, best first.

        Args:
            question: as asked.
            vector: of the question.
            method: one of `METHODS`.
            most: chunks at most.
        """
        settings = self._settings.model_copy(update={"method": method})
        filters = SearchFilters(with_references=settings.references)
        hits = search([self._reader], question, {self._corpus: vector}, settings, filters)
        return [hit.chunk_index for hit in hits[:most]]


def _table(corpus: str, chunks: Sequence[SearchedChunk], vectors: "NDArray[np.float32]") -> Any:
    import pyarrow as pa

    from rag_assets.publishing.schemas import search_schema

    size = len(chunks)
    schema = search_schema(vectors.shape[1])
    ids = [f"{corpus}:{index}" for index in range(size)]
    columns: dict[str, Any] = {
        "chunk_key": [f"{corpus}::{identity}" for identity in ids],
        "namespace": [corpus] * size,
        "chunk_id": ids,
        "doc_uid": [corpus] * size,
        "chunk_index": list(range(size)),
        "char_start": [chunk.start for chunk in chunks],
        "char_end": [chunk.end for chunk in chunks],
        "kind": [chunk.kind for chunk in chunks],
        "section_subtype": [chunk.section_subtype for chunk in chunks],
        "text": [chunk.text for chunk in chunks],
        "content_hash": [hash_text(chunk.text) for chunk in chunks],
        "citable": [True] * size,
        "search_text": [chunk.indexed for chunk in chunks],
        "vector": list(vectors),
    }
    return pa.table(
        {
            field.name: pa.array(columns[field.name], field.type)
            if field.name in columns
            else pa.nulls(size, field.type)
            for field in schema
        },
        schema=schema,
    )
