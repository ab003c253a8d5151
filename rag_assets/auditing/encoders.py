"""Models that the scorer `similarity` asks; the others ask none."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """What turns text into vectors. Texts go in one batch; rows come in their order."""

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model and its configuration."""
        ...

    def encode_queries(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        ...

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        ...

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the tokens of `text` that the model does not know."""
        ...


class RememberingEncoder:
    """An encoder that is asked for each text once.

    Args:
        encoder: the model.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._queries: dict[str, Vectors] = {}
        self._passages: dict[str, Vectors] = {}
        self._shares: dict[str, float] = {}

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model and its configuration."""
        return self._encoder.fingerprint

    def encode_queries(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        return _remembered(texts, self._queries, self._encoder.encode_queries)

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        return _remembered(texts, self._passages, self._encoder.encode_passages)

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the tokens of `text` that the model does not know."""
        if text not in self._shares:
            self._shares[text] = self._encoder.unknown_share(text)
        return self._shares[text]


def _remembered(
    texts: list[str], known: dict[str, Vectors], encode: Callable[[list[str]], Vectors]
) -> Vectors:
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        vectors = encode(new)
        if vectors.ndim != 2 or vectors.shape[0] != len(new):
            return vectors  # the caller says what is wrong with it
        known.update(zip(new, vectors, strict=True))
    return np.stack([known[text] for text in texts])
