"""The vocabulary of the bundled multilingual model: its pieces as vectors, without the network."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_assets.embedding.bundled import bundled_vocabulary, fingerprint
from rag_assets.embedding.bundled_files import E5
from rag_assets.model import hash_fields
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Counts as code: raise it when the same file gives other vectors or weights.
WORD_PIECES_VERSION = 1
# All vectors of the table lean to one side; the mean of this sample is that side.
_SAMPLE = range(5, 250_000, 500)
# Log probabilities, negative: of what stands in every text, and of what is as rare as a name.
_COMMON, _RARE = 5.0, 13.0
_LEAST_WEIGHT = 0.02


class WordPieces:
    """The word pieces of multilingual-e5-small; what means the same is near, in any language."""

    def __init__(self) -> None:
        self._vocabulary, self._file = bundled_vocabulary()
        self._centre: Floats = self._file.words(list(_SAMPLE)).mean(axis=0)
        self._rows: dict[int, Floats] = {}
        self.fingerprint = hash_fields(
            WORD_PIECES_VERSION, fingerprint(ModelSettings(kind="bundled", model=E5))
        )

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of the pieces of each text, without marks at its ends."""
        return self._vocabulary.ids(texts)

    def vectors(self, ids: Sequence[int]) -> "Floats":
        """Return one unit vector a piece, shape (len(ids), hidden size); ids not empty."""
        import numpy as np

        new = [i for i in dict.fromkeys(ids) if i not in self._rows]
        if new:
            rows = self._file.words(new) - self._centre
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-6))
            self._rows.update(zip(new, rows, strict=True))
        return np.stack([self._rows[i] for i in ids])

    def weights(self, ids: Sequence[int]) -> "Floats":
        """Return how much each piece tells, from near 0 to 1, by the vocabulary's own table."""
        import numpy as np

        scores = self._file.scores
        found = np.array([-scores[i] for i in ids], np.float32)
        kept: Floats = np.clip((found - _COMMON) / (_RARE - _COMMON), _LEAST_WEIGHT, 1.0)
        return kept


@lru_cache(maxsize=1)
def load_word_pieces() -> WordPieces:
    """Return the vocabulary, read once a process. Imports no torch.

    Raises:
        ConfigurationError: the model is not on this machine.
        DamagedFileError: its file was altered.
    """
    return WordPieces()
