"""The few numbered sentences that a reader is given: long passages drown a small one."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.evidence.wording import coverage
from rag_assets.finding import text_size
from rag_assets.judging.contract import PassageText

# Passages that are read: those ranked first.
MOST_PASSAGES = 3
# One digit each, so that one token of an answer names a sentence.
MOST_SENTENCES = 9
# Sentences are taken until they hold this much of what may decide, or have so many tokens: on
# drafts of known truth all quotations stand in 0.78 of these, at a median of 75 tokens (0.83 at
# 155). Two cores read about 45 tokens a second.
ENOUGH_SHARE = 0.7
MOST_TOKENS = 200


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence as a reader sees it, and where it stands.

    Args:
        passage: index among the passages that were given; `span` half-open in its text.
    """

    text: str
    passage: int
    span: tuple[int, int]


def choose_sentences(claim: str, passages: Sequence[PassageText]) -> tuple[ShownSentence, ...]:
    """Return what a reader is shown, in reading order: the sentences that likeliest decide.

    Where nobody measured that, those that share most with the claim, up to the same size.
    """
    every = [
        _shown(passage, index, span)
        for index, passage in enumerate(passages[:MOST_PASSAGES])
        for span in passage.sentences
    ]
    shares = [share for passage in passages[:MOST_PASSAGES] for share in passage.shares]
    is_measured = len(shares) == len(every)
    if not is_measured:
        shares = [coverage(claim, sentence.text) for sentence in every]
    kept: list[int] = []
    tokens, held = 0.0, 0.0
    # Of equals, those of the passage that was ranked first.
    for index in sorted(range(len(every)), key=lambda i: (-shares[i], i)):
        size = text_size(every[index].text)
        is_enough = is_measured and held >= ENOUGH_SHARE
        if kept and (is_enough or len(kept) == MOST_SENTENCES):
            break
        if not kept or tokens + size <= MOST_TOKENS:
            kept.append(index)
            tokens, held = tokens + size, held + shares[index]
    return tuple(every[index] for index in sorted(kept))


def _shown(passage: PassageText, index: int, span: tuple[int, int]) -> ShownSentence:
    return ShownSentence(" ".join(passage.text[slice(*span)].split()), index, span)
