"""How long a text is for a language model, and which script it is written in."""

import re

from rag_assets.chunking import CJK_RANGES

_HAN = re.compile(f"[{CJK_RANGES}]")
# About what the tokenizers of small language models make of a text.
_LETTERS_A_TOKEN = 4.3
_TOKENS_A_HAN = 0.75
# An English sentence has as many letters as three times a Chinese one.
_LETTERS_OF_A_HAN = 3


def text_size(text: str) -> float:
    """Return about how many tokens a text has."""
    han = len(_HAN.findall(text))
    return (len(text) - han) / _LETTERS_A_TOKEN + han * _TOKENS_A_HAN


def is_chinese(text: str) -> bool:
    """Say whether a text is mainly Chinese, whatever Latin names stand in it."""
    han = len(_HAN.findall(text))
    letters = sum(map(str.isalpha, text)) - han
    return _LETTERS_OF_A_HAN * han > max(letters, 0)
