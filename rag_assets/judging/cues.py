"""Where a text turns: its directions, negations, causes, hedges and superlatives, with places."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.term_weights import stem

HAN_DIGITS = "零〇一二两三四五六七八九十"
_WORD = re.compile(r"(?<![a-z])[a-z]+(?:['’]t)?(?![a-z])")
# “At least 20” is no superlative.
_AT = re.compile(r"\bat\s+$")
# “Failed to run”, and not a failed machine.
_TO = re.compile(r"\s+to\b")
# “It results in death”, and not “the results in Table 2”.
_RESULT = stem("result")
_AS_A = re.compile(r"\bas\s+a\s+$")
_NOUN = re.compile(r"\b(?:the|these|those|this|our|their|its|his|her|such|same|new|of|no)\s+$")
_FROM = re.compile(r"\s+(?:in|from)\b")
# “As described above”: a place. Nor is a “reduce task” reduced.
_PLACE = re.compile(
    r"(?:\b(?:described|shown|mentioned|listed|discussed|given|see|noted|as|the)\s+)$"
)
_PLACED = re.compile(r"\s*(?:[,.;:)]|$)")
_ONLY = re.compile(r"\s+(?:only|just|merely)\b")
# “A 比 B 高”, and not 对比, 百分比, 比例.
# “最长不得超过一个月”: a limit, and nothing that is the longest.
_HAN_BOUND = re.compile(
    "最[高低多少长短大小快慢早晚](?:不[得能应超]|(?:可以|可|能)?(?:达到|达|为|是)?"
    f"[\\d{HAN_DIGITS}])"
)
# “不得超过三十日”: a bound, which is compared as one. “不得超过批准的范围” forbids.
_HAN_LIMIT = re.compile(f"不[得能应可]?(?:超过|[低高少多短长大小早晚]于)约?[\\d{HAN_DIGITS}百]")
HAN_COMPARES = "(?<![相对同环占之])(?<!百分)[比较](?![例赛较如重])"
# Alone such a character is part of many words.
_HAN_COMPARED = re.compile(
    HAN_COMPARES + "[^,，。;；、!?]{2,20}?"
    "(?:(?P<more>[高多大强长重贵热])|(?P<less>[低少小弱短轻冷]))(?![于校学])"
)
_KEPT_TEXTS = 20_000

CueKind = Literal[
    "direction", "negation", "not_only", "denial", "causal", "association", "hedge", "extreme"
]


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that turns a sentence.

    Args:
        word: in lower case; what is compared.
        scale: of a direction; two directions of one scale can be opposite. Of a superlative what
            it says in other words: all, every, each.
        side: 1 or -1 on that scale; 0 of other cues.
    """

    kind: CueKind
    word: str
    start: int
    end: int
    scale: str = ""
    side: int = 0


@lru_cache(maxsize=_KEPT_TEXTS)
def read_cues(text: str) -> tuple[Cue, ...]:
    """Return the cues of a text, in its order."""
    folded = fold(text).replace("’", "'")
    found: list[Cue] = []
    for match in _WORD.finditer(folded):
        found += _english(match)
    found += _chinese(folded)
    return tuple(sorted(found, key=lambda cue: (cue.start, cue.kind, cue.scale)))


def _english(match: re.Match[str]) -> list[Cue]:
    word, start, end = match.group(), match.start(), match.end()
    words, root = lexicon(), stem(word)
    is_negation = word in words.negations_en and not (
        word.startswith("fail") and not _TO.match(match.string, end)
    )
    is_not_only = bool(_ONLY.match(match.string, end))
    found = [
        Cue("direction", word, start, end, scale, side)
        for scale, side in words.directions_en.get(word, ())
        if not (word in {"above", "below"} and _is_place(match))
    ]
    kinds: tuple[tuple[CueKind, bool], ...] = (
        ("negation", is_negation and not is_not_only),
        ("not_only", is_negation and is_not_only),
        ("denial", root in words.denials_en),
        ("causal", root in words.causal_en and not (root == _RESULT and _is_outcome(match))),
        ("association", root in words.association_en),
        ("hedge", word in words.hedges_en),
        ("extreme", word in words.extremes_en and not _AT.search(match.string, 0, start)),
    )
    return [
        *found,
        *(Cue(kind, word, start, end, _scale(kind, word)) for kind, is_so in kinds if is_so),
    ]


def _is_place(match: re.Match[str]) -> bool:
    return bool(
        _PLACE.search(match.string, 0, match.start()) or _PLACED.match(match.string, match.end())
    )


def _is_outcome(match: re.Match[str]) -> bool:
    """Say whether “result” is what was found, and not what something leads to."""
    text, start = match.string, match.start()
    if _AS_A.search(text, 0, start):
        return False
    return not _FROM.match(text, match.end()) or bool(_NOUN.search(text, 0, start))


def _scale(kind: CueKind, word: str) -> str:
    return lexicon().same_extremes.get(word, word) if kind == "extreme" else ""


def _chinese(folded: str) -> list[Cue]:
    words = lexicon()
    found = [
        Cue("negation", match.group(), *match.span())
        for match in _pattern(words.negations_zh | words.not_negations_zh).finditer(folded)
        if match.group() not in words.not_negations_zh
        and not _HAN_LIMIT.match(folded, match.start())
    ]
    found += [
        Cue("direction", match.group(), *match.span(), scale, side)
        for match in _pattern(frozenset(words.directions_zh)).finditer(folded)
        for scale, side in words.directions_zh[match.group()]
    ]
    for match in _HAN_COMPARED.finditer(folded):
        group = "more" if match["more"] else "less"
        if not any(cue.start <= match.start(group) < cue.end for cue in found):
            side = 1 if match["more"] else -1
            found.append(Cue("direction", match[group], *match.span(group), "amount", side))
    others: tuple[tuple[CueKind, frozenset[str]], ...] = (
        ("denial", words.denials_zh),
        ("causal", words.causal_zh),
        ("association", words.association_zh),
        ("hedge", words.hedges_zh),
        ("extreme", words.extremes_zh),
    )
    found += [
        Cue(kind, match.group(), *match.span(), _scale(kind, match.group()))
        for kind, listed in others
        for match in _pattern(listed).finditer(folded)
        if not _HAN_BOUND.match(folded, match.start())
    ]
    return found


@lru_cache(maxsize=16)
def _pattern(words: frozenset[str]) -> re.Pattern[str]:
    # The longest first, so that 不仅 is found before 不; equal ones in a fixed order.
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, ordered)))


def own_denials(text: str, other: str) -> list[Cue]:
    """Return the words of a text that deny without a “not” and do not stand in the other, too.

    “A except B” denies nothing that “not A except B” says.
    """
    held = {stem(cue.word) for cue in of_kind(read_cues(other), "denial")}
    return [cue for cue in of_kind(read_cues(text), "denial") if stem(cue.word) not in held]


def of_kind(cues: tuple[Cue, ...], kind: CueKind) -> list[Cue]:
    """Return the cues of a kind."""
    return [cue for cue in cues if cue.kind == kind]
