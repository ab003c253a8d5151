"""The sentences of what was found that answer a question best, word for word."""

from collections.abc import Mapping
from dataclasses import dataclass

from rag_assets.agents import Passage
from rag_assets.evidence.answering import (
    THRESHOLD,
    FoundParent,
    choose_answers,
    judge_match,
    read_parents,
)
from rag_assets.model import SectionCategory

# Sentences of a section of this kind tell of others' work.
_OTHERS_WORK = SectionCategory.RELATED_WORK
# Sentences that are quoted at most, and the least share of the best one's probability.
MOST_QUOTES = 3
_OF_BEST = 0.5


@dataclass(frozen=True, slots=True)
class AnswerQuote:
    """A sentence of a passage, word for word. `score` is the probability that it answers."""

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
    found = judge_match(question, read_parents(question, _parents(passages)), is_named=False)
    return Match(found.is_good, found.likelihood, found.threshold)


def choose_quotes(question: str, passages: Mapping[str, Passage]) -> list[AnswerQuote]:
    """Return the one to three sentences that answer best, best first, each words once.

    A sentence of a section on others' work stands behind the others.
    """
    parents = _parents(passages)
    answers = choose_answers(parents, read_parents(question, parents))
    quotes = [
        AnswerQuote(
            alias, " ".join(answer.hit.text[answer.start : answer.end].split()), answer.score
        )
        for alias, answer in zip(passages, answers, strict=True)
        if answer is not None
    ]
    best = max((quote.score for quote in quotes), default=0.0)
    least = max(_OF_BEST * best, min(THRESHOLD, best))
    quotes = [quote for quote in quotes if quote.score >= least]

    def place(quote: AnswerQuote) -> tuple[bool, float]:
        return passages[quote.alias].section_category == _OTHERS_WORK, -quote.score

    first: dict[str, AnswerQuote] = {}
    for quote in sorted(quotes, key=place):
        first.setdefault(quote.text, quote)
    return list(first.values())[:MOST_QUOTES]


def _parents(passages: Mapping[str, Passage]) -> list[FoundParent[Passage]]:
    return [FoundParent(one.title, (one,), one) for one in passages.values()]
