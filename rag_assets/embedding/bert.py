"""A plain BERT in ONNX Runtime, for passages and questions: no torch, no padding.

The graph is made in memory of the model's weights. In `int8` its matrices are whole numbers of
seven bits, a scale for each column, and ONNX Runtime rounds the states of each text to eight
(dynamic quantization: Zafrir et al., "Q8BERT", 2019). The eighth bit stays empty since processors
without VNNI add two products in sixteen bits, where it would overflow: so every processor computes
the same, and the vectors are nearer to those in float32 (cosine 0.998 for 0.992 with bge). A text
goes alone, so that its vector depends on nothing else.
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.embedder import EncodeProgress
from rag_assets.embedding.model_folder import (
    TOKENIZER_FILE,
    FolderFacts,
    cutting_token_ids,
    read_json,
)
from rag_assets.model import ConfigurationError, usable_processors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
# ONNX Runtime's own operators, which stand for several of ONNX each.
_OWN = "com.microsoft"
_OPSET, _IR_VERSION = 18, 9
_LARGEST = 63
_ERRORS = 3
# Texts that the workers take at a time: progress is reported between them.
_AT_A_TIME = 32


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


@dataclass(frozen=True, slots=True)
class PlainBert:
    """A BERT and how a text becomes one vector with it.

    Args:
        words: returns the word embeddings of tokens, shape (number of ids, hidden size).
        tensor: returns any other tensor, by its name in `transformers`.
        token_ids: cuts texts (with their prompt) into ids, special tokens included, none longer
            than the model takes.
        is_mean: the vector is the mean of the tokens' states, else the first token's state.
    """

    facts: FolderFacts
    shape: BertShape
    words: "Callable[[Sequence[int]], Floats]"
    tensor: "Callable[[str], Floats]"
    token_ids: Callable[[Sequence[str]], list[list[int]]]
    is_mean: bool


class BertEmbedder:
    """Encodes texts one by one, as many at a time as there are processors."""

    def __init__(self, bert: PlainBert, *, is_int8: bool) -> None:
        import onnxruntime

        self.name = bert.facts.name
        self.fingerprint = bert.facts.fingerprint
        self.dimension = bert.facts.dimension
        self._bert = bert
        self._places = bert.tensor("embeddings.position_embeddings.weight")
        self._type = bert.tensor("embeddings.token_type_embeddings.weight")[0]
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _ERRORS
        # Texts are shared out among threads, not the sums of one text.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        graph = _Graph(bert, is_int8=is_int8)
        model = graph.build()
        # Given by reference: inside the model's bytes they would be copied three times.
        options.add_external_initializers(
            list(graph.matrices),
            [onnxruntime.OrtValue.ortvalue_from_numpy(one) for one in graph.matrices.values()],
        )
        self._session: Any = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "Floats":
        """Return the vectors of `texts`, shape (len(texts), dimension), each of length 1."""
        return self._encode(texts, self._bert.facts.prompts.passage, on_progress)

    def encode_queries(self, texts: Sequence[str]) -> "Floats":
        """Return the vectors of questions."""
        return self._encode(texts, self._bert.facts.prompts.query, None)

    def _encode(
        self, texts: Sequence[str], prompt: str, on_progress: EncodeProgress | None
    ) -> "Floats":
        import numpy as np

        pooled = np.zeros((len(texts), self._bert.shape.hidden), np.float32)
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
        states = self._bert.words(ids) + self._places[: len(ids)] + self._type
        found: Floats = self._session.run(None, {"states": states[None]})[0][0]
        pooled: Floats = found.mean(axis=0) if self._bert.is_mean else found[0]
        return pooled


class _Graph:
    """The forward pass of Devlin et al. (2019) as an ONNX graph, from the summed embeddings on.

    `matrices` holds the numbers of the graph's tensors, which its bytes only name.
    """

    def __init__(self, bert: PlainBert, *, is_int8: bool) -> None:
        self._bert = bert
        self._is_int8 = is_int8
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []
        self.matrices: dict[str, NDArray[Any]] = {}

    def build(self) -> bytes:
        """Return the model, serialised; it takes `states`, shape (1, tokens, hidden size)."""
        from onnx import TensorProto, helper

        shape = self._bert.shape
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
        layer, shape = f"encoder.layer.{number}", self._bert.shape
        if number == shape.layers - 1 and not self._bert.is_mean:
            # Of the last layer nothing but the first token's state is wanted.
            first = self._add("Slice", [states, *self._bounds()], "first")
            query = self._dense(first, [f"{layer}.attention.self.query"])
            both = [f"{layer}.attention.self.{part}" for part in ("key", "value")]
            parts = [query, *self._split(self._dense(states, both), 2)]
            states = first
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

        out, tensor = names[0], self._bert.tensor
        matrix = np.concatenate([tensor(f"{name}.weight").T for name in names], axis=1)
        bias = self._tensor(
            f"{out}.bias", np.concatenate([tensor(f"{name}.bias") for name in names])
        )
        if not self._is_int8:
            product = self._add("MatMul", [states, self._tensor(f"{out}.w", matrix)], f"{out}.xw")
            return self._add("Add", [product, bias], out)
        scale = (np.abs(matrix).max(axis=0) / _LARGEST).astype(np.float32)
        scale[scale == 0] = 1
        stored = [
            self._tensor(f"{out}.numbers", np.rint(matrix / scale).astype(np.int8)),
            self._tensor(f"{out}.scale", scale),
            self._tensor(f"{out}.zero", np.zeros(len(scale), np.int8)),
        ]
        return self._own("DynamicQuantizeMatMul", [states, *stored, bias], out)

    def _added(self, change: str, states: str, norm: str) -> str:
        inputs = [change, states, *self._norm(norm)]
        return self._own("SkipLayerNormalization", inputs, norm, epsilon=self._bert.shape.epsilon)

    def _split(self, states: str, parts: int) -> list[str]:
        names = [f"{states}.{part}" for part in range(parts)]
        self._add("Split", [states], *names, axis=-1, num_outputs=parts)
        return names

    def _bounds(self) -> list[str]:
        """Return begin, end and axis of the first token, in the graph itself: ONNX reads them."""
        import numpy as np
        from onnx import numpy_helper

        self._tensors += [numpy_helper.from_array(np.array([n]), f"first.{n}") for n in (0, 1)]
        return ["first.0", "first.1", "first.1"]

    def _norm(self, name: str) -> list[str]:
        return [
            self._tensor(f"{name}.{part}", self._bert.tensor(f"{name}.{part}"))
            for part in ("weight", "bias")
        ]

    def _tensor(self, name: str, values: "NDArray[Any]") -> str:
        import numpy as np
        from onnx import TensorProto, helper

        self.matrices[name] = np.ascontiguousarray(values)
        tensor = TensorProto(
            name=name,
            dims=values.shape,
            data_type=helper.np_dtype_to_tensor_dtype(values.dtype),
            data_location=TensorProto.EXTERNAL,
        )
        tensor.external_data.add(key="location", value="memory")
        self._tensors.append(tensor)
        return name

    def _own(self, kind: str, inputs: Sequence[str], out: str, **attributes: Any) -> str:
        return self._add(kind, inputs, out, domain=_OWN, **attributes)

    def _add(self, kind: str, inputs: Sequence[str], *outs: str, **attributes: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(kind, inputs, outs, **attributes))
        return outs[0]


def unit_vectors(vectors: "Floats", dimension: int) -> "Floats":
    """Return the first `dimension` places of each row, brought to length 1; zeros stay zeros."""
    import numpy as np

    cut = np.asarray(vectors[:, :dimension], np.float32)
    lengths = np.linalg.norm(cut, axis=1, keepdims=True)
    return np.divide(cut, np.where(lengths == 0, 1, lengths), dtype=np.float32)


_WEIGHTS = "model.safetensors"
_HEADER_LENGTH_BYTES = 8
# What sentence-transformers calls the modules of a model that this module can compute.
_MODULES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
_MEAN, _FIRST = "pooling_mode_mean_tokens", "pooling_mode_cls_token"
_POOLING_FIELDS = {"word_embedding_dimension", "include_prompt"}


def is_plain_bert(folder: Path) -> bool:
    """Say whether this module computes what the model in `folder` computes.

    Decided by what the model's files say of it, never by trying: another architecture, another
    activation, another pooling or another precision is left to sentence-transformers.
    """
    config, bert = read_json(folder, "config.json"), read_json(folder, "sentence_bert_config.json")
    path = folder / "modules.json"
    modules = json.loads(path.read_text("utf-8")) if path.is_file() else []
    if any(module["type"].endswith(".Transformer") and module["path"] for module in modules):
        return False
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and not bert.get("do_lower_case")
        and [module["type"].rsplit(".", 1)[-1] for module in modules] in _MODULES
        and _pooling_modes(folder) in ([_MEAN], [_FIRST])
        and _has_plain_weights(folder)
    )


def read_plain_bert(facts: FolderFacts) -> PlainBert:
    """Return the model in a folder, of which `is_plain_bert` is true; its weights stay mapped."""
    import numpy as np

    path = facts.folder / _WEIGHTS
    tensors, begin = _read_header(path)
    mapped: NDArray[np.uint8] = np.asarray(np.memmap(path, np.uint8, "r"))

    def read(name: str) -> "Floats":
        start, end = (begin + offset for offset in tensors[name]["data_offsets"])
        found: Floats = mapped[start:end].view(np.float32).reshape(tensors[name]["shape"])
        return found

    def tensor(name: str) -> "Floats":
        # A header of odd length leaves all tensors askew, and NumPy then multiplies without BLAS.
        found = read(name)
        return found if found.flags.aligned else found.copy()

    config = read_json(facts.folder, "config.json")
    return PlainBert(
        facts,
        BertShape(
            hidden=int(config["hidden_size"]),
            inner=int(config["intermediate_size"]),
            layers=int(config["num_hidden_layers"]),
            heads=int(config["num_attention_heads"]),
            positions=int(config["max_position_embeddings"]),
            epsilon=float(config["layer_norm_eps"]),
        ),
        lambda ids: read(WORD_EMBEDDINGS)[list(ids)],
        tensor,
        cutting_token_ids(facts.folder / TOKENIZER_FILE, facts.max_tokens),
        is_mean=_pooling_modes(facts.folder) == [_MEAN],
    )


def _pooling_modes(folder: Path) -> list[str]:
    """Return the poolings that are switched on, and every field that is not known here."""
    config = read_json(folder, "1_Pooling/config.json")
    if not config.get("include_prompt", True):
        return []
    return sorted(name for name, value in config.items() if value and name not in _POOLING_FIELDS)


def _has_plain_weights(folder: Path) -> bool:
    if not (folder / _WEIGHTS).is_file():
        return False
    tensors = _read_header(folder / _WEIGHTS)[0]
    return WORD_EMBEDDINGS in tensors and all(
        tensor["dtype"] == "F32" for name, tensor in tensors.items() if name.endswith("weight")
    )


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
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
                f"{path}: not a safetensors file ({error}). Copy the model's folder again."
            ) from error
    return {k: v for k, v in header.items() if k != "__metadata__"}, _HEADER_LENGTH_BYTES + length
