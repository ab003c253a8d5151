"""Rules decide: search, look whether it answers, search otherwise, quote; no model is asked."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.answering.agents import AgentState, Decision, Passage, RulesPolicy, Step, show_marks
from rag_assets.evidence.answering import (
    THRESHOLD,
    FoundParent,
    choose_answers,
    read_parents,
)
from rag_assets.evidence.locating import suggest_query
from rag_assets.model import SectionCategory
from rag_assets.retrieval.papers import Route
from rag_assets.retrieval.section_hints import hinted_sections

# Sentences of a section of this kind tell of others' work.
_OTHERS_WORK = SectionCategory.RELATED_WORK
# Sentences that are quoted at most, and the least share of the best one's probability.
MOST_QUOTES = 2
_OF_BEST = 0.8


@dataclass(frozen=True, slots=True)
class AnswerQuote:
    """A sentence of a passage, word for word, or a row of a table with the names of its columns.

    Args:
        score: the probability that it answers.
    """

    alias: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """Whether what was found seems to answer: the highest probability, and its threshold."""

    is_good: bool
    likelihood: float
    threshold: float


def match_of(question: str, passages: Mapping[str, Passage]) -> Match:
    """Return whether passages seem to answer a question, as a pack does of what it found."""
    best = read_parents(question, _parents(passages)).best
    return Match(best >= THRESHOLD, best, THRESHOLD)


def choose_quotes(question: str, passages: Mapping[str, Passage]) -> list[AnswerQuote]:
    """Return the one or two sentences that answer best, best first, each words once.

    A sentence of a section on others' work stands behind the others.
    """
    parents = _parents(passages)
    answers = choose_answers(parents, read_parents(question, parents))
    quotes = [
        AnswerQuote(
            alias,
            answer.row or " ".join(answer.hit.text[answer.start : answer.end].split()),
            answer.score,
        )
        for alias, own in zip(passages, answers, strict=True)
        for answer in own
    ]
    best = max((quote.score for quote in quotes), default=0.0)
    quotes = [quote for quote in quotes if quote.score >= _OF_BEST * best]

    def place(quote: AnswerQuote) -> tuple[bool, float]:
        return passages[quote.alias].section_category == _OTHERS_WORK, -quote.score

    first: dict[str, AnswerQuote] = {}
    for quote in sorted(quotes, key=place):
        first.setdefault(quote.text, quote)
    return list(first.values())[:MOST_QUOTES]


def _parents(passages: Mapping[str, Passage]) -> list[FoundParent[Passage]]:
    return [FoundParent(one.title, (one,), one) for one in passages.values()]


# Counts as code: raise it when the same question is searched or answered otherwise.
RULES_NAME = "papers-5"
QUOTES_NAME = f"rules:{RULES_NAME}"
# Spec 002 §5.3: after so many searches of passages it is said that nothing was found.
MOST_ATTEMPTS = 3
_PAPERS = 5
_SEARCH = "search_by_section"
_MORE_PASSAGES = 10
# Characters of the passage that is followed; a model reads some hundred words more.
_FOLLOWED = 400
# Marks of a document that stand for nothing in a search, and might act where its query is shown.
_MARKUP = re.compile(r"[<>`|\[\]{}]")
_NOT_A_LETTER = re.compile(r"[\W_]+")


def paper_rules(route: Route, doc_id: str | None = None) -> RulesPolicy:
    """Return the rules for a question about papers.

    Args:
        route: what the question asks for.
        doc_id: the one paper that it is about, where it was located; else the first paper by
            abstract whose title holds a name of the route.
    """
    return RulesPolicy(RULES_NAME, lambda state: _decide(state, route, doc_id))


def quote_answer(state: AgentState) -> dict[str, Any]:
    """Return the arguments of `finish`: the best sentences, one a line, word for word."""
    return quote_passages(state.question, state.passages)


def quote_passages(question: str, passages: Mapping[str, Passage]) -> dict[str, Any]:
    """Return them for passages by alias."""
    quotes = choose_quotes(question, passages)
    return {
        "answer": "\n".join(f"{quote.text} {show_marks([quote.alias])}" for quote in quotes),
        "sources": [quote.alias for quote in quotes],
    }


def _decide(state: AgentState, route: Route, doc_id: str | None) -> Decision:
    if not state.acted and doc_id is None:
        return _look_at_abstracts(state, route)
    paper = doc_id or _named_paper(state, route)
    searches = [step for step in state.acted if step.action == _SEARCH]
    attempts = len(searches)
    # A note of few passages that has the name is no paper to stay in: what it tells of it leads on.
    if doc_id is None and any(_is_all_of(step, paper) for step in searches):
        paper = None
        if len(searches) == 1:
            thought = "That document is short: the question as it was asked, everywhere."
            return Decision(_SEARCH, _whole(state.question, None), thought)
    is_good = attempts > 0 and match_of(state.question, state.passages).is_good
    if is_good and paper is None and state.steps_left > 1:
        following = _follow(state, searches)
        if following is not None:
            return following
    if is_good:
        return Decision("finish", quote_answer(state), "What was found seems to answer.")
    made = {_key(step.arguments or {}) for step in state.acted if step.action == _SEARCH}
    waiting = [
        (thought, arguments)
        for thought, arguments in _searches(state.question, route, paper)
        if _key(arguments) not in made
    ]
    if attempts >= MOST_ATTEMPTS or state.steps_left <= 1 or not waiting:
        thought = f"Nothing that answers was found in {attempts} searches of passages."
        return Decision("finish", quote_answer(state), thought)
    thought, arguments = waiting[0]
    return Decision(_SEARCH, arguments, thought)


def _is_all_of(step: Step, paper: str | None) -> bool:
    """Say whether a search of one paper returned all of its passages, fewer than it might."""
    given = step.arguments or {}
    found = step.observation.lines if step.observation is not None else ()
    return paper is not None and given.get("doc_id") == paper and len(found) < given.get("k", 0)


def _follow(state: AgentState, searches: Sequence[Step]) -> Decision | None:
    """Return a search for what the best passage leads to; None where it was made.

    A question of several hops names the first alone. Of 120 of MuSiQue all supporting paragraphs
    stand in the first ten of one search in 0.38, of the two together in 0.49; of 120 of HotpotQA
    in 0.85 and 0.87.
    """
    last = searches[-1]
    asked = str((last.arguments or {}).get("query", ""))
    if asked.startswith(f"{state.question} ") or last.observation is None:
        return None
    first = next((line.alias for line in last.observation.lines if line.alias), None)
    if first is None:
        return None
    told = " ".join(_MARKUP.sub(" ", state.passages[first].text).split())[:_FOLLOWED]
    arguments = _whole(f"{state.question} {told}", None)
    return Decision(_SEARCH, arguments, f"What {show_marks([first])} leads to.")


def _look_at_abstracts(state: AgentState, route: Route) -> Decision:
    names = " ".join(route.target_paper_keywords)
    is_paper = route.intent == "SPECIFIC_PAPER" and names
    thought = "Which paper is meant?" if is_paper else "Which papers are about this?"
    query = names if is_paper else state.question
    return Decision("search_abstracts", {"query": query, "k": _PAPERS}, thought)


def _named_paper(state: AgentState, route: Route) -> str | None:
    """Return the first paper that was seen whose title or id holds a name of the route."""
    if route.intent != "SPECIFIC_PAPER":
        return None
    for name in route.target_paper_keywords:
        for passage in state.passages.values():
            if _plain(name) in _plain(f"{passage.title or ''} {passage.doc_uid}"):
                return passage.doc_uid
    return None


def _plain(text: str) -> str:
    """Return a padded text in which a name is told from a part of a longer one."""
    return f" {_NOT_A_LETTER.sub(' ', text.casefold()).strip()} "


def _searches(
    question: str, route: Route, paper: str | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the searches in their order: as asked, its words in sections, its words everywhere."""
    words = suggest_query(question) or question
    asked = tuple(SectionCategory(number) for number in route.target_section_category)
    hinted = [one for one in hinted_sections(question) or () if one not in asked]
    sections = [one.name for one in (*asked, *hinted)]
    where = f" of {paper}" if paper else ""
    # Not confined to a section at first: a wrong one hides what answers (82 questions of QASPER).
    yield (
        f"The question as it was asked, in the whole text{where}.",
        _whole(question, paper),
    )
    for section in sections[:2]:
        yield f"Its content words alone, in {section}{where}.", _arguments(words, paper, section)
    yield f"Its content words, in the whole text{where}.", _arguments(words, paper, None)
    yield "Its content words, in all papers.", _arguments(words, None, None)
    yield (
        "Its content words, in all papers, and more passages.",
        _whole(words, None),
    )


def _arguments(query: str, paper: str | None, category: str | None) -> dict[str, Any]:
    given = {"query": query, "doc_id": paper, "category": category}
    return {key: value for key, value in given.items() if value is not None}


def _whole(query: str, paper: str | None) -> dict[str, Any]:
    return {**_arguments(query, paper, None), "k": _MORE_PASSAGES}


def _key(arguments: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(arguments.items()))
