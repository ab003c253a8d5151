"""The product's own search over the chunks of one corpus: a search table in a folder, three ways.

Words alone, vectors of all models, and both fused go through the same search as a question to a
published namespace: same text indexes, same filters, one hit for chunks of equal text.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding import EmbeddingModel
from rag_assets.model import hash_text
from rag_assets.model.settings import RetrieveSettings
from rag_assets.publishing.manifest import describe_embedders
from rag_assets.retrieval import Reader, SearchFilters, make_query, rank_chunks
from rag_assets.storage import MANIFEST

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
        models: at least one.
        vectors: of each model in their order: one a chunk, shape (len(chunks), dimension), of
            length 1, or all zeros for what the model cannot read.
        settings: of the search; the method is said by each one.
    """

    def __init__(
        self,
        folder: Path,
        corpus: str,
        chunks: Sequence[SearchedChunk],
        models: Sequence[EmbeddingModel],
        vectors: "Sequence[NDArray[np.float32]]",
        settings: RetrieveSettings,
    ) -> None:
        # Imported here: Arrow and Lance cost a second that other evaluations need not wait.
        from rag_assets.publishing.search_table import write_search_table

        write_search_table(folder, _table(corpus, chunks, vectors))
        manifest = {
            "publication": corpus,
            "namespace": corpus,
            "counts": {"chunks": len(chunks)},
            "embedders": describe_embedders(
                models, {model.fingerprint: len(chunks) for model in models}
            ),
            "created_at": time.time(),
        }
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        self._settings = settings
        self._reader = Reader(folder, corpus, corpus)

    def rank(
        self, question: str, vectors: Mapping[str, Sequence[float]], method: str, most: int
    ) -> list[int]:
        """Return the best chunks by index, best first.

        Args:
            question: as asked.
            vectors: of the question, by the fingerprint of each model that can read it.
            method: one of `METHODS`.
            most: chunks at most.
        """
        settings = self._settings.model_copy(update={"method": method})
        filters = SearchFilters()
        unencoded = self._settings.model_copy(update={"method": "lexical"})
        asked = make_query(question, [self._reader], unencoded)
        query = replace(asked, vectors={model: [vector] for model, vector in vectors.items()})
        hits = rank_chunks([self._reader], query, settings, filters).hits
        return [hit.chunk_index for hit in hits[:most]]


def _table(
    corpus: str, chunks: Sequence[SearchedChunk], vectors: "Sequence[NDArray[np.float32]]"
) -> Any:
    import pyarrow as pa

    from rag_assets.publishing.content_words import passage_language
    from rag_assets.publishing.schemas import search_schema, vector_column

    size = len(chunks)
    schema = search_schema([matrix.shape[1] for matrix in vectors])
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
        "passage_language": [passage_language(chunk.text, None) for chunk in chunks],
        **{vector_column(position): list(matrix) for position, matrix in enumerate(vectors)},
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
