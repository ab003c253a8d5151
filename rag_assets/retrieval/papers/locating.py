"""The papers of a library as a question may call them, and what stands for their abstracts."""

import re
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal

from rapidfuzz import fuzz

from rag_assets.model import HAN, SectionCategory, is_chinese
from rag_assets.parsing import named_thing
from rag_assets.publishing.content_words import content_stems
from rag_assets.retrieval.filters import EVERYTHING, NOT_EVIDENCE, SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.papers.routes import Route, find_names, topic_of, without_names
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.retrieval.reader import Reader
from rag_assets.retrieval.retriever import Retrieved, Retriever

_ARXIV = re.compile(r"(?<!\d)(\d{4}\.\d{4,5})(?:v\d+)?(?!\d)")
_NOT_A_LETTER = re.compile(r"[\W_]+")
# A title of fewer words, or characters of Chinese, stands in questions that do not mean it.
_FEWEST_WORDS = 3
_FEWEST_HAN = 6
_COLUMNS = [
    "doc_uid", "doc_id", "title", "year", "citation_key", "doi", "url", "source_uri", "authors",
    "abstract",
]  # fmt: skip
_PLACES = ("doc_uid", "chunk_key", "chunk_id", "chunk_index", "kind", "section_category",
           "section_subtype")  # fmt: skip
# An abstract stands on the first pages; further chunks are not looked at.
_OPENING_CHUNKS = 12


