"""Who found what a sentence states, where the sentence and its source both say so.

“Jones (2012) found that sales fell” is not what a review says that has it of Smith (2010).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_assets.judging.comparing import overlap
from rag_assets.judging.contract import Judgement, PassageText, Sign
from rag_assets.judging.statement import authors_of
from rag_assets.judging.terms import read_terms

# Between what one found and what another one did.
_BETWEEN = re.compile(r"[;；]\s*|，(?=而|但)|,?\s(?=(?:while|whereas|but)\s)")
_LEADING = re.compile(r"^(?:while|whereas|but|而|但)\s*")
_THEN = re.compile("(?<=[）)])则(?=认为|指出|发现|主张|提出)")


def find_other_authors(
    sentence: str, passages: Sequence[PassageText], judged: Judgement
) -> Sign | None:
    """Return that the sentence which a judgement points to has it of others; None where it has not.

    Whoever wrote the source says “we”, or does not say who: that is nobody else.
    """
    own = authors_of(sentence)
    told = passages[judged.passage].text[slice(*judged.span)]
    theirs = _others(own, sentence, told)
    if not theirs:
        return None
    mine, others = (", ".join(sorted(name.title() for name in names)) for names in (own, theirs))
    return Sign("entity", mine, others, f"The source has it of {others}, the sentence of {mine}.")


def without_other_authors(
    sentence: str, passages: Sequence[PassageText]
) -> tuple[list[int], list[PassageText]]:
    """Return what is left of the passages without the sentences that have something of others.

    Returns:
        The index of each passage that has other sentences; and these passages, what others found
        blanked, so that every span stays where it is.
    """
    own = authors_of(sentence)
    places, left = [], []
    for place, passage in enumerate(passages):
        text, kept = passage.text, []
        for start, end in passage.sentences:
            if _others(own, sentence, text[start:end]):
                text = text[:start] + " " * (end - start) + text[end:]
            else:
                kept.append((start, end))
        if kept:
            places.append(place)
            left.append(replace(passage, text=text, sentences=tuple(kept)))
    return places, left


def _others(own: frozenset[str], sentence: str, text: str) -> frozenset[str]:
    """Return the authors of a text, or of its part that has most of a sentence, where it has none
    of one's own.
    """
    theirs = _authors(text, sentence) if own else frozenset()
    return frozenset() if own & theirs else theirs


def _authors(text: str, sentence: str) -> frozenset[str]:
    parts = [_THEN.sub("", _LEADING.sub("", part)) for part in _BETWEEN.split(text) if part]
    named = [(part, authors) for part in parts if (authors := authors_of(part))]
    if len(named) < 2:
        return authors_of(text)
    wanted = read_terms(sentence).weights
    return max(named, key=lambda one: overlap(wanted, read_terms(one[0]).weights))[1]
