"""One paper, or a field: the two ways in which a question goes through a library (spec 002)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from rag_assets.publishing.content_words import content_stems
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.papers.abstracts import COARSE_PAPERS, search_abstracts
from rag_assets.retrieval.papers.library import Paper, PaperLibrary
from rag_assets.retrieval.papers.locating import Located, locate_paper
from rag_assets.retrieval.papers.naming import without_names
from rag_assets.retrieval.papers.routing import Route, route_question
from rag_assets.retrieval.papers.sections import search_by_section
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.retrieval.retriever import Retrieved, Retriever
from rag_assets.retrieval.section_hints import neighbouring_sections

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel

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
