"""BM25 over a few thousand passages in memory: a baseline, not the product's search."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from rag_assets.chunking import CJK_RANGES

# The defaults of Lucene and of most comparisons (Robertson and Zaragoza 2009 suggest 1.2 to 2
# and 0.5 to 0.8).
_K1, _B = 1.5, 0.75
_WORD = re.compile(rf"[{CJK_RANGES}]|[^\W_{CJK_RANGES}]+")
# Lucene's own list of English stop words.
_STOP_WORDS = re.compile(
    "an?|and|are|as|at|be|but|by|for|if|into|in|is|it|not?|of|on|or|such|that|the|their|then|"
    "there|these|they|this|to|was|will|with"
)


class WordSearch:
    """An index of passages by their words; English stop words left out, nothing stemmed."""

    def __init__(self, passages: Sequence[str]) -> None:
        counted = [Counter(_words(passage)) for passage in passages]
        lengths = [bag.total() for bag in counted]
        average = sum(lengths) / max(1, len(lengths)) or 1.0
        self._size = len(passages)
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for index, (bag, length) in enumerate(zip(counted, lengths, strict=True)):
            norm = _K1 * (1 - _B + _B * length / average)
            for word, times in bag.items():
                weight = times * (_K1 + 1) / (times + norm)
                self._postings.setdefault(word, []).append((index, weight))

    def rank(self, question: str, most: int) -> list[int]:
        """Return the best passages by index, at most `most`; equal scores in their order."""
        scores: Counter[int] = Counter()
        for word in _words(question):
            holders = self._postings.get(word, [])
            rarity = math.log(1 + (self._size - len(holders) + 0.5) / (len(holders) + 0.5))
            for index, weight in holders:
                scores[index] += rarity * weight  # type: ignore[assignment]
        ordered = sorted(range(self._size), key=lambda index: (-scores[index], index))
        return ordered[:most]


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in _WORD.findall(folded) if not _STOP_WORDS.fullmatch(word)]