@dataclass(frozen=True, slots=True)
class Paper:
    """A document as it is told to a person. `title` is the uid where it has none."""

    namespace: str
    doc_uid: str
    title: str
    year: int | None = None
    authors: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and uid: unique in the workspace."""
        return self.namespace, self.doc_uid

    def __str__(self) -> str:
        year = f" ({self.year})" if self.year else ""
        return f"“{self.title}”{year} {{#{self.doc_uid}}}"


@dataclass(frozen=True, slots=True)
class KnownPaper:
    """A paper with everything that it may be called by.

    Args:
        identifiers: case-folded: DOI, arXiv number, uid, key, file name, `doc_id`.
        title: letters and digits only, case-folded, words apart by a space.
        thing: the name that its title announces ("Thing: how it works").
        abstract: as the catalogue has it.
    """

    paper: Paper
    identifiers: frozenset[str]
    title: str
    thing: str | None
    abstract: str | None


class PaperLibrary:
    """The papers of some publications.

    Args:
        readers: one a namespace.
    """

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = tuple(readers)
        self.papers = tuple(paper for reader in readers for paper in _known_papers(reader))

    def names_in(self, question: str) -> tuple[str, ...]:
        """Return the titles, names and keys of papers that stand in a question.

        Titles count as words stand, whatever marks are between them; names that a title announces,
        uids and keys as they are written, and only where no ordinary word looks so.
        """
        asked = f" {plain(question)} "
        found: dict[str, None] = {}
        for known in self.papers:
            if is_long(known.title) and _stands(known.title, asked):
                found[known.paper.title] = None
            for name in (known.thing, *known.identifiers):
                # Most names stand in no question: nothing else is asked of them.
                if name and name in question and _is_name(name, known) and is_alone(name, question):
                    found[name] = None
        return tuple(found)

    def by_identifier(self, name: str) -> list[Paper]:
        """Return the papers that an identifier names; two where two files hold one paper."""
        key = _identifier(name)
        return [known.paper for known in self.papers if key in known.identifiers]

    def by_author(self, surnames: Iterable[str], year: int | None) -> list[Paper]:
        """Return the papers whose authors hold all surnames, the first of them first.

        Where nobody stands first, those that have them anywhere. Of that year where it is given;
        where none is, those of which no year is known.
        """
        wanted = [plain(name) for name in surnames]
        found = [
            known.paper
            for known in self.papers
            if wanted
            and all(_stands(name, f" {plain(' '.join(known.paper.authors))} ") for name in wanted)
        ]
        heads = [f" {plain(paper.authors[0])} " for paper in found]
        first = [p for p, head in zip(found, heads, strict=True) if _stands(wanted[0], head)]
        found = first or found
        if year is None:
            return found
        same_year = [paper for paper in found if paper.year == year]
        return same_year or [paper for paper in found if paper.year is None]

    def by_thing(self, name: str) -> list[Paper]:
        """Return the papers whose titles hold a name; those that announce it alone before."""
        announced = [known.paper for known in self.papers if known.thing == name]
        pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")
        return announced or [k.paper for k in self.papers if pattern.search(k.paper.title)]

    def standing_in(self) -> dict[tuple[str, str], str]:
        """Return, by paper, the `chunk_key` that stands for an abstract where there is none."""
        return {
            (reader.namespace, uid): key
            for reader in self._readers
            for uid, key in opening_chunks(reader).items()
        }


def paper_of(hit: Hit) -> Paper:
    """Return the paper of a hit."""
    return Paper(hit.namespace, hit.doc_uid, hit.doc_title or hit.doc_uid, hit.year)


def plain(text: str) -> str:
    """Return letters and digits only, case-folded, words apart by one space."""
    return _NOT_A_LETTER.sub(" ", text.casefold()).strip()


def is_long(title: str) -> bool:
    """Say whether a title, as `plain` gives it, is one that nobody writes by chance."""
    return len(title.split()) >= _FEWEST_WORDS or len(HAN.findall(title)) >= _FEWEST_HAN


def _stands(words: str, text: str) -> bool:
    """Say whether words stand in a padded text; Chinese has no spaces around them."""
    return (words if HAN.search(words) else f" {words} ") in text


def _identifier(text: str) -> str:
    name = text.casefold().strip()
    arxiv = _ARXIV.search(name)
    is_arxiv = arxiv is not None and ("arxiv" in name or arxiv[0] == name)
    return arxiv[1] if arxiv and is_arxiv else name


def _is_name(name: str, known: KnownPaper) -> bool:
    return name == known.thing or "_" in name or any(sign.isdigit() for sign in name)


def is_alone(name: str, text: str) -> bool:
    """Say whether a name stands in a text as it is written, and is no part of a longer one."""
    pattern = rf"(?<![A-Za-z0-9_/.-]){re.escape(name)}(?![A-Za-z0-9_/-])"
    return re.search(pattern, text) is not None


# What a publication holds does not change while it is open.
_papers: "weakref.WeakKeyDictionary[Reader, tuple[KnownPaper, ...]]" = weakref.WeakKeyDictionary()
_openings: "weakref.WeakKeyDictionary[Reader, Mapping[str, str]]" = weakref.WeakKeyDictionary()


def _known_papers(reader: Reader) -> tuple[KnownPaper, ...]:
    if reader not in _papers:
        rows = reader.documents().select(_COLUMNS).to_pylist()
        _papers[reader] = tuple(_known(reader.namespace, row) for row in rows)
    return _papers[reader]


def _known(namespace: str, row: Mapping[str, Any]) -> KnownPaper:
    title = row["title"] or row["doc_uid"]
    stem = PurePosixPath(row["source_uri"] or "").stem
    names = (row["doc_uid"], row["doc_id"], row["citation_key"], row["doi"], stem)
    identifiers = {_identifier(name) for name in names if name}
    for place in (row["doi"], row["url"], row["source_uri"]):
        if place and "arxiv" in place.casefold() and (number := _ARXIV.search(place)):
            identifiers.add(number[1])
    paper = Paper(namespace, row["doc_uid"], title, row["year"], tuple(row["authors"] or ()))
    return KnownPaper(
        paper, frozenset(identifiers), plain(title), named_thing(title), row["abstract"]
    )


def opening_chunks(reader: Reader) -> Mapping[str, str]:
    """Return, for documents without a passage of category 0, what is nearest to an abstract.

    Of its first passages the one with most words of the catalogue's abstract; where that has none,
    the first of running text.

    Returns:
        `chunk_key` by `doc_uid`.
    """
    if reader not in _openings:
        _openings[reader] = _find_openings(reader)
    return _openings[reader]


def _find_openings(reader: Reader) -> dict[str, str]:
    category = (int(SectionCategory.ABSTRACT),)
    having = reader.fetch_columns(["doc_uid"], SearchFilters(section_categories=category))
    have = set(having.column("doc_uid").to_pylist())
    lacking = {known.paper.doc_uid: known for known in _known_papers(reader)}
    lacking = {uid: known for uid, known in lacking.items() if uid not in have}
    if not lacking:
        return {}
    asked = SearchFilters(doc_uids=tuple(lacking))
    first: dict[str, list[dict[str, Any]]] = {uid: [] for uid in lacking}
    rows = reader.fetch_columns(_PLACES, asked).to_pylist()
    for row in sorted(rows, key=lambda row: row["chunk_index"]):
        own = first[row["doc_uid"]]
        is_body = row["kind"] not in {*NOT_EVIDENCE, "front"} and not row["section_subtype"]
        if is_body and len(own) < _OPENING_CHUNKS:
            own.append(row)
    found = {}
    for uid, own in first.items():
        abstract = lacking[uid].abstract
        if own:
            nearest = max(own, key=_shared_words(reader, own, abstract)) if abstract else own[0]
            found[uid] = nearest["chunk_key"]
    return found


def _shared_words(reader: Reader, rows: Sequence[Mapping[str, Any]], abstract: str) -> Any:
    wanted = content_stems(abstract)
    texts = reader.fetch_hits(row["chunk_id"] for row in rows)
    shared = {key: len(wanted & content_stems(hit.text)) for key, hit in texts.items()}
    return lambda row: shared[row["chunk_id"]]


# Papers by their abstracts: the first look at a library.


# Spec 002 §3.3.2: papers of the coarse search.
COARSE_PAPERS = 5


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A paper with the passage of its abstract that was found.

    Args:
        passage: of category 0; of a paper without an abstract what stands for it.
        score: fused; compares papers of one search only.
    """

    paper: Paper
    passage: Hit
    score: float


