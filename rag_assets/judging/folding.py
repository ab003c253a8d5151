"""Characters and spellings that say the same: capitals, accents, wide forms, British words."""

import re
import unicodedata
from functools import lru_cache

# A unit, and no letter with an accent.
_OWN_LETTERS = frozenset({"å"})
# As PDF files print a degree.
_DEGREES = frozenset({"◦", "˚", "º"})
_SPELLINGS = (
    (re.compile(r"is(ations?|e|ed|es|ing)$"), r"iz\1", 7),
    (re.compile(r"yse(d|s|r|rs)?$"), r"yze\1", 7),
    (re.compile(r"our(s|ed|ing|al|ally|able|ist|ists)?$"), r"or\1", 6),
    (re.compile(r"([bt])re(s?)$"), r"\1er\2", 5),
    (re.compile(r"^oe|(?<=[a-z])[ao]e(?=[a-z]{3})|^ae(?=[st])"), "e", 6),
    (re.compile(r"([aeiou])ll(ing|ed|er|ers)$"), r"\1l\2", 8),
    (re.compile(r"programme(s?)$"), r"program\1", 9),
)


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


@lru_cache(maxsize=20_000)
def spell(word: str) -> str:
    """Return a word in lower case in one spelling: tumour as tumor, randomised as randomized.

    Words that only end alike are changed too, wherever they stand; it is for comparing alone.
    """
    for pattern, spelling, fewest in _SPELLINGS:
        if len(word) >= fewest:
            word = pattern.sub(spelling, word)
    return word
