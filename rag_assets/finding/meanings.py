"""How near words are in meaning, in one language or two, without a network being run.

The multilingual encoder's table of word pieces holds neighbours in meaning near to one another,
also across languages (temperature and 温度). So each piece of a statement is answered by the
nearest piece of a sentence, as Zhang et al., "BERTScore" (ICLR 2020) answer states; a document is
read in the time that its words take to be looked up.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# Cosines of two pieces that have nothing to do with one another, of translations, of one word.
_UNRELATED, _SIMILAR, _SAME = 0.25, 0.35, 0.6
# What the document never says is about as rare as what stands in it once.
_UNSAID = 0.9


class Pieces(Protocol):
    """A vocabulary with vectors."""

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the pieces of each text, without marks."""
        ...

    def vectors(self, ids: Sequence[int]) -> Floats:
        """Return one centred unit vector a piece."""
        ...

    def weights(self, ids: Sequence[int]) -> Floats:
        """Return how much each piece tells: from 0, of what stands in every text, to 1."""
        ...


class DocumentMeanings:
    """The sentences of one document as pieces with vectors, to be compared with statements.

    The columns of `compare`: how near each piece is answered on the average, weighted; the same for
    what is clearly answered; the weight of pieces that stand there as they are, or nearly; of those
    that have a neighbour in meaning there; the cosine of the weighted means.

    Args:
        pieces: the vocabulary.
        texts: as `Sentence.read` gives them.
    """

    NAMES = ("answered", "clearly", "same", "similar", "means")

    def __init__(self, pieces: Pieces, texts: Sequence[str]) -> None:
        self._pieces = pieces
        ids = pieces.ids(texts)
        flat = np.array([i for own in ids for i in (own or [0])], np.int64)
        self._bounds = np.cumsum([0, *(max(len(own), 1) for own in ids)])[:-1]
        self._known, places = np.unique(flat, return_inverse=True)
        self._places = places
        self._vectors = pieces.vectors(self._known.tolist()) if len(flat) else np.zeros((0, 1))
        weights = pieces.weights(self._known.tolist())
        counts = np.zeros(len(self._known))
        for own in ids:
            counts[np.searchsorted(self._known, sorted(set(own) or {0}))] += 1
        rarity = np.log((len(texts) + 1) / (counts + 0.5)) / np.log(2 * (len(texts) + 1))
        self._rarity = dict(zip(self._known.tolist(), rarity.tolist(), strict=True))
        self._own = (weights * rarity).astype(np.float32)
        means = [self._mean(np.array(own or [0])) for own in ids]
        self._means = np.stack(means) if means else np.zeros((0, self._vectors.shape[1]))

    def _mean(self, ids: NDArray[np.int64]) -> Floats:
        places = np.searchsorted(self._known, ids)
        mean = (self._vectors[places] * self._own[places][:, None]).sum(axis=0)
        unit: Floats = mean / max(float(np.linalg.norm(mean)), 1e-6)
        return unit

    def compare(self, statement: str) -> NDArray[np.float64]:
        """Return one row a sentence, columns as `NAMES`."""
        (asked,) = self._pieces.ids([statement])
        asked = list(dict.fromkeys(asked)) or [0]
        vectors = self._pieces.vectors(asked)
        rarity = np.array([self._rarity.get(i, _UNSAID) for i in asked], np.float32)
        weights = self._pieces.weights(asked) * rarity
        weights = weights / max(float(weights.sum()), 1e-6)
        near = vectors @ self._vectors.T
        best = np.maximum.reduceat(
            near[:, self._places], self._bounds, axis=1
        )  # (asked, sentences)
        own = (vectors * weights[:, None]).sum(axis=0)
        own = own / max(float(np.linalg.norm(own)), 1e-6)
        return np.stack(
            [
                weights @ best,
                weights @ np.clip((best - _UNRELATED) / (1.0 - _UNRELATED), 0.0, 1.0),
                weights @ (best > _SAME),
                weights @ ((best > _SIMILAR) & (best <= _SAME)),
                self._means @ own,
            ],
            axis=1,
        ).astype(np.float64)
