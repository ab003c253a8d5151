"""Words and single CJK characters: the tokens of the model-free embedder."""

import re
from collections.abc import Sequence

from rag_assets.model import CJK_RANGES, hash_fields

_WORDS_VERSION = 1
_WORD = re.compile(rf"[{CJK_RANGES}]|[^\W{CJK_RANGES}]+")

# There is no model that could be too small; 2³¹−1 fits every column that may hold it.
_NO_LIMIT = 2**31 - 1


class WordTokenizer:
    """Counts words of letters and digits, and each CJK character by itself."""

    fingerprint = hash_fields("words", _WORDS_VERSION)
    limit = _NO_LIMIT

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words and CJK characters of each text."""
        return [len(_WORD.findall(text)) for text in texts]

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each word or CJK character, in order."""
        return [match.span() for match in _WORD.finditer(text)]

    def unknown_share(self, text: str) -> float:  # noqa: ARG002 - the Protocol's signature
        """Return 0.0: every word has a hash."""
        return 0.0
