"""What NumPy and torch both need to compute a plain BERT: its weights, its tokens, its prompts."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rag_assets.model import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
_HEADER_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True)
class BertShape:
    """The sizes of a BERT.

    Args:
        positions: tokens that it takes at most, special tokens included.
        epsilon: what its layer norms add to the variance.
    """

    hidden: int
    inner: int
    layers: int
    heads: int
    positions: int
    epsilon: float


class BertWeights(Protocol):
    """The weights of a BERT, by their names in `transformers`."""

    @property
    def shape(self) -> BertShape:
        """Its sizes."""

    def words(self, ids: Sequence[int]) -> "Floats":
        """Return the word embeddings of tokens, shape (len(ids), hidden size)."""

    def __getitem__(self, name: str) -> "Floats":
        """Return any other tensor."""


@dataclass(frozen=True, slots=True)
class PlainBert:
    """A BERT and how a text becomes one vector with it.

    Args:
        token_ids: cuts texts (with their prompt) into ids, special tokens included, none longer
            than the model takes.
        is_mean: the vector is the mean of the tokens' states, else the first token's state.
        dimension: length of its vectors; below the hidden size the rest is cut off.
    """

    name: str
    fingerprint: str
    weights: BertWeights
    token_ids: Callable[[Sequence[str]], list[list[int]]]
    query_prompt: str
    passage_prompt: str
    is_mean: bool
    dimension: int


class SafetensorsWeights:
    """Weights that stay in their file, mapped."""

    def __init__(self, path: Path, shape: BertShape) -> None:
        import numpy as np

        self.shape = shape
        self._tensors, self._begin = read_header(path)
        self._mapped: NDArray[np.uint8] = np.asarray(np.memmap(path, np.uint8, "r"))

    def words(self, ids: Sequence[int]) -> "Floats":
        """Return the word embeddings of tokens, shape (len(ids), hidden size)."""
        found: Floats = self._read(WORD_EMBEDDINGS)[list(ids)]
        return found

    def __getitem__(self, name: str) -> "Floats":
        """Return a tensor."""
        found = self._read(name)
        # A header of odd length leaves all tensors askew, and NumPy then multiplies without BLAS.
        return found if found.flags.aligned else found.copy()

    def _read(self, name: str) -> "Floats":
        import numpy as np

        tensor = self._tensors[name]
        start, end = (self._begin + offset for offset in tensor["data_offsets"])
        found: Floats = self._mapped[start:end].view(np.float32).reshape(tensor["shape"])
        return found


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the tensors of a safetensors file by name, and where the first one begins.

    Raises:
        ConfigurationError: another kind of file.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_HEADER_LENGTH_BYTES), "little")
        try:
            header = json.loads(file.read(length))
        except ValueError as error:
            raise ConfigurationError(
                f"{path}: not a safetensors file ({error}). Copy the model's folder anew."
            ) from error
    return {k: v for k, v in header.items() if k != "__metadata__"}, _HEADER_LENGTH_BYTES + length


def unit_vectors(vectors: "Floats", dimension: int) -> "Floats":
    """Return the first `dimension` places of each row, brought to length 1; zeros stay zeros."""
    import numpy as np

    cut = np.asarray(vectors[:, :dimension], np.float32)
    lengths = np.linalg.norm(cut, axis=1, keepdims=True)
    return np.divide(cut, np.where(lengths == 0, 1, lengths), dtype=np.float32)
