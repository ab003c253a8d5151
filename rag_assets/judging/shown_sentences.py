"""The few numbered sentences that a reader is given: long passages drown a small one."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.evidence.wording import coverage
from rag_assets.judging.contract import PassageText
from rag_assets.llm import estimate_tokens

# Passages that are read: those ranked first.
MOST_PASSAGES = 3
# One digit each, so that one token of an answer names a sentence.
MOST_SENTENCES = 9
# Of all sentences together, about, by bytes: what two cores read in about two seconds.
MOST_TOKENS = 600


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
    """Return what a reader is shown, in reading order: all sentences of the first passages; where
    that is too much, without those that share least with the claim.
    """
    every = [
        _shown(passage, index, span)
        for index, passage in enumerate(passages[:MOST_PASSAGES])
        for span in passage.sentences
    ]
    shared = [coverage(claim, sentence.text) for sentence in every]
    # Of sentences that share as much, those of the passage that was ranked first stay.
    kept: list[int] = []
    tokens = 0
    for index in sorted(range(len(every)), key=lambda i: (-shared[i], i)):
        size = estimate_tokens(every[index].text)
        if not kept or (len(kept) < MOST_SENTENCES and tokens + size <= MOST_TOKENS):
            kept.append(index)
            tokens += size
    return tuple(every[index] for index in sorted(kept))


def _shown(passage: PassageText, index: int, span: tuple[int, int]) -> ShownSentence:
    return ShownSentence(" ".join(passage.text[slice(*span)].split()), index, span)
