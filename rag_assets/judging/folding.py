"""Characters that say the same: capitals, accents, wide forms."""

import unicodedata
from functools import lru_cache

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
