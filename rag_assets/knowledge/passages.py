"""A found passage with all that a context can be made of."""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_assets.embedding import EmbeddingTokenizer
    from rag_assets.retrieval import Hit, ParentPassage, Window


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """Where a passage stands: page from 1, code points of the document's clean text."""

    page: int | None
    start_offset: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class KnowledgeChunk:
    """A chunk that was found (spec 001, Chunk).

    Args:
        document_id: the document's uid in its namespace.
        order: position in the document, from 0.
        citation_id: `kb:<namespace>__chunk-<hash16>`, which outlives edits.
        metadata: title, section path, languages and what else the index knows of the passage; of
            its document `source_uri`, `source_id`, `url`, `doi`, `authors`, `tags`, and below
            `document` what its sidecar keeps, `source_info` among it (spec 001).
        hit: with rank and score in each searcher and the explanation.
        parent: the page or section around it.
        window: the chunk with its neighbours; None where the settings ask for none.
        tokenizer: of the namespace's first model; counts what goes into a context.
    """

    namespace: str
    chunk_id: str
    document_id: str
    parent_id: str
    order: int
    content: str
    citation_id: str
    source_spans: tuple[SourceSpan, ...]
    metadata: dict[str, Any]
    hit: "Hit" = field(repr=False)
    parent: "ParentPassage | None" = field(repr=False)
    window: "Window | None" = field(repr=False)
    tokenizer: "EmbeddingTokenizer" = field(repr=False, compare=False)
    type: Literal["child"] = "child"
    status: Literal["published"] = "published"


# Columns of the published table `documents` that a found chunk tells too.
_OF_DOCUMENT = ("source_uri", "source_id", "url", "doi", "authors", "tags")


def describe_chunk(
    hit: "Hit",
    parent: "ParentPassage | None",
    window: "Window | None",
    tokenizer: "EmbeddingTokenizer",
    document: "Mapping[str, Any]",
) -> KnowledgeChunk:
    """Return a hit as a chunk of the library.

    Args:
        document: its row in the published table `documents`.
    """
    names = ("doc_title", "citation_key", "source_type", "source_subtype", "citable",
             "section_category", "section_subtype", "kind", "language", "year")  # fmt: skip
    metadata = {name: getattr(hit, name) for name in names}
    metadata |= {name: document[name] for name in _OF_DOCUMENT}
    metadata["document"] = json.loads(document["metadata"])
    return KnowledgeChunk(
        hit.namespace,
        hit.chunk_id,
        hit.doc_uid,
        hit.parent_id,
        hit.chunk_index,
        hit.text,
        hit.citation_id,
        (SourceSpan(hit.page_start, hit.char_start, hit.char_end),),
        {**metadata, "section_path": list(hit.section_path), "doc_id": hit.doc_id},
        hit,
        parent,
        window,
        tokenizer,
    )
