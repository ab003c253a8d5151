"""Who speaks in a sentence: its authors, or others whom they cite."""

import re

_YEAR = r"(?:1[89]|20)\d\d[a-z]?"
_NAME = r"(?:[A-Z][\w'’\-]+|[a-z]{2,3}(?=\s[A-Z]))"
_AUTHORS = rf"{_NAME}(?:,?\s+(?:and|&)\s+{_NAME}|\s+et\s+al\.?,?|,\s*{_NAME}){{1,6}}"
_REFERENCES = (
    re.compile(rf"[(（][^()（）]{{0,200}}\b{_YEAR}\b[^()（）]{{0,200}}[)）]"),
    re.compile(r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]"),
    re.compile(rf"\b{_AUTHORS}(?:['’]s?)?\s*,?\s*\b{_YEAR}\b"),
)
_AUTHORS_SPEAK = re.compile(
    r"\b(?:we|us|our|ours|this (?:paper|work|article|study|thesis|chapter))\b"
    r"|我们|本文|本研究|本论文|笔者",
    re.IGNORECASE,
)


def without_references(text: str) -> str:
    """Return a text without `(Author, 2002)`, `Author and Other (2003)` and `[12, 13]`.

    A document does not cite itself: as words of a claim they find nothing in it but noise.
    """
    for mark in _REFERENCES:
        text = mark.sub(" ", text)
    return " ".join(text.split())


def cites_others(sentence: str) -> bool:
    """Say whether a sentence refers to the work of others."""
    return any(mark.search(sentence) for mark in _REFERENCES)


def authors_speak(sentence: str) -> bool:
    """Say whether the authors speak of themselves or their work."""
    return _AUTHORS_SPEAK.search(sentence) is not None
