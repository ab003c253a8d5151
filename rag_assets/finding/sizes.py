"""How long a text is for a language model."""

from rag_assets.model import count_cjk

# About what the tokenizers of small language models make of a text.
_LETTERS_A_TOKEN = 4.3
_TOKENS_A_CHARACTER = 0.75


def text_size(text: str) -> float:
    """Return about how many tokens a text has."""
    characters = count_cjk(text)
    return (len(text) - characters) / _LETTERS_A_TOKEN + characters * _TOKENS_A_CHARACTER
