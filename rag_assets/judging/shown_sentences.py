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
        share: how likely it decides, beside the others; by the words shared where not measured.
    """

    text: str
    passage: int
    span: tuple[int, int]
    share: float = 0.0


def choose_sentences(claim: str, passages: Sequence[PassageText]) -> tuple[ShownSentence, ...]:
    """Return what a reader is shown, in reading order: the sentences that likeliest decide.

    Where nobody measured that, those that share most with the claim, up to the same size.
    """
    is_measured = all(passage.shares for passage in passages[:MOST_PASSAGES])
    every: list[ShownSentence] = []
    leads: list[tuple[int, ...]] = []
    for index, passage in enumerate(passages[:MOST_PASSAGES]):
        first = len(every)
        for place, span in enumerate(passage.sentences):
            text = " ".join(passage.text[slice(*span)].split())
            share = passage.shares[place] if is_measured else coverage(claim, text)
            every.append(ShownSentence(text, index, span, share))
            own = passage.leads[place] if passage.leads else ()
            leads.append(tuple(first + lead for lead in own))
    kept: set[int] = set()
    tokens, held = 0.0, 0.0
    # Of equals, those of the passage that was ranked first.
    for index in sorted(range(len(every)), key=lambda i: (-every[i].share, i)):
        more = {index, *leads[index]} - kept
        if kept and (is_measured and held >= ENOUGH_SHARE):
            break
        size = sum(text_size(every[each].text) for each in more)
        fits = tokens + size <= MOST_TOKENS and len(kept) + len(more) <= MOST_SENTENCES
        if not kept or fits:
            kept |= more
            tokens, held = tokens + size, held + every[index].share
    return tuple(every[index] for index in sorted(kept))


def likeliest(shown: Sequence[ShownSentence]) -> ShownSentence:
    """Return the sentence that likeliest decides, of equals the first."""
    return max(shown, key=lambda each: each.share)
