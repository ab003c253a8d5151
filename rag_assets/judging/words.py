"""Folded letters, words that deny, and words that say which way something goes."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

# Characters that say the same: capitals, accents, wide forms.

# A unit, and no letter with an accent.
_OWN_LETTERS = frozenset({"å"})
# As PDF files print a degree.
_DEGREES = frozenset({"◦", "˚", "º", "∘"})


def fold(text: str) -> str:
    """Return `text` in lower case and compatible characters without accents, each in its place."""
    return "".join(_fold_character(character) for character in text)


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    if character in _DEGREES:
        return "°"
    folded = unicodedata.normalize("NFKC", character).casefold()
    base = unicodedata.normalize("NFD", folded)[:1]
    if base.isascii() and base.isalpha() and folded not in _OWN_LETTERS:
        return base
    return folded if len(folded) == 1 else character


# Words around a statement, what denies it, and units: configs/judging_words.yaml, read once.

WORDS_FILE = "judging_words.yaml"


@dataclass(frozen=True, slots=True)
class Frames:
    """Words around a statement: who says it, and how it joins its neighbours.

    Args:
        verbs_en: of saying and finding, with “that”; `verbs_zh` alike.
        verbs_alone_en: those that need no “that”.
        sources_en: what says it (study, authors); `before_sources_en` what stands before that.
        connectives_en: words or phrases at the beginning of a sentence.
    """

    verbs_en: tuple[str, ...]
    verbs_alone_en: tuple[str, ...]
    verbs_zh: tuple[str, ...]
    sources_en: tuple[str, ...]
    sources_zh: tuple[str, ...]
    before_sources_en: tuple[str, ...]
    before_sources_zh: tuple[str, ...]
    connectives_en: tuple[str, ...]
    connectives_zh: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The file's words, as they are looked up.

    Args:
        not_negations_zh: what only looks like a negation (不仅, 不同, 未来).
    """

    negations_en: frozenset[str]
    negations_zh: frozenset[str]
    not_negations_zh: frozenset[str]
    frames: Frames


