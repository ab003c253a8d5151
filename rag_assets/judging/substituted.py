"""What stands in another word's place, in a claim that follows its sentence nearly word by word.

A word where the source has its contrary; in Chinese somebody else before 应当 or 可以. Of a
paraphrase none of this is asked: its words stand elsewhere anyway.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from rag_assets.judging.clauses import split_clauses
from rag_assets.judging.comparing import overlap
from rag_assets.judging.contract import Sign
from rag_assets.judging.contraries import are_contrary, are_contrary_in_place
from rag_assets.judging.exchanged import find_replaced, tokens_of
from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.terms import read_terms

# “Exports from China” for “exports to China”, whatever stands elsewhere.
_OPPOSED = frozenset(
    frozenset(pair.split()) for pair in ("to from", "for against", "inside outside", "before after")
)
# Tokens of a piece in which one word takes another's place.
_SHORT = 3
_DUTY = re.compile("应当|必须|可以|不得|有权|无权|有义务")
# Share of what somebody must do in the claim that the source's clause has, too.
_SAME_DEED = 0.8


def find_substitutes(claim: str, sentence: str, window: str) -> Iterator[Sign]:
    """Yield what the claim has in the place of something else.

    Args:
        claim: that follows `sentence`.
        window: the sentence with its neighbours.
    """
    yield from _contraries(claim, sentence)
    yield from _somebody_else(claim, window)


def find_placed_contraries(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield a word of the claim that stands between the same words as its contrary there."""
    own, theirs = (Counter(tokens_of(text)) for text in (claim, sentence))
    for old, new, _, _ in find_replaced(claim, sentence):
        if max(len(old), len(new)) > _SHORT:
            continue
        if len(old) == len(new) == 1 and frozenset((*old, *new)) in _OPPOSED:
            yield from _said([(new[0], old[0])])
            continue
        # What is not closed is open.
        is_denied = _denies(old) != _denies(new)
        yield from _said(
            (word, other)
            for word in new
            for other in old
            if are_contrary(word, other)
            or (
                not is_denied
                # What both say has another place, and no other word in its own.
                and own[word] > theirs[word]
                and theirs[other] > own[other]
                and are_contrary_in_place(word, other)
            )
        )


def _denies(tokens: Iterable[str]) -> bool:
    return any(token in lexicon().negations_en for token in tokens)


def _contraries(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield a word of the claim alone where the sentence alone has its contrary."""
    own, theirs = (frozenset(tokens_of(text)) for text in (claim, sentence))
    ours, here = own - theirs, theirs - own
    pairs = [(a, b) for a in sorted(ours) for b in sorted(here) if are_contrary(a, b)]
    folded, other = fold(claim), fold(sentence)
    for one, two in lexicon().contraries_zh:
        for first, second in ((one, two), (two, one)):
            mine, others = _alone(first, folded, second), _alone(second, other, first)
            if mine and others and not _alone(first, other, second):
                pairs.append((first, second))
    yield from _said(pairs)


def _said(pairs: Iterable[tuple[str, str]]) -> Iterator[Sign]:
    for word, contrary in pairs:
        text = f"The claim says “{word}” where the source says “{contrary}”."
        yield Sign("direction", word, contrary, text)


def _alone(word: str, text: str, contrary: str) -> bool:
    """Say whether a word stands in a text otherwise than as a part of its contrary: 期 in 无期."""
    return word in (text.replace(contrary, " ") if word in contrary else text)


def _somebody_else(claim: str, window: str) -> Iterator[Sign]:
    """Yield who must or may do something in the claim, where the source says it of another.

    Only of somebody whom the source names: another word for the same one stands nowhere there.
    """
    held = read_terms(window).weights
    clauses = [clause for part in split_clauses(window) for clause in re.split("[，。；]", part)]
    for clause in re.split("[，。；,;]", claim):
        for duty in _DUTY.finditer(clause):
            who, deed = _sides(clause, duty)
            if not who or not deed or any(unit not in held for unit in who):
                continue
            others = [
                (theirs, text[: match.start()].strip())
                for text in clauses
                for match in _DUTY.finditer(text)
                if match.group() == duty.group()
                for theirs, done in (_sides(text, match),)
                if overlap(deed, done) >= _SAME_DEED
            ]
            if others and all(theirs and not who.keys() & theirs.keys() for theirs, _ in others):
                own, other = clause[: duty.start()].strip(), others[0][1]
                yield Sign(
                    "entity", own, other,
                    f"The claim says “{own}{duty.group()}”, the source “{other}{duty.group()}”.",
                )  # fmt: skip


def _sides(clause: str, duty: re.Match[str]) -> tuple[dict[str, float], dict[str, float]]:
    return (
        read_terms(clause[: duty.start()]).weights,
        read_terms(clause[duty.end() :]).weights,
    )
