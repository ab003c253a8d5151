"""Searches over papers: their abstracts, their sections, around a passage, their beginning."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.finding import text_size
from rag_assets.model import SectionCategory, UsageError
from rag_assets.retrieval import (
    NOT_EVIDENCE,
    Hit,
    Retrieved,
    Retriever,
    SearchFilters,
    expand_windows,
)

if TYPE_CHECKING:
    from rag_assets.retrieval import Reader

# Hits of category 0 that are looked at for each paper: an abstract may fill several passages.
_HITS_A_PAPER = 4
# Spec 002 §3.3.3.
INTRODUCTION_TOKENS = 500


@dataclass(frozen=True, slots=True)
class PaperHits:
    """Passages, best first or in the paper's order, and what was done otherwise than asked."""

    hits: tuple[Hit, ...]
    told: tuple[str, ...] = ()


def search_abstracts(retriever: Retriever, query: str, k: int, filters: SearchFilters) -> PaperHits:
    """Return the best passage of category 0 of each of the papers that are nearest.

    Where fewer than k papers have one, others follow by the passage found first, and it is told.
    """
    abstracts = replace(filters, section_categories=(int(SectionCategory.ABSTRACT),))
    most = k * _HITS_A_PAPER
    found = _first_of_each(retriever.retrieve(query, top_k=most, filters=abstracts))
    told: list[str] = []
    if len(found) < k:
        others = _first_of_each(retriever.retrieve(query, top_k=most, filters=filters))
        for key, hit in others.items():
            if key not in found and len(found) < k:
                found[key] = hit
                told.append(
                    f"{hit.doc_uid} has no abstract that answers: a passage of its text is shown."
                )
    return PaperHits(tuple(found.values())[:k], tuple(told))


def search_by_section(
    retriever: Retriever,
    query: str,
    doc_uid: str | None,
    category: int | None,
    k: int,
    filters: SearchFilters,
) -> PaperHits:
    """Return passages of one kind of section, of one paper or of all.

    Fewer than k of that kind are joined by those of the whole text, behind them, and it is told.

    Raises:
        UsageError: an unknown document, no word in the query.
    """
    documents = None if doc_uid is None else [doc_uid]
    chosen = replace(filters, section_categories=None if category is None else (category,))
    hits = retriever.retrieve(query, top_k=k, filters=chosen, document_ids=documents).hits
    if category is None or len(hits) >= k:
        return PaperHits(hits)
    wider = retriever.retrieve(query, top_k=k, filters=filters, document_ids=documents).hits
    joined = {hit.chunk_key: hit for hit in (*hits, *wider)}
    name = SectionCategory(category).name
    told = f"{len(hits)} of {k} passages stand in {name}: the whole text was searched too."
    return PaperHits(tuple(joined.values())[:k], (told,))


def window(retriever: Retriever, doc_uid: str, chunk_id: str | int, size: int) -> PaperHits:
    """Return the passages from `size` before to `size` after one, of its paper alone.

    Args:
        chunk_id: `doc_uid:number` as a hit names it, or the number alone.

    Raises:
        UsageError: no publication, or several, hold the paper; it has no such passage.
    """
    reader = _reader_of(retriever, doc_uid)
    written = str(chunk_id)
    own = written if written.startswith(f"{doc_uid}:") else f"{doc_uid}:{written}"
    hits = list(reader.fetch_hits([own]).values())
    if not hits:
        raise UsageError(
            f"document '{doc_uid}' has no passage '{chunk_id}'. A search names it, for instance "
            f"{doc_uid}:0."
        )
    (found,) = expand_windows([reader], hits, size)
    return PaperHits(found.chunks)


def introduction(retriever: Retriever, doc_uid: str) -> PaperHits:
    """Return the passages that hold the first 500 tokens of a paper's introduction.

    A paper without one is told by its abstract, else by its first passages, and it is told.

    Raises:
        UsageError: no publication, or several, hold the paper.
    """
    reader = _reader_of(retriever, doc_uid)
    columns = ["chunk_id", "kind", "section_category", "section_subtype"]
    rows = [
        row
        for row in reader.fetch_chunks(doc_uid, columns).to_pylist()
        if row["kind"] not in NOT_EVIDENCE and row["section_subtype"] is None
    ]
    for category in (SectionCategory.INTRODUCTION, SectionCategory.ABSTRACT, None):
        own = [r["chunk_id"] for r in rows if category is None or r["section_category"] == category]
        if own:
            break
    kept, size = [], 0.0
    for hit in reader.fetch_hits(own).values():
        kept.append(hit)
        size += text_size(hit.text)
        if size >= INTRODUCTION_TOKENS:
            break
    if category == SectionCategory.INTRODUCTION:
        return PaperHits(tuple(kept))
    instead = "its first passages are" if category is None else "its abstract is"
    return PaperHits(tuple(kept), (f"{doc_uid} has no introduction: {instead} shown.",))


def _first_of_each(retrieved: Retrieved) -> dict[tuple[str, str], Hit]:
    found: dict[tuple[str, str], Hit] = {}
    for hit in retrieved.hits:
        found.setdefault((hit.namespace, hit.doc_uid), hit)
    return found


def _reader_of(retriever: Retriever, doc_uid: str) -> "Reader":
    holding = [r for r in retriever.readers if r.fetch_documents([doc_uid]).num_rows]
    names = ", ".join(reader.namespace for reader in holding or retriever.readers)
    if not holding:
        raise UsageError(
            f"no publication of {names} holds a document '{doc_uid}'. A search names them."
        )
    if len(holding) > 1:
        raise UsageError(f"document '{doc_uid}' stands in {names}: ask one namespace alone.")
    return holding[0]
