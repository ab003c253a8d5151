"""The sentences of what was found that answer a question best, word for word."""

from collections.abc import Mapping
from dataclasses import dataclass

from rag_assets.agents import Passage
from rag_assets.evidence.answering import FoundParent, ReadParents, choose_answers, read_parents
from rag_assets.evidence.matching import judge_match
from rag_assets.model import SectionCategory, is_chinese

# Sentences that are quoted at most.
MOST_QUOTES = 5
# Sentences of a section of this kind tell of others' work.
_OTHERS_WORK = SectionCategory.RELATED_WORK


@dataclass(frozen=True, slots=True)
class AnswerQuote:
    """A sentence of a passage, word for word. `score` compares sentences of one question."""

    alias: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """Whether what was found seems to answer: `likelihood` from 0 to 1 beside its threshold."""

    is_good: bool
    likelihood: float
    threshold: float


def read_passages(question: str, passages: Mapping[str, Passage]) -> ReadParents:
    """Return the sentences of passages, measured for a question."""
    return read_parents(question, _parents(passages))


def match_of(question: str, passages: Mapping[str, Passage]) -> Match:
    """Return whether passages seem to answer a question, by the fitted weights of packs."""
    found = judge_match(question, read_passages(question, passages), is_named=False)
    return Match(found.is_good, found.likelihood, found.threshold)


def choose_quotes(question: str, passages: Mapping[str, Passage]) -> list[AnswerQuote]:
    """Return the best sentence of each of the best passages, best first, each words once.

    Scores compare sentences of one language: those in the language of the passage that the search
    found best stand first. Sentences of a section on others' work stand last.
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
    best = max(passages.values(), key=lambda one: one.score, default=None)
    chinese = best is not None and is_chinese(best.text)

    def place(quote: AnswerQuote) -> tuple[bool, bool, float]:
        is_of_others = passages[quote.alias].section_category == _OTHERS_WORK
        return is_of_others, is_chinese(quote.text) != chinese, -quote.score

    first: dict[str, AnswerQuote] = {}
    for quote in sorted(quotes, key=place):
        first.setdefault(quote.text, quote)
    return list(first.values())[:MOST_QUOTES]


def _parents(passages: Mapping[str, Passage]) -> list[FoundParent[Passage]]:
    return [FoundParent(one.title, (one,), one) for one in passages.values()]
