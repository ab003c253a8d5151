"""Who found what a sentence states, where the sentence and its source both say so.

“Jones (2012) found that sales fell” is not what a review says that has it of Smith (2010).
"""

from collections.abc import Sequence
from dataclasses import replace

from rag_assets.judging.contract import Judgement, PassageText, Sign
from rag_assets.judging.statement import authors_of


def find_other_authors(
    sentence: str, passages: Sequence[PassageText], judged: Judgement
) -> Sign | None:
    """Return that the sentence which a judgement points to has it of others; None where it has not.

    Whoever wrote the source says “we”, or does not say who: that is nobody else.
    """
    own = authors_of(sentence)
    theirs = _others(own, passages[judged.passage].text[slice(*judged.span)])
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
            if _others(own, text[start:end]):
                text = text[:start] + " " * (end - start) + text[end:]
            else:
                kept.append((start, end))
        if kept:
            places.append(place)
            left.append(replace(passage, text=text, sentences=tuple(kept)))
    return places, left


def _others(own: frozenset[str], text: str) -> frozenset[str]:
    """Return the authors of a text where it has none of one's own."""
    theirs = authors_of(text)
    return theirs if own and not own & theirs else frozenset()
