"""Which characters are Chinese: the one notion of them in the package.

The strings are ranges for classes of regular expressions, each inside the next: `[{HAN_RANGES}]`.
"""

import re

# Ideographs: unified, extension A, compatibility, and the two planes that extensions fill.
HAN_RANGES = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# With kana and the marks that stand instead of an ideograph (々 〆 〇): written without
# spaces, one token or more a character in every tokenizer. Hangul is written with spaces and
# counts as words.
CJK_RANGES = rf"\u3005-\u3007\u3040-\u30ff{HAN_RANGES}"
# With radicals, hangul's letters, punctuation and full-width forms: what is set without blanks.
EAST_ASIAN_RANGES = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
HAN = re.compile(f"[{HAN_RANGES}]")

_CJK = re.compile(f"[{CJK_RANGES}]")
# An English sentence has as many letters as three times a Chinese one.
_LETTERS_OF_A_HAN = 3


def count_han(text: str) -> int:
    """Return how many ideographs a text has."""
    return len(HAN.findall(text))


def count_cjk(text: str) -> int:
    """Return how many characters of a text are ideographs, kana or marks in their place."""
    return len(_CJK.findall(text))


def is_chinese(text: str) -> bool:
    """Say whether a text is mainly Chinese, whatever Latin names stand in it."""
    characters = count_cjk(text)
    letters = sum(map(str.isalpha, text)) - characters
    return _LETTERS_OF_A_HAN * characters > max(letters, 0)
