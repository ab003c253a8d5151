"""Passages of chosen sections; what is confined too tightly is widened, and this is said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from rag_assets.model import SectionCategory
from rag_assets.publishing.content_words import content_stems
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.papers.locating import (
    COARSE_PAPERS,
    Located,
    Paper,
    PaperLibrary,
    locate_paper,
    search_abstracts,
)
from rag_assets.retrieval.papers.routes import Route, route_question, without_names
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.retrieval.retriever import Retrieved, Retriever
from rag_assets.retrieval.section_hints import neighbouring_sections

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel

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


# One paper, or a field: the two ways in which a question goes through a library (spec 002).


Track = Literal["paper", "undecided", "topic"]


@dataclass(frozen=True, slots=True)
class RoutedPapers:
    """Where a question leads, before anything but abstracts is searched.

    Args:
        route: what the question asks for, and who decided.
        track: `paper`: one is located; `undecided`: some cannot be told apart; `topic`: a field,
            or a paper that is not here.
        papers: the one; those that cannot be told apart; or the nearest ones, best first.
        located: how the paper was located; None for a question about a topic.
        told: what a person should know.
        asked: the question as abstracts were searched with it; None where they were not.
    """

    route: Route
    track: Track
    papers: tuple[Paper, ...]
    located: Located | None = None
    told: tuple[str, ...] = ()
    asked: AskedQuery | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PaperSearch:
    """What a question found on its track; it carries the route with its origin.

    Args:
        routed: route, track and papers.
        hits: best first, of `routed.papers` alone where there are any.
        told: what a person should know, each widening among it.
        retrieved: the last search, with its warnings, settings and publications.
    """

    routed: RoutedPapers
    hits: tuple[Hit, ...]
    told: tuple[str, ...]
    retrieved: Retrieved


def route_papers(
    retriever: Retriever,
    question: str,
    *,
    llm: "ChatModel | None" = None,
    route: Route | None = None,
    filters: SearchFilters = EVERYTHING,
    papers: int = COARSE_PAPERS,
) -> RoutedPapers:
    """Return where a question leads: the one paper that it means, or the nearest ones.

    Args:
        retriever: entered.
        question: as asked.
        llm: decides the route; None for rules.
        route: decided before.
        filters: which papers may be meant.
        papers: of a topic at most.

    Raises:
        LanguageModelError, BudgetError: as `route_question`.
    """
    library = PaperLibrary(retriever.readers)
    chosen = route or route_question(question, library.names_in(question), llm)
    told = list(chosen.told)
    located = None
    if chosen.intent == "SPECIFIC_PAPER":
        located = locate_paper(retriever, question, chosen, filters=filters, library=library)
        told += located.told
        if located.paper is not None:
            return RoutedPapers(chosen, "paper", (located.paper,), located, tuple(told))
        if located.by is not None:
            return RoutedPapers(chosen, "undecided", located.candidates, located, tuple(told))
        told.append("it is searched as a question about a topic")
    found = search_abstracts(retriever, question, papers, filters=filters, library=library)
    nearest = tuple(one.paper for one in found.papers)
    if not nearest:
        told.append("no abstract answers the question: the whole library is searched")
    return RoutedPapers(chosen, "topic", nearest, located, tuple(told), found.retrieved.query)


def search_papers(
    retriever: Retriever,
    question: str,
    k: int = 10,
    *,
    llm: "ChatModel | None" = None,
    route: Route | None = None,
    filters: SearchFilters = EVERYTHING,
) -> PaperSearch:
    """Return the passages that answer a question, found on its track.

    Track A: within the one paper, in the sections that the question asks for and those that tell
    of the same where these do not (`neighbouring_sections`); the former gain. Track B: within the
    full texts of the five papers whose abstracts are nearest. Of papers that cannot be told apart
    each is searched and none is taken for the one that is meant: `told` names them.

    Args:
        retriever: entered.
        question: as asked. Within one paper it is searched without the paper's names.
        k: passages at most, from 1.
        llm: decides the route; None for rules.
        route: decided before.
        filters: what is searched besides.

    Raises:
        UsageError: no word in the question, `k` below 1.
        LanguageModelError, BudgetError: as `route_question`.
    """
    routed = route_papers(retriever, question, llm=llm, route=route, filters=filters)
    confined = only_papers(filters, routed.papers, retriever) if routed.papers else filters
    wanted = routed.route.target_section_category if routed.track != "topic" else ()
    asked = without_names(question) if routed.track == "paper" else question
    asked = asked if len(content_stems(asked)) > 1 else question
    found = search_by_section(
        retriever,
        asked,
        None,
        neighbouring_sections(wanted),
        k,
        filters=confined,
        favoured=wanted,
        asked=routed.asked,
    )
    return PaperSearch(routed, found.hits, (*routed.told, *found.told), found.retrieved)


def only_papers(
    filters: SearchFilters, papers: Sequence[Paper], retriever: Retriever
) -> SearchFilters:
    """Return filters that nothing passes but these papers; none of another namespace's uid."""
    wanted = {paper.key for paper in papers}
    uids = tuple(dict.fromkeys(paper.doc_uid for paper in papers))
    twins = tuple(
        f"{reader.namespace}:{uid}"
        for reader in retriever.readers
        for uid in uids
        if (reader.namespace, uid) not in wanted
    )
    return replace(filters, doc_uids=uids, without=(*filters.without, *twins))
