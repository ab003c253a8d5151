"""The weights of a BERT whose ONNX file holds whole numbers, as `onnxruntime` quantizes a model.

Its matrices are 8-bit numbers with a zero point and a scale. ONNX Runtime also rounds each state to
8 bits, by the range of the whole batch, so that a text has another vector among other texts. Taken
as ordinary weights, (number - zero point) * scale, they give a text one vector, and torch computes
them several times as fast.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert_parts import WORD_EMBEDDINGS, BertShape
from rag_assets.model import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_NUMBERS, _ZERO, _SCALE = "_quantized", "_zero_point", "_scale"


class OnnxWeights:
    """Weights by the names that BERT has in `transformers`; a matrix is unpacked when asked for.

    Raises:
        ConfigurationError: not an ONNX file of a quantized BERT.
    """

    def __init__(self, path: Path, shape: BertShape) -> None:
        import onnx
        from google.protobuf.message import DecodeError

        self.shape = shape
        try:
            graph = onnx.load(str(path)).graph
        except DecodeError as error:
            raise ConfigurationError(
                f"{path}: not an ONNX file ({error}). Install its package anew."
            ) from error
        self._stored = {stored.name: stored for stored in graph.initializer}
        self._matrices = _matrices_by_bias(graph, self._stored.keys())
        self._words: NDArray[Any] | None = None
        if len(self._matrices) != 6 * shape.layers:
            raise ConfigurationError(
                f"{path}: not a quantized BERT of {shape.layers} layers. Install its package anew."
            )

    def words(self, ids: Sequence[int]) -> "Floats":
        """Return the word embeddings of tokens, shape (len(ids), hidden size)."""
        if self._words is None:
            self._words = self._array(WORD_EMBEDDINGS + _NUMBERS)
        return self._unpacked(self._words[list(ids)], WORD_EMBEDDINGS)

    def __getitem__(self, name: str) -> "Floats":
        """Return a tensor, in the shape that BERT gives it; a matrix is unpacked anew."""
        stored = self._matrices.get(name)
        if stored is not None:
            # ONNX multiplies states by the matrix, BERT by the transposed one.
            return self._unpacked(self._array(stored + _NUMBERS), stored).T
        if name + _NUMBERS in self._stored:
            return self._unpacked(self._array(name + _NUMBERS), name)
        found: Floats = self._array(name)
        return found

    def _unpacked(self, numbers: "NDArray[Any]", stored: str) -> "Floats":
        import numpy as np

        zero = self._array(stored + _ZERO).astype(np.float32)
        found: Floats = (numbers.astype(np.float32) - zero) * self._array(stored + _SCALE)
        return found

    def _array(self, stored: str) -> "NDArray[Any]":
        from onnx import numpy_helper

        return numpy_helper.to_array(self._stored[stored])


def _matrices_by_bias(graph: Any, stored: Any) -> dict[str, str]:
    """Return the name of each quantized matrix by that of the weight that it is.

    The file names a matrix by a number; the bias that is added to its product has BERT's name.
    MatMulInteger, Cast, Mul (by the scales) and Add follow one another.
    """
    users = {name: node for node in graph.node for name in node.input}
    found = {}
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            added = node
            while added.op_type != "Add":
                added = users[added.output[0]]
            (bias,) = (name for name in added.input if name in stored)
            weight = bias.removesuffix("bias") + "weight"
            found[weight] = node.input[1].removesuffix(_NUMBERS)
    return found