def read_words() -> Any:
    """Return the content of the file."""
    return read_yaml(configs_folder() / WORDS_FILE, WORDS_FILE)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Return the words, read when they are first needed."""
    words = read_words()
    return Lexicon(
        negations_en=_set(words["negations"]["en"]),
        negations_zh=_set(words["negations"]["zh"]),
        not_negations_zh=_set(words["negations"]["not_zh"]),
        frames=_frames(words["frames"]),
    )


def _frames(words: dict[str, dict[str, str]]) -> Frames:
    def listed(name: str, language: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(words[name][language].split()))

    def phrases(language: str) -> tuple[str, ...]:
        found = words["connectives"][language].split("|")
        return tuple(dict.fromkeys(phrase.strip() for phrase in found))

    return Frames(
        listed("verbs", "en"), listed("verbs_alone", "en"), listed("verbs", "zh"),
        listed("sources", "en"), listed("sources", "zh"),
        listed("before_sources", "en"), listed("before_sources", "zh"),
        phrases("en"), phrases("zh"),
    )  # fmt: skip


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Whether a text denies something.

_WORD = re.compile(r"(?<![a-z])[a-z]+(?:'t)?(?![a-z])")
# “Failed to run”, and not a failed machine.
_TO = re.compile(r"\s+to\b")
_ONLY = re.compile(r"\s+(?:only|just|merely)\b")
_KEPT_TEXTS = 20_000


@lru_cache(maxsize=_KEPT_TEXTS)
def is_negated(text: str) -> bool:
    """Say whether a text has a word that denies: not, without, failed to, 不; not “not only”."""
    words = lexicon()
    folded = fold(text).replace("’", "'")
    for match in _WORD.finditer(folded):
        word = match.group()
        if word not in words.negations_en or _ONLY.match(folded, match.end()):
            continue
        if not word.startswith("fail") or _TO.match(folded, match.end()):
            return True
    found = _han_pattern().finditer(folded)
    return any(match.group() not in words.not_negations_zh for match in found)


@lru_cache(maxsize=1)
def _han_pattern() -> re.Pattern[str]:
    words = lexicon()
    # The longest first, so that 不仅 is found before 不; equal ones in a fixed order.
    every = words.negations_zh | words.not_negations_zh
    return re.compile("|".join(map(re.escape, sorted(every, key=lambda w: (-len(w), w)))))


# Which way something goes: whether it rises or falls, and from which side it is limited.

_ROUGHLY = r"(?:about|approximately|around|roughly|some|[~≈约])"
MORE = "(?:more|greater|higher|larger|longer|later|older)"
LESS = "(?:less|fewer|lower|smaller|shorter|earlier|younger)"
_NOT = r"(?:\b(?:no|not|never|cannot)\s(?:to\s)?|n't\s)"
_UNDENIED = r"(?<!\bno\s)(?<!\bnot\s)(?<!n't\s)(?<!\bnever\s)(?<!\bcannot\s)(?<!\bnot to\s)"
# Before what is limited; folded text.
AT_LEAST = re.compile(
    rf"({_UNDENIED}\b(?:{MORE}\sthan|over|above|exceed\w*)|{_NOT}(?:{LESS}\sthan|below|under)"
    r"|\bat least|\bminimum(?:\sof)?|>=?|≥|\\geq?"
    r"|(?<![不能得应可会])(?:超过|多于|高于|大于)|逾|(?<![不未])满"
    r"|(?:至少|最[少低短小])(?:可以|可|要|应)?(?:达到|达|为|是)?"
    rf"|(?:不|不得|不能|不应|不可|不会)(?:少于|低于|小于|短于|早于))(?:\s?{_ROUGHLY})?\s*$"
)
AT_MOST = re.compile(
    rf"({_UNDENIED}\b(?:{LESS}\sthan|below|under)|{_NOT}(?:{MORE}\sthan|over|above|exceed\w*)"
    r"|\bat most|\bmaximum(?:\sof)?|\bup to|<=?|≤|\\leq?"
    r"|\bwithin(?:\sthe\s(?:first|last|past|next))?"
    r"|不到|不足|不满|未满"
    r"|(?:至多|最[多高长大])(?:可以|可|能)?(?:达到|达|为|是)?|(?<![不能得应可会])(?:低于|少于|小于)"
    rf"|(?:不|不得|不能|不应|不可|不会)(?:超过|多于|高于|大于|长于|晚于))(?:\s?{_ROUGHLY})?\s*$"
)
_UP = re.compile(
    r"\b(?:rose|ris(?:es?|ing|en)|grew|grow(?:s|n|ing)?|increas\w+|rais\w+|climb\w+|higher|"
    r"overestimat\w+)\b|提高|增加|增长|上升|升高|上涨|延长|[高多](?=[于出了\d])|更高|高估"
)
_DOWN = re.compile(
    r"\b(?:f[ae]ll|fallen|falling|falls|decreas\w+|declin\w+|drop(?:s|ped|ping)?|reduc\w+|"
    r"lower\w*|underestimat\w+)\b|下降|降低|减少|下跌|缩短|[低少](?=[于了\d])|更低|低估"
)
# What a number would be: “at most n times”, “at least 5d”.
_SYMBOL = re.compile(r"(?<![\w.])\d*(?!a\b)[a-zα-ω](?![\w'’])")
_REACH = 30


def trend_of(folded: str) -> int:
    """Return 1 where a text speaks of what rises or is higher, -1 of what falls, 0 of both, of
    none or of what is denied.
    """
    trend = int(bool(_UP.search(folded))) - int(bool(_DOWN.search(folded)))
    return 0 if trend and is_negated(folded) else trend


def limits_of(text: str) -> dict[str, int]:
    """Return for each symbol whether it limits from below (1) or from above (-1)."""
    folded, found = fold(text), {}
    for match in _SYMBOL.finditer(folded):
        before = folded[max(0, match.start() - _REACH) : match.start()]
        side = int(bool(AT_LEAST.search(before))) - int(bool(AT_MOST.search(before)))
        if side:
            found[match.group()] = side
    return found
