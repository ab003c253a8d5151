"""Passages of whole sentences."""

from rag_assets.judging import PassageText


def passage(*sentences: str) -> PassageText:
    """Return one passage of the sentences, with their spans."""
    spans, at = [], 0
    for sentence in sentences:
        spans.append((at, at + len(sentence)))
        at += len(sentence) + 1
    return PassageText(" ".join(sentences), tuple(spans))
