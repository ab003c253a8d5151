"""How likely a passage is to be the one that somebody cites, before any claim is known.

A title and an abstract say in short what the body says in full; what a document tells of others is
seldom what it is cited for; what its authors say of their own work often is. The weights were
chosen on citing sentences of CL-SciSumm (docs/citations.md), each document left out in turn.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_assets.chunking import split_sentences

# Content words of a title, names and an abstract: some 300 words of English.
_OPENING_WORDS = 180
_LATE = 0.7
_OPENING = 0.4
_OTHERS = 0.3
_OWN = 0.3
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


def standings(texts: Sequence[str], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return what is added to each passage's score whatever the claim, shape (len(texts),).

    Args:
        texts: the passages of one document, in its order.
        sizes: content words of each.
    """
    places = np.arange(len(texts)) / max(len(texts), 1)
    before = np.cumsum([0, *sizes])[:-1]
    told = [_speakers(text) for text in texts]
    others, own = np.array(told, dtype=np.float64).reshape(-1, 2).T
    result: NDArray[np.float64] = (
        _OWN * own - _OTHERS * others - _LATE * places - _OPENING * (before < _OPENING_WORDS)
    )
    return result


def _speakers(text: str) -> tuple[float, float]:
    """Return the shares of the sentences that cite others, and in which the authors speak."""
    sentences = [text[start:end] for start, end in split_sentences(text)]
    others = sum(any(mark.search(sentence) for mark in _REFERENCES) for sentence in sentences)
    own = sum(bool(_AUTHORS_SPEAK.search(sentence)) for sentence in sentences)
    return others / max(len(sentences), 1), own / max(len(sentences), 1)
