"""A plain BERT in ONNX Runtime, for passages on a processor: no torch, no padding.

The graph is made in memory of the same weights that bert_model.py's questions use. In `int8` its
matrices are whole numbers of seven bits, a scale for each column, and ONNX Runtime rounds the
states of each text to eight (dynamic quantization: Zafrir et al., "Q8BERT", 2019). The eighth bit
stays empty since processors without VNNI add two products in sixteen bits, where it would overflow:
so every processor computes the same, and the vectors lie nearer to those in float32 (cosine 0.998
for 0.992 with bge). A text goes alone, so that its vector depends on nothing else.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert_parts import PlainBert, unit_vectors
from rag_assets.embedding.embedder import EncodeProgress
from rag_assets.model import usable_processors
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# ONNX Runtime's own operators, which stand for several of ONNX each.
_OWN = "com.microsoft"
_OPSET, _IR_VERSION = 18, 9
_LARGEST = 63
_ERRORS = 3
# Texts that the workers take at a time: progress is told between them.
_AT_A_TIME = 32


class OnnxBertEmbedder:
    """Encodes passages one by one, as many at a time as there are processors."""

    def __init__(self, bert: PlainBert, model: ModelSettings) -> None:
        import onnxruntime

        self.name = bert.name
        self.fingerprint = bert.fingerprint
        self.dimension = bert.dimension
        self._bert = bert
        self._places = bert.weights["embeddings.position_embeddings.weight"]
        self._type = bert.weights["embeddings.token_type_embeddings.weight"][0]
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _ERRORS
        # Texts are shared out among threads, not the sums of one text.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        graph = _Graph(bert, is_int8=model.dtype == "int8").build()
        self._session: Any = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"]
        )

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "Floats":
        """Return the vectors of `texts`, shape (len(texts), dimension), each of length 1."""
        return self._encode(texts, self._bert.passage_prompt, on_progress)

    def encode_queries(self, texts: Sequence[str]) -> "Floats":
        """Return the vectors of questions."""
        return self._encode(texts, self._bert.query_prompt, None)

    def _encode(
        self, texts: Sequence[str], prompt: str, on_progress: EncodeProgress | None
    ) -> "Floats":
        import numpy as np

        pooled = np.zeros((len(texts), self._bert.weights.shape.hidden), np.float32)
        with ThreadPoolExecutor(usable_processors()) as workers:
            for first in range(0, len(texts), _AT_A_TIME):
                some = texts[first : first + _AT_A_TIME]
                ids = self._bert.token_ids([prompt + text for text in some])
                for row, vector in enumerate(workers.map(self.pool, ids), start=first):
                    pooled[row] = vector
                if on_progress:
                    on_progress(first + len(some), len(texts))
        return unit_vectors(pooled, self.dimension)

    def pool(self, ids: Sequence[int]) -> "Floats":
        """Return the pooled state of one text, shape (hidden size,), not brought to length 1."""
        states = self._bert.weights.words(ids) + self._places[: len(ids)] + self._type
        found: Floats = self._session.run(None, {"states": states[None]})[0][0]
        pooled: Floats = found.mean(axis=0) if self._bert.is_mean else found[0]
        return pooled


class _Graph:
    """The forward pass of Devlin et al. (2019) as an ONNX graph, from the summed embeddings on."""

    def __init__(self, bert: PlainBert, *, is_int8: bool) -> None:
        self._weights = bert.weights
        self._is_int8 = is_int8
        self._is_mean = bert.is_mean
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []

    def build(self) -> bytes:
        """Return the model, serialised; it takes `states`, shape (1, tokens, hidden size)."""
        from onnx import TensorProto, helper

        shape = self._weights.shape
        states = self._add(
            "LayerNormalization",
            ["states", *self._norm("embeddings.LayerNorm")],
            "embedded",
            axis=-1,
            epsilon=shape.epsilon,
        )
        for number in range(shape.layers):
            states = self._layer(states, number)
        sizes = [1, None, shape.hidden]
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info("states", TensorProto.FLOAT, sizes)],
            [helper.make_tensor_value_info(states, TensorProto.FLOAT, sizes)],
            self._tensors,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_OWN, 1)]
        made: bytes = helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR_VERSION
        ).SerializeToString()
        return made

    def _layer(self, states: str, number: int) -> str:
        layer = f"encoder.layer.{number}"
        shape = self._weights.shape
        if number == shape.layers - 1 and not self._is_mean:
            # Of the last layer nothing but the first token's state is wanted.
            asked = self._first_token(states)
            query = self._dense(asked, [f"{layer}.attention.self.query"])
            both = [f"{layer}.attention.self.{part}" for part in ("key", "value")]
            parts = [query, *self._split(self._dense(states, both), 2)]
            states = asked
        else:
            every = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
            parts = self._split(self._dense(states, every), 3)
        attended = self._own(
            "MultiHeadAttention", parts, f"{layer}.attended", num_heads=shape.heads
        )
        attended = self._dense(attended, [f"{layer}.attention.output.dense"])
        states = self._added(attended, states, f"{layer}.attention.output.LayerNorm")
        inner = self._dense(states, [f"{layer}.intermediate.dense"])
        inner = self._own("Gelu", [inner], f"{layer}.gelu")
        inner = self._dense(inner, [f"{layer}.output.dense"])
        return self._added(inner, states, f"{layer}.output.LayerNorm")

    def _dense(self, states: str, names: Sequence[str]) -> str:
        """Multiply by the matrices of one or several layers side by side."""
        import numpy as np

        out = names[0]
        matrix = np.concatenate([self._weights[f"{name}.weight"].T for name in names], axis=1)
        bias = self._tensor(
            f"{out}.bias", np.concatenate([self._weights[f"{name}.bias"] for name in names])
        )
        if not self._is_int8:
            product = self._add("MatMul", [states, self._tensor(f"{out}.w", matrix)], f"{out}.xw")
            return self._add("Add", [product, bias], out)
        scale = (np.abs(matrix).max(axis=0) / _LARGEST).astype(np.float32)
        scale[scale == 0] = 1
        numbers = np.rint(matrix / scale).astype(np.int8)
        stored = [
            self._tensor(f"{out}.numbers", numbers),
            self._tensor(f"{out}.scale", scale),
            self._tensor(f"{out}.zero", np.zeros(len(scale), np.int8)),
        ]
        return self._own("DynamicQuantizeMatMul", [states, *stored, bias], out)

    def _added(self, change: str, states: str, norm: str) -> str:
        inputs = [change, states, *self._norm(norm)]
        return self._own(
            "SkipLayerNormalization", inputs, norm, epsilon=self._weights.shape.epsilon
        )

    def _split(self, states: str, parts: int) -> list[str]:
        names = [f"{states}.{part}" for part in range(parts)]
        self._add("Split", [states], *names, axis=-1, num_outputs=parts)
        return names

    def _first_token(self, states: str) -> str:
        import numpy as np

        ends = [self._tensor(f"first.{end}", np.array([end])) for end in (0, 1)]
        return self._add("Slice", [states, *ends, ends[1]], "first")

    def _norm(self, name: str) -> list[str]:
        return [
            self._tensor(f"{name}.{part}", self._weights[f"{name}.{part}"])
            for part in ("weight", "bias")
        ]

    def _tensor(self, name: str, values: "NDArray[Any]") -> str:
        import numpy as np
        from onnx import numpy_helper

        self._tensors.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _own(self, kind: str, inputs: Sequence[str], out: str, **attributes: Any) -> str:
        return self._add(kind, inputs, out, domain=_OWN, **attributes)

    def _add(self, kind: str, inputs: Sequence[str], *outs: str, **attributes: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(kind, inputs, outs, **attributes))
        return outs[0]
