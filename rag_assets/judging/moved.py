"""Words that a claim takes over from a sentence, and attaches to something else there.

A number, a quantifier or a direction stands in the source, so that nothing is missing; but the
source has it of another thing: “less pain but more nausea” told as “less nausea”.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag_assets.judging.comparing import MODAL, number_context, overlap
from rag_assets.judging.contract import Sign
from rag_assets.judging.cues import of_kind, read_cues
from rag_assets.judging.equal_numbers import is_equal
from rag_assets.judging.quantities import Quantity, read_quantities
from rag_assets.judging.terms import Term, read_terms

# “Fell by half in Norway” says nothing of what follows.
_QUANTIFIERS = re.compile(r"(?i)\b(?:most|all|every|(?<!by )(?<!in )half|many|few|majority)\b")
# Terms behind a quantifier of which one is what is counted: most urban trees.
_COUNTED = 2
_OF = re.compile(r"\s+(?:out )?(?:of|in) (?:(?:the|these|all) )?")
# Of a number whose clause has fewer terms it is open what it stands for.
_TELLING = 2


def find_moved(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield what the claim has of something else than the sentence that it follows."""
    yield from _directions(claim, sentence)
    yield from _quantifiers(claim, sentence)
    yield from _numbers(claim, sentence)


def _directions(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield a direction in front of a word that the sentence has behind its opposite only."""
    there: dict[tuple[str, str], dict[int, str]] = {}
    for scale, side, word, unit in _directed(sentence):
        there.setdefault((scale, unit), {})[side] = word
    for scale, side, word, unit in _directed(claim):
        sides = there.get((scale, unit), {})
        if side not in sides and -side in sides:
            text = f"The claim says “{word}” where the source says “{sides[-side]}”."
            yield Sign("direction", word, sides[-side], text)


def _directed(text: str) -> Iterator[tuple[str, int, str, str]]:
    """Yield scale, side and word of each direction, and the term that it stands in front of."""
    items = read_terms(text).items
    for cue in of_kind(read_cues(text), "direction"):
        behind = [item for item in items if text[cue.end : item.start] == " "]
        if behind and cue.scale not in MODAL:
            yield cue.scale, cue.side, text[cue.start : cue.end], behind[0].unit


def _quantifiers(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield a quantifier of what the sentence has without it, where it has it of something else."""
    held = read_terms(sentence).weights
    there: dict[str, set[str]] = {}
    for match in _QUANTIFIERS.finditer(sentence):
        counted = _behind(read_terms(sentence).items, match)
        there.setdefault(match.group().lower(), set()).update(counted)
    for match in _QUANTIFIERS.finditer(claim):
        word = match.group()
        counted = _behind(read_terms(claim).items, match)
        others = there.get(word.lower())
        if others is not None and held.keys() & set(counted) and not others & set(counted):
            yield Sign("words", word, word, f"The source says “{word}” of something else.")


def _behind(items: Sequence[Term], match: re.Match[str]) -> list[str]:
    return [item.unit for item in items if item.start >= match.end()][:_COUNTED]


def _numbers(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield a number whose clause has not a word in common with that of the source."""
    here, own = read_quantities(sentence), read_quantities(claim)
    yield from _wholes(claim, own, sentence, here)
    for quantity in own:
        around = number_context(claim, quantity)
        contexts = [number_context(sentence, other) for other in here if is_equal(quantity, other)]
        if (
            contexts
            and min(len(around), *map(len, contexts)) >= _TELLING
            and not any(overlap(around, context) for context in contexts)
        ):
            shown = quantity.text
            yield Sign("number", shown, shown, f"The source has “{shown}” for something else.")


def _wholes(
    claim: str, own: Sequence[Quantity], sentence: str, here: Sequence[Quantity]
) -> Iterator[Sign]:
    """Yield a number of which the source tells only a part: “480” for “312 of 480”."""
    for part, whole in pairwise(here):
        if not _OF.fullmatch(sentence, part.end, whole.start):
            continue
        for quantity in own:
            is_whole = _OF.search(claim, 0, quantity.start)
            if (
                is_equal(quantity, whole)
                and not (is_whole and is_whole.end() == quantity.start)
                and not any(is_equal(other, part) for other in own)
            ):
                text = f"The source says it of {part.text} of “{whole.text}”."
                yield Sign("number", quantity.text, part.text, text)
