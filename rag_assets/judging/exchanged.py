"""Two pieces of a sentence that changed places in a claim that follows it nearly word by word."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import permutations, takewhile
from typing import NamedTuple

from rag_assets.judging.contract import Sign
from rag_assets.judging.folding import fold
from rag_assets.judging.terms import read_terms

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’][^\W_]+)?|[^\s\w]")
_HAN = re.compile(r"[\u3400-\u9fff]")
# “A and B” is “B and A”, “A is B” may be “B is A”, “A compared with B” is “B compared with A”.
_JOINS = frozenset(
    [*"和与及或、,，同跟是为/&", "and", "or", "versus", "vs", "is", "are", "was", "were", "be",
     "the"]
)  # fmt: skip
_COMMAS = frozenset(",，")
_MUTUAL = re.compile(
    r"correlat|associat|resembl|equal|compar|match|differ|between|similar|link|relat|overlap|"
    r"[相比之互]|同"
)
# One character is part of a word, but for those that stand for a party.
_PARTIES = frozenset("甲乙丙丁戊ABCDXYZ".lower())
# Tokens from the beginning of the one piece to the end of the other: a clause, not a paragraph.
_LONGEST = 40


class Replaced(NamedTuple):
    """What the sentence has, what the claim has there, and where in the claim's tokens."""

    old: list[str]
    new: list[str]
    start: int
    end: int


class _Swap(NamedTuple):
    """Two pieces of the claim, in its order, and where they stand in its tokens."""

    first: tuple[int, int]
    second: tuple[int, int]


def tokens_of(text: str) -> list[str]:
    """Return words, Chinese characters and marks, folded."""
    return _TOKEN.findall(fold(text))


# Several rules ask it of the same two texts, one after the other.
@lru_cache(maxsize=64)
def find_replaced(claim: str, sentence: str) -> tuple[Replaced, ...]:
    """Return the pieces of a claim that stand where the sentence has others."""
    own, theirs = tokens_of(claim), tokens_of(sentence)
    return tuple(
        Replaced(theirs[a:b], own[c:d], c, d)
        for kind, a, b, c, d in SequenceMatcher(None, theirs, own, autojunk=False).get_opcodes()
        if kind == "replace"
    )


def find_exchanged(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield two pieces of the sentence that stand in each other's place."""
    own = tokens_of(claim)
    seen = set()
    for swap in [*_replaced_swaps(claim, sentence), *_moved_swaps(own, tokens_of(sentence))]:
        called = _called_alike(own, swap)
        pieces = [own[start : end + called] for start, end in swap]
        if _is_the_same(own, swap, called) or not all(map(_is_telling, pieces)):
            continue
        shown = _shown(pieces[0]), _shown(pieces[1])
        if frozenset(shown) not in seen:
            seen.add(frozenset(shown))
            text = f"“{shown[0]}” and “{shown[1]}” have changed places."
            yield Sign("words", *shown, text)


def _replaced_swaps(claim: str, sentence: str) -> Iterator[_Swap]:
    """Yield pieces of which each stands where the sentence has the other."""
    for one, other in permutations(find_replaced(claim, sentence), 2):
        if one.old == other.new and one.new == other.old and one.end <= other.start:
            yield _Swap((one.start, one.end), (other.start, other.end))


def _moved_swaps(own: Sequence[str], theirs: Sequence[str]) -> Iterator[_Swap]:
    """Yield pieces, of any lengths, that stand the other way round about the same words: the claim
    has B P A where the sentence has A P B.
    """
    common = frozenset(own) & frozenset(theirs)
    for first, token in enumerate(own):
        for start, other in enumerate(theirs):
            is_begin = not first or not start or own[first - 1] == theirs[start - 1]
            if not is_begin or token == other or not common.issuperset((token, other)):
                continue
            length = _same_tokens(own[first : first + _LONGEST], theirs[start : start + _LONGEST])
            if length is None:
                continue
            ours, there = own[first : first + length], theirs[start : start + length]
            for begin in range(1, length - 1):
                for end in range(length - 1, begin, -1):
                    if (
                        ours[:begin] == there[length - begin :]
                        and ours[end:] == there[: length - end]
                        and ours[begin:end] == there[length - end : length - begin]
                    ):
                        yield _Swap((first, first + begin), (first + end, first + length))


def _same_tokens(own: Sequence[str], theirs: Sequence[str]) -> int | None:
    """Return the fewest tokens from which both beginnings hold the same ones, None for none."""
    surplus: Counter[str] = Counter()
    for count, (token, other) in enumerate(zip(own, theirs, strict=False), start=1):
        for name, step in ((token, 1), (other, -1)):
            surplus[name] += step
            if not surplus[name]:
                del surplus[name]
        if not surplus:
            return count
    return None


def _called_alike(own: Sequence[str], swap: _Swap) -> int:
    """Return the tokens behind both pieces that are the same: 甲方, 乙方."""
    (_, end), (start, last) = swap
    behind = zip(own[end:start], own[last:], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], behind))


def _is_the_same(own: Sequence[str], swap: _Swap, called: int) -> bool:
    """Say whether a sentence says the same either way."""
    if _are_clauses(own, *swap):
        return True
    (_, end), (start, last) = swap
    between = own[end + called : start]
    if _COMMAS.issuperset(between):
        # In a list other marks stand around; between two clauses each piece has its own verb.
        return last == len(own) or not own[last].isalnum() or own[last] in _JOINS
    if all(token in _JOINS for token in between):
        return True
    # Behind a comma begins another clause: compared with A, B was higher.
    return any(map(_MUTUAL.match, between)) and not _COMMAS.intersection(between)


def _are_clauses(tokens: Sequence[str], *pieces: tuple[int, int]) -> bool:
    """Say whether pieces are whole clauses: “in July it rained” is “it rained, in July”."""
    marked = ["", *tokens, ""]
    return all(
        not marked[first].isalnum() and not marked[end + 1].isalnum() for first, end in pieces
    )


def _is_telling(tokens: Sequence[str]) -> bool:
    han = [token for token in tokens if _HAN.match(token)]
    if han or (len(tokens) == 1 and len(tokens[0]) == 1):
        return len(han) > 1 or bool(_PARTIES.intersection(tokens))
    return any(token.isalnum() for token in tokens) and bool(read_terms(" ".join(tokens)).items)


def _shown(tokens: Sequence[str]) -> str:
    return ("" if _HAN.match(tokens[0]) else " ").join(tokens)
