"""BERT in NumPy, for questions: torch takes longer to import than a search takes to answer.

The forward pass of Devlin et al., "BERT" (NAACL 2019), in float32, one text at a time, so that
nothing is padded. Its vectors agree with torch's to some 1e-6, hence share their fingerprint;
passages, which come in thousands, stay with torch (bert_torch.py).
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert_parts import PlainBert, unit_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class BertQueryEncoder:
    """A plain BERT; a tensor is read when it is first needed, and then kept."""

    def __init__(self, bert: PlainBert) -> None:
        self.name = bert.name
        self.fingerprint = bert.fingerprint
        self.dimension = bert.dimension
        self._bert = bert
        self._shape = bert.weights.shape
        self._tensors: dict[str, Floats] = {}

    def encode_queries(self, texts: Sequence[str]) -> "Floats":
        """Return one vector a question, shape (len(texts), dimension), each of length 1."""
        import numpy as np
        import threadpoolctl

        pooled = np.zeros((len(texts), self._shape.hidden), np.float32)
        asked = [self._bert.query_prompt + text for text in texts]
        # A question's matrices are too small for threads, which wait for one another: on a busy
        # machine a question took seven times as long with two threads as with one.
        with threadpoolctl.threadpool_limits(1, "blas"):
            for row, ids in enumerate(self._bert.token_ids(asked)):
                states = self._forward(ids)
                pooled[row] = states.mean(axis=0) if self._bert.is_mean else states[0]
        return unit_vectors(pooled, self.dimension)

    def _tensor(self, name: str) -> "Floats":
        found = self._tensors.get(name)
        if found is None:
            found = self._tensors[name] = self._bert.weights[name]
        return found

    def _forward(self, ids: Sequence[int]) -> "Floats":
        """Return the last hidden states, shape (len(ids), hidden size)."""
        states = (
            self._bert.weights.words(ids)
            + self._tensor("embeddings.position_embeddings.weight")[: len(ids)]
            + self._tensor("embeddings.token_type_embeddings.weight")[0]
        )
        states = self._normalise(states, "embeddings.LayerNorm")
        for number in range(self._shape.layers):
            layer = f"encoder.layer.{number}"
            attended = self._dense(
                self._attend(states, f"{layer}.attention.self"), f"{layer}.attention.output.dense"
            )
            states = self._normalise(states + attended, f"{layer}.attention.output.LayerNorm")
            inner = gelu(self._dense(states, f"{layer}.intermediate.dense"))
            inner = self._dense(inner, f"{layer}.output.dense")
            states = self._normalise(states + inner, f"{layer}.output.LayerNorm")
        return states

    def _attend(self, states: "Floats", layer: str) -> "Floats":
        import numpy as np

        size, width = states.shape
        query, key, value = (
            self._dense(states, f"{layer}.{part}")
            .reshape(size, self._shape.heads, width // self._shape.heads)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(width // self._shape.heads))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: Floats = (scores @ value).transpose(1, 0, 2).reshape(size, width)
        return attended

    def _dense(self, states: "Floats", name: str) -> "Floats":
        found: Floats = states @ self._tensor(f"{name}.weight").T + self._tensor(f"{name}.bias")
        return found

    def _normalise(self, states: "Floats", name: str) -> "Floats":
        import numpy as np

        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt(
            (centred**2).mean(axis=-1, keepdims=True) + np.float32(self._shape.epsilon)
        )
        found: Floats = centred / spread * self._tensor(f"{name}.weight") + self._tensor(
            f"{name}.bias"
        )
        return found


def gelu(values: "Floats") -> "Floats":
    """Return x Φ(x) with the normal distribution's Φ, off by at most 2e-7 |x|.

    NumPy has no error function: Abramowitz and Stegun, "Handbook of Mathematical Functions"
    (1964), 7.1.26.
    """
    import numpy as np

    scaled = np.abs(values) / np.float32(math.sqrt(2))
    step: Any = 1 / (1 + np.float32(0.3275911) * scaled)
    series: Floats = np.zeros_like(values)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = np.multiply(series + np.float32(factor), step, dtype=np.float32)
    error: Floats = np.copysign(1 - series * np.exp(-(scaled * scaled)), values)
    found: Floats = np.float32(0.5) * values * (1 + error)
    return found