@dataclass(frozen=True, slots=True)
class AbstractSearch:
    """Papers, best first, and the search that found them."""

    papers: tuple[FoundPaper, ...]
    retrieved: Retrieved


def search_abstracts(
    retriever: Retriever,
    query: str,
    k: int = COARSE_PAPERS,
    *,
    filters: SearchFilters = EVERYTHING,
    library: PaperLibrary | None = None,
    asked: AskedQuery | None = None,
) -> AbstractSearch:
    """Return the papers whose abstracts answer a question best, each once.

    A paper without an abstract is found by the passage that is nearest to one
    (`library.opening_chunks`).

    Args:
        retriever: entered.
        query: a question or words.
        k: papers at most, from 1.
        filters: what is searched besides; its section categories are not looked at.
        library: of the same retriever, where the caller has it.
        asked: the question as an earlier search made it ready.

    Raises:
        UsageError: `k` below 1, or no word in `query`.
    """
    papers = library or PaperLibrary(retriever.readers)
    settings = retriever.settings
    once = settings.quality.model_copy(update={"max_per_document": 1})
    settings = settings.model_copy(update={"quality": once, "window": 0})
    wanted = filters.doc_uids
    confined = replace(
        filters,
        section_categories=(int(SectionCategory.ABSTRACT),),
        standing_in=tuple(
            key for (_, uid), key in papers.standing_in().items() if wanted is None or uid in wanted
        ),
    )
    found = retriever.retrieve(query, top_k=k, filters=confined, settings=settings, asked=asked)
    return AbstractSearch(
        tuple(FoundPaper(paper_of(hit), hit, hit.score) for hit in found.hits), found
    )


# The one paper that a question means, or the two that it may mean (spec 002 §3.3.2, track A).


By = Literal["identifier", "title", "name", "authors", "only paper", "abstract"]

# Titles are alike from here on, on rapidfuzz's scale to 100: a typo in ten letters is 90.
_ALIKE = 88.0
# And told apart from the next one by so much.
_TITLE_MARGIN = 4.0
# By abstract a paper is known when its score stands above the next one's by this share of it …
ABSTRACT_MARGIN = 0.08
# … and title and abstract hold this share of the question's words; else the paper is not here.
# Both fitted on questions about known papers: of 150 questions made of words of
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
