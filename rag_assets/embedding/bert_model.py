"""BERT in NumPy, for questions: torch takes longer to import than a search takes to answer.

The forward pass of Devlin et al., "BERT" (NAACL 2019), in float32, one text at a time, so that
nothing is padded. Its vectors agree with sentence-transformers' to some 1e-6, hence share their
fingerprint; passages, which come in thousands, stay with torch.
"""

import json
import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.model_folder import (
    read_json,
    read_prompts,
    sequence_limit,
    vector_dimension,
)
from rag_assets.model import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_WEIGHTS = "model.safetensors"
_WORDS = "embeddings.word_embeddings.weight"
_HEADER_LENGTH_BYTES = 8
# What sentence-transformers calls the modules of a model that this file can stand for.
_MODULES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
_MEAN, _FIRST = "pooling_mode_mean_tokens", "pooling_mode_cls_token"
_POOLING_FIELDS = {"word_embedding_dimension", "include_prompt"}


def is_plain_bert(folder: Path) -> bool:
    """Say whether `BertQueryEncoder` computes what the model in `folder` computes.

    Decided by what the model's files say of it, never by trying: another architecture, another
    activation, another pooling or another precision is left to sentence-transformers.
    """
    config, bert = read_json(folder, "config.json"), read_json(folder, "sentence_bert_config.json")
    pooling = _pooling_modes(folder)
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and not bert.get("do_lower_case")
        and _module_names(folder) in _MODULES
        and pooling in ([_MEAN], [_FIRST])
        and _has_plain_weights(folder)
    )


def _module_names(folder: Path) -> list[str]:
    path = folder / "modules.json"
    modules = json.loads(path.read_text("utf-8")) if path.is_file() else []
    if any(module["type"].endswith(".Transformer") and module["path"] for module in modules):
        return []
    return [module["type"].rsplit(".", 1)[-1] for module in modules]


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
    return _WORDS in tensors and all(
        tensor["dtype"] == "F32" for name, tensor in tensors.items() if name.endswith("weight")
    )


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the tensors' descriptions by name, and where the first one begins in the file."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_HEADER_LENGTH_BYTES), "little")
        try:
            header = json.loads(file.read(length))
        except ValueError as error:
            raise ConfigurationError(
                f"{path}: not a safetensors file ({error}). Copy the model's folder anew."
            ) from error
    return {k: v for k, v in header.items() if k != "__metadata__"}, _HEADER_LENGTH_BYTES + length


class BertQueryEncoder:
    """A model of which `is_plain_bert` is true; its weights stay in the file, mapped."""

    def __init__(self, name: str, folder: Path, fingerprint: str) -> None:
        from tokenizers import Tokenizer

        config = read_json(folder, "config.json")
        self.name = name
        self.fingerprint = fingerprint
        self.dimension = vector_dimension(folder)
        self._folder = folder
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])
        self._is_mean = _pooling_modes(folder) == [_MEAN]
        self._prompt = read_prompts(folder)["query"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(sequence_limit(folder))

    def encode_queries(self, texts: Sequence[str]) -> "Floats":
        """Return one vector a question, shape (len(texts), dimension), each of length 1."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            states = self._forward(self._tokenizer.encode(self._prompt + text).ids)
            pooled = states.mean(axis=0) if self._is_mean else states[0]
            vectors[row] = pooled / np.linalg.norm(pooled)
        return vectors

    @cached_property
    def _weights(self) -> "dict[str, Floats]":
        import numpy as np

        path = self._folder / _WEIGHTS
        tensors, begin = _read_header(path)
        mapped = np.asarray(np.memmap(path, np.uint8, "r"))
        weights: dict[str, Floats] = {}
        for name, tensor in tensors.items():
            if tensor["dtype"] != "F32":
                continue
            start, end = (begin + offset for offset in tensor["data_offsets"])
            found: Floats = mapped[start:end].view(np.float32).reshape(tensor["shape"])
            # A header of odd length leaves all tensors askew, and NumPy then multiplies without
            # BLAS. The vocabulary's table, half of the file, is only read row by row.
            if not found.flags.aligned and name != _WORDS:
                found = found.copy()
            weights[name] = found
        return weights

    def _forward(self, ids: Sequence[int]) -> "Floats":
        """Return the last hidden states, shape (len(ids), hidden size)."""
        weights, size = self._weights, len(ids)
        states: Floats = (
            weights[_WORDS][list(ids)]
            + weights["embeddings.position_embeddings.weight"][:size]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        states = self._normalise(states, "embeddings.LayerNorm")
        for number in range(self._layers):
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
            .reshape(size, self._heads, width // self._heads)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(width // self._heads))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: Floats = (scores @ value).transpose(1, 0, 2).reshape(size, width)
        return attended

    def _dense(self, states: "Floats", name: str) -> "Floats":
        found: Floats = states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found

    def _normalise(self, states: "Floats", name: str) -> "Floats":
        import numpy as np

        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        found: Floats = (
            centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
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
