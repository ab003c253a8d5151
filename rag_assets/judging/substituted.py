"""What stands in another word's place, in a claim that follows its sentence nearly word by word.

Two words that changed places; a word where the source has its contrary; in Chinese somebody else
before 应当 or 可以. Of a paraphrase none of this is asked: its words stand elsewhere anyway.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import permutations, takewhile

from rag_assets.judging.comparing import overlap, split_clauses
from rag_assets.judging.contract import Sign
from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.terms import read_terms

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’][^\W_]+)?|[^\s\w]")
_HAN = re.compile(r"[\u3400-\u9fff]")
# “A and B” is “B and A”, and “A was compared with B” is “B was compared with A”.
_JOINS = frozenset([*"和与及或、,，同跟/&", "and", "or", "versus", "vs"])
_MUTUAL = re.compile(
    r"correlat|associat|resembl|equal|compar|match|differ|between|similar|link|relat|overlap|"
    r"[相比之互]|同"
)
# One character is part of a word, but for those that stand for a party.
_PARTIES = frozenset("甲乙丙丁戊ABCDXYZ".lower())
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "mis", "ab")
_SHORTEST = 4
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
    yield from _exchanged(claim, sentence)
    yield from _contraries(claim, sentence)
    yield from _somebody_else(claim, window)


def _exchanged(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield two pieces of the sentence that stand in each other's place."""
    own = _TOKEN.findall(fold(claim))
    replaced = _replaced(claim, sentence)
    for (old, new, begin, end), (other_old, other_new, start, last) in permutations(replaced, 2):
        if old != other_new or new != other_old or start < end:
            continue
        if _are_clauses(own, (begin, end), (start, last)):
            continue
        # 甲方和乙方: what both are called further is no part of what joins them.
        alike = takewhile(
            lambda pair: pair[0] == pair[1], zip(own[end:start], own[last:], strict=False)
        )
        further = sum(1 for _ in alike)
        between = own[end + further : start]
        if all(token in _JOINS for token in between) or any(map(_MUTUAL.match, between)):
            continue
        if _is_telling(old) and _is_telling(new):
            first, second = (_shown(tokens) for tokens in (new, old))
            yield Sign(
                "words", first, second,
                f"“{first}” and “{second}” have changed places.",
            )  # fmt: skip


def _are_clauses(tokens: Sequence[str], *pieces: tuple[int, int]) -> bool:
    """Say whether pieces are whole clauses: “in July it rained” is “it rained, in July”."""
    marked = ["", *tokens, ""]
    return all(
        not marked[first].isalnum() and not marked[end + 1].isalnum() for first, end in pieces
    )


def _replaced(claim: str, sentence: str) -> list[tuple[list[str], list[str], int, int]]:
    """Return what the sentence has, what stands there in the claim, and where in its tokens."""
    own, theirs = (_TOKEN.findall(fold(text)) for text in (claim, sentence))
    return [
        (theirs[a:b], own[c:d], c, d)
        for kind, a, b, c, d in SequenceMatcher(None, theirs, own, autojunk=False).get_opcodes()
        if kind == "replace"
    ]


def _is_telling(tokens: Sequence[str]) -> bool:
    han = [token for token in tokens if _HAN.match(token)]
    if han or (len(tokens) == 1 and len(tokens[0]) == 1):
        return len(han) > 1 or bool(_PARTIES.intersection(tokens))
    return any(token.isalnum() for token in tokens) and bool(read_terms(" ".join(tokens)).items)


def _shown(tokens: Sequence[str]) -> str:
    return ("" if _HAN.match(tokens[0]) else " ").join(tokens)


def find_placed_contraries(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield a word of the claim that stands between the same words as its contrary there."""
    for old, new, _, _ in _replaced(claim, sentence):
        if max(len(old), len(new)) <= _SHORT:
            yield from _said(
                (word, other) for word in new for other in old if _are_contrary(word, other)
            )


def _contraries(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield a word of the claim alone where the sentence alone has its contrary."""
    own, theirs = (frozenset(_TOKEN.findall(fold(text))) for text in (claim, sentence))
    ours, here = own - theirs, theirs - own
    pairs = [(a, b) for a in sorted(ours) for b in sorted(here) if _are_contrary(a, b)]
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


def _are_contrary(word: str, other: str) -> bool:
    contraries = lexicon().contraries_en
    if contraries.get(word, frozenset()) & contraries.get(f"not {other}", frozenset()):
        return True
    shorter, longer = sorted((word, other), key=len)
    return len(shorter) >= _SHORTEST and any(longer == prefix + shorter for prefix in _PREFIXES)


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
