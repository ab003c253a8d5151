"""A claim that follows a sentence of its source nearly word by word: what was changed in it.

The facts of `comparing` are sought in all sentences that answer a claim, since a paraphrase gathers
them. A sentence that is taken over answers for each of its words itself: a number that stands only
once there is not said twice, and what was before is not after.
"""

from collections import Counter
from collections.abc import Iterator

from rag_assets.judging.contract import Sign
from rag_assets.judging.cues import Cue, of_kind, read_cues
from rag_assets.judging.quantities import find_equal, read_quantities
from rag_assets.judging.selecting import Selection

# Weighted share of the claim that its best sentence holds from where on it follows that sentence.
_FOLLOWS = 0.7


def find_changes(claim: str, sentence: str, window: str, selection: Selection) -> Iterator[Sign]:
    """Yield what the claim says otherwise than the sentence that it follows; nothing where it
    follows none.

    Args:
        sentence: the best one.
        window: with its neighbour, where a sentence may have been divided.
    """
    if selection.is_crossed or selection.shares[0] < _FOLLOWS:
        return
    yield from _numbers(claim, window)
    yield from _negations(claim, window)
    yield from _directions(claim, sentence)


def _numbers(claim: str, window: str) -> Iterator[Sign]:
    left = list(read_quantities(window))
    for quantity in read_quantities(claim):
        # Elsewhere a bare number may answer one with a unit; here the unit was there to be copied.
        unit = quantity.unit.kind
        equal = find_equal(quantity, [q for q in left if not unit or q.unit.kind == unit])
        if equal is not None:
            left.remove(equal)
            continue
        own = quantity.text
        yield Sign("number", own, "", f"“{own}” is not what the source has at this place.")


def _negations(claim: str, window: str) -> Iterator[Sign]:
    own, others = (of_kind(read_cues(text), "negation") for text in (claim, window))
    if len(own) > len(others):
        word = claim[own[-1].start : own[-1].end]
        text = f"The claim denies (“{word}”) more often than the sentence that it follows."
        yield Sign("negation", word, "", text)


def _directions(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield the words of one side that stand too often, where one of the other side is gone."""
    own, others = (of_kind(read_cues(text), "direction") for text in (claim, sentence))
    asked, held = _sides(own), _sides(others)
    for scale, side in asked:
        turned = (scale, -side)
        if asked[scale, side] > held[scale, side] and held[turned] > asked[turned]:
            word = next(cue.word for cue in own if (cue.scale, cue.side) == (scale, side))
            other = next(cue.word for cue in others if (cue.scale, cue.side) == turned)
            text = f"The claim says “{word}” where the source says “{other}”."
            yield Sign("direction", word, other, text)


def _sides(cues: list[Cue]) -> Counter[tuple[str, int]]:
    return Counter((cue.scale, cue.side) for cue in cues)
