"""A passage, found or previewed, with all that a context can be made of (spec 001)."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.chunking import locate_pages
from rag_assets.model import hash_text
from rag_assets.workspace import slug

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_assets.embedding import EmbeddingTokenizer
    from rag_assets.knowledge import previewing
    from rag_assets.model import Attachment, Parent, ParsedDocument, ParseReport
    from rag_assets.retrieval import Hit, ParentPassage, Window


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """Where a passage stands: page from 1, code points of the document's clean text."""

    page: int | None
    start_offset: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class KnowledgeChunk:
    """A chunk that was found or previewed (spec 001, Chunk).

    Args:
        namespace: that published it; "" of a preview.
        document_id: the document's uid in its namespace; of a preview the uid that it would be
            given where that is free.
        order: position in the document, from 0.
        citation_id: `kb:<namespace>__chunk-<hash16>`, which outlives edits; of a preview its
            `chunk_id`, since nothing of it can be cited.
        metadata: title, section path, languages and what else the index knows of the passage; of
            its document `source_uri`, `source_id`, `url`, `doi`, `authors`, `tags`, and below
            `document` what its sidecar keeps, `source_info` among it (spec 001); `printed` the
            printed original of a passage whose content a person has edited.
        hit: with rank and score in each searcher and the explanation; None in a preview.
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
    hit: "Hit | None" = field(repr=False)
    parent: "ParentPassage | None" = field(repr=False)
    window: "Window | None" = field(repr=False)
    tokenizer: "EmbeddingTokenizer" = field(repr=False, compare=False)
    type: Literal["child"] = "child"
    status: Literal["published", "draft"] = "published"


@dataclass(frozen=True, slots=True)
class ChunkPreview:
    """What a source becomes (spec 001, ChunkPreview).

    Args:
        name: of the source.
        document_id: as of its chunks.
        attachments: figures, tables and files that stand in it, with their place.
        document: the whole parse, `report` what is told of it.
    """

    name: str
    document_id: str
    chunks: tuple[KnowledgeChunk, ...]
    attachments: "tuple[Attachment, ...]" = field(repr=False)
    document: "ParsedDocument" = field(repr=False)
    report: "ParseReport" = field(repr=False)


def describe_preview(
    made: "previewing.ChunkPreview", tokenizer: "EmbeddingTokenizer"
) -> ChunkPreview:
    """Return a preview with the names that found chunks have."""
    uid = slug(made.name)
    parents = {parent.label: _shown_parent(uid, parent) for parent in made.parents}
    chunks = []
    for chunk in made.chunks:
        metadata = {
            "doc_title": made.document.title or Path(made.name).stem,
            "section_path": list(chunk.section_path),
            "section_category": int(chunk.section_category),
            "section_subtype": chunk.section_subtype,
            "kind": chunk.kind,
            "token_count": chunk.token_count,
            "is_cut": chunk.is_cut,
            "language": made.report.language,
            "year": made.report.year,
            "doc_id": made.report.doc_id,
        }
        chunks.append(
            KnowledgeChunk(
                "", f"{uid}:{chunk.order}", uid, f"{uid}:{chunk.parent_label}", chunk.order,
                chunk.text, f"{uid}:{chunk.order}",
                (SourceSpan(chunk.page_start, chunk.char_start, chunk.char_end),), metadata, None,
                parents[chunk.parent_label], None, tokenizer, status="draft",
            )
        )  # fmt: skip
    return ChunkPreview(
        made.name, uid, tuple(chunks), made.document.attachments, made.document, made.report
    )


def _shown_parent(uid: str, parent: "Parent") -> "ParentPassage":
    from rag_assets.retrieval import ParentPassage

    pages = locate_pages(parent.page_starts, parent.char_start, parent.char_end)
    return ParentPassage(
        "", f"{uid}:{parent.label}", uid, parent.label, parent.order, parent.char_start,
        parent.char_end, *pages, parent.section_path, parent.text, hash_text(parent.text),
    )  # fmt: skip


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
    if hit.law is not None:
        metadata["law"] = hit.law_values
    metadata["document"] = json.loads(document["metadata"])
    if hit.edited is not None:
        metadata["printed"] = hit.text
    return KnowledgeChunk(
        hit.namespace,
        hit.chunk_id,
        hit.doc_uid,
        hit.parent_id,
        hit.chunk_index,
        hit.shown,
        hit.citation_id,
        (SourceSpan(hit.page_start, hit.char_start, hit.char_end),),
        {**metadata, "section_path": list(hit.section_path), "doc_id": hit.doc_id},
        hit,
        parent,
        window,
        tokenizer,
    )
