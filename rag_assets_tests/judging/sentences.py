"""Passages of whole sentences, and a stand-in for the cross-encoder."""

from collections.abc import Sequence

from rag_assets.judging import PassageText


def passage(*sentences: str) -> PassageText:
    """Return one passage of the sentences, with their spans."""
    spans, at = [], 0
    for sentence in sentences:
        spans.append((at, at + len(sentence)))
        at += len(sentence) + 1
    return PassageText(" ".join(sentences), tuple(spans))


class WordReranker:
    """Scores by words in common, from -10 to 10; counts what it was asked."""

    name = "words"
    fingerprint = "words"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def can_read(self, text: str) -> bool:
        return text.isascii()

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.asked += [(query, text) for text in passages]
        own = set(query.casefold().split())
        return [20 * len(own & set(p.casefold().split())) / len(own) - 10 for p in passages]
