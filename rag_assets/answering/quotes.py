"""The sentences of what was found that answer a question best, word for word."""

from collections.abc import Mapping
from dataclasses import dataclass

from rag_assets.agents import Passage
from rag_assets.evidence.answering import FoundParent, ReadParents, choose_answers, read_parents
from rag_assets.evidence.matching import judge_match
from rag_assets.evidence.wording import coverage
from rag_assets.model import SectionCategory, is_chinese

# Sentences that are quoted at most.
MOST_QUOTES = 5
# Of the question's content words; below it nothing that was found is taken for an answer.
LEAST_SHARE = 0.4
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
    """Whether what was found seems to answer: likely enough, and of the question's words.

    Args:
        likelihood: from 0 to 1, by the fitted weights of packs, beside its threshold.
        share: of the question's content words that the passages in its language hold; None where
            there are none in its language.
    """

    is_good: bool
    likelihood: float
    threshold: float
    share: float | None


def read_passages(question: str, passages: Mapping[str, Passage]) -> ReadParents:
    """Return the sentences of passages, measured for a question."""
    return read_parents(question, _parents(passages))


def match_of(question: str, passages: Mapping[str, Passage]) -> Match:
    """Return whether passages seem to answer a question.

    The weights were fitted on whole pages of one search: of few passages of several searches they
    take too many for good, so that some of the question's words must be there as well.
    """
    found = judge_match(question, read_passages(question, passages), is_named=False)
    share = share_of_words(question, passages)
    is_good = found.is_good and (share is None or share >= LEAST_SHARE)
    return Match(is_good, found.likelihood, found.threshold, share)


def share_of_words(question: str, passages: Mapping[str, Passage]) -> float | None:
    """Return the share of a question's content words that passages in its language hold."""
    chinese = is_chinese(question)
    own = [one.text for one in passages.values() if is_chinese(one.text) == chinese]
    return round(coverage(question, "\n".join(own)), 6) if own else None


def choose_quotes(question: str, passages: Mapping[str, Passage]) -> list[AnswerQuote]:
    """Return the best sentence of each of the best passages, best first, each words once.

    Scores compare sentences of one language: those in the language of the passage that the searches
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
    by_language = {True: 0.0, False: 0.0}
    for passage in passages.values():
        own = is_chinese(passage.text)
        by_language[own] = max(by_language[own], passage.score)
    chinese = by_language[True] > by_language[False]

    def place(quote: AnswerQuote) -> tuple[bool, bool, float]:
        is_of_others = passages[quote.alias].section_category == _OTHERS_WORK
        return is_of_others, is_chinese(quote.text) != chinese, -quote.score

    first: dict[str, AnswerQuote] = {}
    for quote in sorted(quotes, key=place):
        first.setdefault(quote.text, quote)
    return list(first.values())[:MOST_QUOTES]


def _parents(passages: Mapping[str, Passage]) -> list[FoundParent[Passage]]:
    return [FoundParent(one.title, (one,), one) for one in passages.values()]
