"""Passages of chosen sections; what is confined too tightly is widened, and this is said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag_assets.model import SectionCategory
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.retrieval.retriever import Retrieved, Retriever
from rag_assets.retrieval.section_hints import neighbouring_sections

# Of .1, .15, .2 and .3 the best on 82 questions of QASPER, by less than the interval is wide.
FAVOUR = 0.2


@dataclass(frozen=True, slots=True)
class SectionSearch:
    """What a search of sections found.

    Args:
        hits: best first, at most k.
        categories: what was searched in the end; None for the whole text.
        told: each widening, in a sentence.
        retrieved: the last search, with its warnings, settings and publications.
    """

    hits: tuple[Hit, ...]
    categories: tuple[int, ...] | None
    told: tuple[str, ...]
    retrieved: Retrieved


def search_by_section(
    retriever: Retriever,
    query: str,
    doc_uids: Sequence[str] | None = None,
    categories: Sequence[int] | None = None,
    k: int = 5,
    *,
    filters: SearchFilters = EVERYTHING,
    favoured: Sequence[int] = (),
    asked: AskedQuery | None = None,
) -> SectionSearch:
    """Return passages of some papers' sections that answer a question.

    Fewer than k passages of these sections are joined by those of neighbouring sections, then of
    the whole text; what was asked for stands first.

    Args:
        retriever: entered.
        query: a question or words.
        doc_uids: only these papers, by uid; None for all.
        categories: 0 abstract to 6 related work; None or empty for the whole text.
        k: passages at most, from 1.
        filters: what is searched besides.
        favoured: categories whose passages gain `FAVOUR` of the distance between the first and
            the last score of a search.
        asked: the question as an earlier search made it ready.

    Raises:
        UsageError: `k` below 1, no word in `query`, an unknown document.
    """
    hits: dict[str, Hit] = {}
    told: list[str] = []
    stages = _stages(categories)
    for number, stage in enumerate(stages):
        if number:
            told.append(_widened(stages[number - 1], stage, len(hits), k))
        found = retriever.retrieve(
            query,
            # What gains may come from below the k best.
            top_k=max(k, retriever.settings.rerank_k) if favoured else k,
            filters=replace(filters, section_categories=stage),
            document_ids=doc_uids,
            asked=asked,
        )
        asked = found.query
        for hit in _favour(found.hits, frozenset(favoured))[:k]:
            hits.setdefault(hit.chunk_key, hit)
        if len(hits) >= k or stage is None:
            break
    return SectionSearch(tuple(hits.values())[:k], stage, tuple(told), found)


def _favour(hits: Sequence[Hit], favoured: frozenset[int]) -> list[Hit]:
    if not hits or not favoured:
        return list(hits)
    gain = FAVOUR * (hits[0].score - hits[-1].score)
    return sorted(
        hits, key=lambda hit: -(hit.score + (gain if hit.section_category in favoured else 0.0))
    )


def _stages(categories: Sequence[int] | None) -> list[tuple[int, ...] | None]:
    if not categories:
        return [None]
    asked = tuple(dict.fromkeys(categories))
    wider = neighbouring_sections(asked)
    return [asked, *([wider] if wider != asked else []), None]


def _widened(
    before: Iterable[int] | None, after: Iterable[int] | None, found: int, wanted: int
) -> str:
    sections = show_sections(before)
    where = "the whole text" if after is None else show_sections(after)
    return f"{found} of {wanted} passages stand in {sections}: {where} was searched too"


def show_sections(categories: Iterable[int] | None) -> str:
    """Return the names of section categories."""
    names = [SectionCategory(one).name.lower().replace("_", " ") for one in categories or ()]
    return ", ".join(names) or "the whole text"
