"""The one paper that a question means, or the two that it may mean (spec 002 §3.3.2, track A)."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz import fuzz

from rag_assets.model import SectionCategory, is_chinese
from rag_assets.publishing.content_words import content_stems
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.papers.abstracts import FoundPaper, search_abstracts
from rag_assets.retrieval.papers.library import Paper, PaperLibrary, is_long, paper_of, plain
from rag_assets.retrieval.papers.naming import find_names, without_names
from rag_assets.retrieval.papers.routing import Route
from rag_assets.retrieval.papers.rules import topic_of
from rag_assets.retrieval.retriever import Retriever

By = Literal["identifier", "title", "name", "authors", "only paper", "abstract"]

# Titles are alike from here on, on rapidfuzz's scale to 100: a typo in ten letters is 90.
_ALIKE = 88.0
# And told apart from the next one by so much.
_TITLE_MARGIN = 4.0
# By abstract a paper is known when its score stands above the next one's by this share of it …
ABSTRACT_MARGIN = 0.08
# … and title and abstract hold this share of the question's words; else the paper is not here.
# Both fitted on the dev half of `benchmarks/paper_routes.py`: of 150 questions made of words of
# abstracts 0.89 name a paper, 0.985 of them the right one; of 65 about papers that are not there
# six name one.
LEAST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Located:
    """Which paper is meant.

    Args:
        paper: the one; None where there is none, or several cannot be told apart.
        candidates: what may be meant, best first; both where two cannot be told apart.
        by: what told it.
        told: what a person should know, as sentences.
    """

    paper: Paper | None
    candidates: tuple[Paper, ...] = ()
    by: By | None = None
    told: tuple[str, ...] = ()


def locate_paper(
    retriever: Retriever,
    question: str,
    route: Route,
    *,
    filters: SearchFilters = EVERYTHING,
    library: PaperLibrary | None = None,
) -> Located:
    """Return the paper that a question means.

    In this order: an identifier; a title; a named thing in titles, then in abstracts; authors with
    a year; the only paper that there is; words and vectors over abstracts. A step that leaves
    several papers hands them to the next ones, which choose among them alone.

    Args:
        retriever: entered.
        question: as asked.
        route: with what the paper is called by.
        filters: which papers may be meant: only its `doc_uids` and `without` are looked at here.
        library: of the same retriever, where the caller has it.
    """
    papers = library or PaperLibrary(retriever.readers)
    left: tuple[Paper, ...] = ()
    by: By | None = None
    for kind, look in _STEPS:
        found = _among(look(papers, retriever, question, route), left, filters)
        if len(found) == 1:
            return Located(found[0], found, kind)
        if found:
            left, by = found, kind
    if not left and route.target_paper_keywords and _names_are_sure(question, route):
        named = ", ".join(f"“{name}”" for name in route.target_paper_keywords)
        return Located(None, (), None, (f"no paper of the library is called {named}",))
    return _by_abstract(papers, retriever, question, route, left, by, filters)


def _names_are_sure(question: str, route: Route) -> bool:
    """Say whether the paper must be called as it is named: then no other is meant instead."""
    names = find_names(question)
    sure = {*names.identifiers, *names.things, *names.works}
    return any(name in sure for name in route.target_paper_keywords)


def _among(
    found: Iterable[Paper], left: Sequence[Paper], filters: SearchFilters
) -> tuple[Paper, ...]:
    allowed = []
    for paper in dict.fromkeys(found):
        namespace, uid = paper.key
        is_shut = uid in filters.without or f"{namespace}:{uid}" in filters.without
        is_chosen = filters.doc_uids is None or uid in filters.doc_uids
        if is_chosen and not is_shut and (not left or paper in left):
            allowed.append(paper)
    return tuple(allowed)


def _by_identifier(papers: PaperLibrary, _: Retriever, question: str, route: Route) -> list[Paper]:
    names = (*find_names(question).identifiers, *route.target_paper_keywords)
    return [paper for name in names for paper in papers.by_identifier(name)]


def _by_title(papers: PaperLibrary, _: Retriever, question: str, route: Route) -> list[Paper]:
    asked = [plain(name) for name in route.target_paper_keywords]
    text = plain(question)
    scored = []
    for known in papers.papers:
        score = max((_alike(name, known.title) for name in asked), default=0.0)
        if is_long(known.title) and known.title in text:
            score = 100.0 + len(known.title)  # the longer of two titles that stand there
        if score >= _ALIKE:
            scored.append((score, known.paper))
    if not scored:
        return []
    best = max(score for score, _ in scored)
    return [paper for score, paper in scored if score > best - _TITLE_MARGIN]


def _alike(name: str, title: str) -> float:
    """Return how alike a name and a title are, to 100; a long part of a title counts as it."""
    if not is_long(name):
        return 100.0 if name == title else 0.0
    whole = fuzz.ratio(name, title)
    if len(name) > len(title):
        return whole
    return max(whole, fuzz.partial_ratio(name, title))


def _by_thing(papers: PaperLibrary, _: Retriever, question: str, route: Route) -> list[Paper]:
    return [paper for name in _short_names(question, route) for paper in papers.by_thing(name)]


def _by_thing_in_abstract(
    papers: PaperLibrary, retriever: Retriever, question: str, route: Route
) -> list[Paper]:
    names = [name for name in _short_names(question, route) if name in find_names(question).things]
    confined = SearchFilters(
        section_categories=(int(SectionCategory.ABSTRACT),),
        standing_in=tuple(papers.standing_in().values()),
    )
    found = []
    for name in names:
        pattern = rf"(?:^|[^A-Za-z0-9]){re.escape(name)}(?:$|[^A-Za-z0-9])"
        for reader in retriever.readers:
            hits = reader.fetch_hits(reader.find_pattern(pattern, confined))
            found += [paper_of(hit) for hit in hits.values()]
    known = {known.paper.key: known.paper for known in papers.papers}
    return [known[paper.key] for paper in found]


def _short_names(question: str, route: Route) -> list[str]:
    """Return the names that are no titles: of things, or short enough to stand in a title."""
    names = find_names(question)
    others = {*names.identifiers, *names.works}
    return [
        name
        for name in route.target_paper_keywords
        if name not in others and not is_long(plain(name))
    ]


def _by_authors(papers: PaperLibrary, _: Retriever, question: str, route: Route) -> list[Paper]:
    found = []
    for work in (
        name for name in find_names(question).works if name in route.target_paper_keywords
    ):
        year = re.search(r"\d{4}", work)
        text = re.sub(r"et al\.?|\d{4}[a-z]?|等人?|年的", " ", work)
        surnames = [
            word for word in re.split(r"[\W_]+|\band\b|和", text) if word and word[0].isalpha()
        ]
        found += papers.by_author(surnames, int(year[0]) if year else None)
    return found


def _only_paper(papers: PaperLibrary, _: Retriever, __: str, ___: Route) -> list[Paper]:
    return [papers.papers[0].paper] if len(papers.papers) == 1 else []


_Look = Callable[[PaperLibrary, Retriever, str, Route], list[Paper]]
_STEPS: tuple[tuple[By, _Look], ...] = (
    ("identifier", _by_identifier),
    ("title", _by_title),
    ("name", _by_thing),
    ("authors", _by_authors),
    ("name", _by_thing_in_abstract),
    ("only paper", _only_paper),
)


def _by_abstract(
    papers: PaperLibrary,
    retriever: Retriever,
    question: str,
    route: Route,
    left: Sequence[Paper],
    by: By | None,
    filters: SearchFilters,
) -> Located:
    chosen = filters
    if left:
        chosen = replace(filters, doc_uids=tuple(dict.fromkeys(paper.doc_uid for paper in left)))
    topic = topic_of(without_names(question))
    if not any(sign.isalnum() for sign in topic):
        return _undecided(left, by) if left else Located(None, (), None, (_unnamed(route),))
    search = search_abstracts(retriever, topic, 2, filters=chosen, library=papers)
    known = {known.paper.key: known.paper for known in papers.papers}
    found = [one for one in search.papers if not left or one.paper.key in {p.key for p in left}]
    candidates = tuple(known[one.paper.key] for one in found)
    if not found:
        return _undecided(left, by)
    # Words of one language are not held by the other: then vectors alone spoke, and none is taken.
    is_read = is_chinese(topic) == is_chinese(found[0].passage.text)
    if not left and is_read and _share(topic, found[0]) < LEAST_SHARE:
        return Located(None, candidates, None, (_unnamed(route),))
    if len(found) == 1 or (is_read and _margin(found) >= ABSTRACT_MARGIN):
        return Located(candidates[0], candidates, "abstract")
    return _undecided(candidates, by or "abstract")


def _margin(found: Sequence[FoundPaper]) -> float:
    """Return by which share of the best score the second stays below it."""
    best, second = found[0].score, found[1].score
    return (best - second) / best if best > 0 else 0.0


def _share(topic: str, found: FoundPaper) -> float:
    """Return the share of a topic's words that title or abstract hold."""
    wanted = content_stems(topic)
    held = content_stems(f"{found.paper.title} {found.passage.text}")
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _undecided(candidates: Sequence[Paper], by: By | None) -> Located:
    if not candidates:
        return Located(None, (), None, ("no paper of the library was found for the question",))
    both = " and ".join(map(str, candidates[:2]))
    told = f"two papers cannot be told apart: {both}"
    if len(candidates) > 2:
        told = f"{len(candidates)} papers cannot be told apart, {both} among them"
    return Located(None, tuple(candidates), by, (f"{told}. Name one by its uid.",))


def _unnamed(route: Route) -> str:
    if route.target_paper_keywords:
        named = ", ".join(f"“{name}”" for name in route.target_paper_keywords)
        return f"no paper of the library is called {named}"
    return "the question speaks of one paper and does not say which"
