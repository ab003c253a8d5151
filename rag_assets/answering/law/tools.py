"""The tools of an agent that searches statutes, and the rules that do without a model."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import mul
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from rag_assets.answering.agents import (
    AgentState,
    ContextTool,
    Decision,
    Found,
    FoundLine,
    Passage,
    RulesPolicy,
    Toolset,
)
from rag_assets.answering.law.record import LawSource
from rag_assets.embedding.bundled_files import E5
from rag_assets.law.citing import read_citation
from rag_assets.model import count_of, hash_text
from rag_assets.model.settings import QuestionSubject
from rag_assets.retrieval import ASKED, LEXICAL, Hit, Retriever, SearchFilters
from rag_assets.retrieval.statutes import FoundArticle, LawShelf, search_shelf

# Spec 003 §6.1: the top 20 go to the model.
TOP_K = 20
# Characters of all articles that one search shows: some 20,000 to 30,000 tokens.
MOST_CHARACTERS = 30_000
# Of so many articles of a search other wordings are looked up: the first ones are read.
_CHANGES_OF = 8
# Of 100 (rapidfuzz ratio); below it two articles of one number are two provisions.
_SAME_PROVISION = 50.0


@dataclass(frozen=True, slots=True)
class LawSearch:
    """What the tools work on; it remembers what is known of each article that it has shown.

    Args:
        shelf: of the retriever's publications, for `as_of`.
        sources: by `namespace::chunk_id` of the passage.
    """

    retriever: Retriever
    shelf: LawShelf
    as_of: date
    filters: SearchFilters
    sources: dict[str, LawSource] = field(default_factory=dict)


class GivenPoint(TypedDict):
    """A point of an answer with the articles that say it."""

    text: str
    citations: list[str]


class GivenConflict(TypedDict):
    """Two provisions that conflict: which prevails, and what each says."""

    prevails: str
    prevails_says: str
    yields: str
    yields_says: str


def law_search(
    search: LawSearch,
    query: Annotated[str, Field(min_length=1, description="A question, or words of the law.")],
    k: Annotated[int, Field(ge=1, le=40, description="Articles at most.")] = TOP_K,
) -> Found:
    """Find articles on a question, in the wording that holds on the day, each whole."""
    found = search_shelf(
        search.retriever, search.shelf, query, search.as_of, top_k=k, filters=search.filters
    )
    likely = likelihoods([one.hit for one in found.found], search.retriever.settings.questions)
    articles = {
        article.citation: (article, score)
        for one, score in zip(found.found, likely, strict=True)
        for article in one.articles
    }
    lines: list[FoundLine] = []
    told = [f"{warning.rstrip('.')}." for warning in found.warnings]
    room = MOST_CHARACTERS
    shown: list[FoundArticle] = []
    for article, score in articles.values():
        if len(article.text) > room:
            told.append(
                f"{article.citation} has {len(article.text)} characters, more than there is room "
                "for, and is left out whole."
            )
            continue
        room -= len(article.text)
        shown.append(article)
        lines.append(_line(search, article, score))
    for article, other in _other_wordings(search.shelf, shown[:_CHANGES_OF]):
        if other.citation not in articles and len(other.text) <= room:
            room -= len(other.text)
            lines.append(_line(search, other, 0.0, change_of=article.citation))
    bare = sum(not one.articles for one in found.found)
    if bare:
        told.append(
            f"{count_of(bare, 'passage')} without article numbers (preambles, lists, annexes) "
            "cannot be cited as articles and are left out: `rag law search` shows them."
        )
    told += [f"Not cited: {reason}." for one in found.found for reason in one.unresolved]
    return Found(tuple(lines), tuple(told))


_NAMED = "named_article"
# Logistic regression over `features`: does a hit decide the question? Fitted on the first 20 hits
# of STARD's 920 questions, of which four fifths taught the encoder, and of 112 everyday ones
# (`python -m benchmarks.law_answers --fit`).
_ALIKE = 0.75
_BIAS = -3.46
_WEIGHTS = (2.95, 1.34, -26.41, -0.77, -4.19, 14.9)
# Articles that are quoted at most; how likely each has to answer the question, and the first one
# for any to be quoted; the share of the first one's score of the search that each has to have; how
# likely the first one has to for its answer to come without a warning. Chosen on the everyday
# questions: of 75 first ones that reach the last 0.71 decide, of 30 others 0.2.
MOST_ARTICLES = 5
LEAST_LIKELY = 0.05
_LEAST_OF_FIRST = 0.8
SURELY_LIKELY = 0.15


def features(hits: Sequence[Hit]) -> list[tuple[float, ...]]:
    """Return what tells of each hit of a search whether it decides the question.

    Its cosine; its BM25 over that of the best hit; how far its cosine is below the best one;
    how like the likest known question about it is, 0 where none is known, how far below that of
    the best hit, and how far above 0.75: two questions so alike mostly have one answer.
    """
    most = max((hit.scores.get(LEXICAL, 0.0) for hit in hits), default=0.0) or 1.0
    best, likest = (
        max((hit.scores.get(name, 0.0) for hit in hits), default=0.0) for name in (E5, ASKED)
    )
    found: list[tuple[float, ...]] = []
    for hit in hits:
        cosine, words = hit.scores.get(E5, 0.0), hit.scores.get(LEXICAL, 0.0)
        own = (cosine, words / most, best - cosine)
        asked = hit.scores.get(ASKED, 0.0)
        found.append((*own, asked, likest - asked, max(asked - _ALIKE, 0.0)))
    return found


def likelihoods(hits: Sequence[Hit], subject: QuestionSubject | None) -> list[float]:
    """Return how likely each hit decides the question that found it, 0 to 1, in their order.

    1 for an article that the question names; 0 for what the search puts far behind the first of
    the others, and for all where that one is not likely. Fitted for multilingual-e5-small with the
    layers taught on law; what another model finds is quoted in the order of the search, with a
    warning.
    """
    found = [_NAMED not in hit.explanation for hit in hits]
    if subject != "law" or not any(E5 in hit.scores for hit in hits):
        return [LEAST_LIKELY if is_found else 1.0 for is_found in found]
    odds = (_BIAS + sum(map(mul, _WEIGHTS, own)) for own in features(hits))
    likely = [round(1 / (1 + math.exp(-one)), 6) for one in odds]
    first = found.index(True) if any(found) else 0
    least = _LEAST_OF_FIRST * hits[first].score if likely[first] >= LEAST_LIKELY else math.inf
    return [
        (score if hit.score >= least else 0.0) if is_found else 1.0
        for hit, score, is_found in zip(hits, likely, found, strict=True)
    ]


def law_article(
    search: LawSearch,
    citation: Annotated[
        str,
        Field(
            description="[law > chapter > article], chapters may be left out; or in words: "
            "刑法133之一, 劳动合同法第5至7条."
        ),
    ],
) -> Found:
    """Show an article whole; of another wording where the citation names its day."""
    found = search.shelf.articles(citation, is_whole=True)
    return Found(tuple(_line(search, one, 0.0) for one in found))


def finish(
    search: LawSearch,  # noqa: ARG001 - as every tool has it
    points: Annotated[
        list[GivenPoint],
        Field(
            description="Sentences close to the words of the law, each with the citations of the "
            "articles that say it, letter for letter as a tool showed them; empty where nothing "
            "was found."
        ),
    ],
    conflicts: Annotated[
        list[GivenConflict] | None,
        Field(
            description="Provisions that contradict each other: the citation of the one that "
            "prevails and of the one that yields, and what each says; empty for none."
        ),
    ] = None,
) -> dict[str, Any]:
    """End with the answer. Points without a citation of an article that was shown are dropped."""
    return {"points": points, "conflicts": conflicts}


def law_tools(*, only_finish: bool = False) -> Toolset[LawSearch]:
    """Return the tools by name; `finish` alone where nothing more is to be searched."""
    offered = () if only_finish else (law_search, law_article)
    return Toolset({one.__name__: ContextTool(one) for one in offered}, ContextTool(finish))


def show_standing(source: LawSource, as_of: str) -> str:
    """Return rank and standing of an article on a day; what is not in force in capitals."""
    standing = source.standing.replace("_", " ")
    told = standing if source.standing == "in_force" else standing.upper()
    since = "" if source.is_stated else "; the text does not say since when it holds"
    return (
        f"{(source.level or 'rank not known').replace('_', ' ')}, {told} on {as_of}, wording of "
        f"{source.version_date or 'a day that is not known'}{since}"
    )


def _line(
    search: LawSearch, found: FoundArticle, score: float, *, change_of: str | None = None
) -> FoundLine:
    """Return an article as a line. What is not in force has no score: rules do not quote it."""
    version, law = found.version, found.version.law
    repeal = version.judged.repeal
    if version.standing not in {"in_force", "unknown"}:
        score = 0.0
    passage = Passage(
        namespace=law.namespace,
        doc_uid=law.doc_uid,
        # A chunk may hold several articles, and an article lie in several chunks.
        chunk_id=f"{law.doc_uid}:{found.start}-{found.end}",
        citation_id=found.citation,
        content_hash=hash_text(found.text),
        title=found.law_title,
        section_path=(*found.path, found.shown),
        section_category=None,
        page_start=None,
        page_end=None,
        char_start=found.start,
        char_end=found.end,
        text=found.text,
        score=round(score, 6),
        year=version.version_date.year if version.version_date else None,
    )
    source = LawSource(
        alias="",
        citation=found.citation,
        law=found.law_title,
        path=found.path,
        article=found.shown,
        key=read_citation(found.citation).key,
        level=version.wording.law_level,
        standing=version.standing,
        version_date=str(version.version_date) if version.version_date else None,
        holds_from=str(version.holds_from) if version.holds_from else None,
        is_stated=version.is_stated,
        issuer=version.wording.issuer,
        file=law.file,
        repealed_by=repeal.quoted if repeal is not None else None,
        change_of=change_of,
    )
    search.sources.setdefault(passage.chunk_key, source)
    return FoundLine(f"{found.citation} ({show_standing(source, str(search.as_of))})", passage)


def _other_wordings(
    shelf: LawShelf, articles: Sequence[FoundArticle]
) -> Iterator[tuple[FoundArticle, FoundArticle]]:
    """Yield each article with the likest one of the wordings before and after its own."""
    for article in articles:
        day = article.version.version_date
        asked = read_citation(article.citation)
        if day is None or asked.version is None:
            continue
        versions = [one for one in shelf.versions(asked.law) if one.version_date]
        before = [one for one in versions if one.version_date and one.version_date < day][:1]
        after = [one for one in versions if one.version_date and one.version_date > day][-1:]
        for version in (*before, *after):
            found = shelf.likest(version, article.text, _SAME_PROVISION)
            if found is not None and _bare(found) != _bare(article):
                yield article, found


def _bare(article: FoundArticle) -> str:
    """Return the text of an article without its number and white space."""
    return "".join(article.text.split()).removeprefix("".join(article.shown.split()))


# Counts as code: raise it when the same question is searched or answered otherwise.
RULES_NAME = "law-4"
QUOTES_NAME = f"rules:{RULES_NAME}"
SEARCH = "law_search"


def law_rules() -> RulesPolicy:
    """Return the rules for a question about law."""
    return RulesPolicy(RULES_NAME, _decide)


def first_search(question: str) -> Decision:
    """Return the search by which every answer begins."""
    return Decision(SEARCH, {"query": question, "k": TOP_K}, "The question as it was asked.")


def quote_articles(state: AgentState) -> dict[str, Any]:
    """Return the arguments of `finish`: the articles that answer the question, as they were found.

    The order of the search has the deciding article first more often than that of the estimates.
    """
    found = [one for one, passage in state.passages.items() if passage.score >= LEAST_LIKELY]
    return {
        "points": [
            {"text": state.passages[alias].text, "citations": [alias]}
            for alias in found[:MOST_ARTICLES]
        ],
        "conflicts": None,
    }


def _decide(state: AgentState) -> Decision:
    if not any(step.action == SEARCH for step in state.acted):
        return first_search(state.question)
    return Decision("finish", quote_articles(state), "The articles that were found first.")
