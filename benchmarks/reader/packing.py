"""The form in which examples and the encoder travel: tokens and weights in two NumPy files."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.embedding import pair_ids
from rag_assets.embedding.bundled import E5, read_bert
from rag_assets.settings import ModelSettings

SUPPORTED, CONTRADICTED, NOT_STATED, NOT_SUPPORTED = range(4)
ANSWERS, ANSWERS_NOT, RELEVANT, IRRELEVANT = range(4, 8)
# Of twenty folds by source the first is kept aside to look at while training.
_FOLDS = 20
_LARGEST = 127


class Paired(Protocol):
    """What is packed."""

    one: str
    other: str
    label: int
    origin: str
    group: str


def write_examples(path: Path, examples: Sequence[Paired], seed: int) -> NDArray[np.int64]:
    """Write examples in an order drawn by `seed`; return the token that each number stands for."""
    order = np.random.default_rng(seed).permutation(len(examples))
    mixed = [examples[place] for place in order]
    ids = pair_ids([(each.one, each.other) for each in mixed])
    words, numbers = np.unique(np.concatenate([np.array(one) for one in ids]), return_inverse=True)
    kind = np.uint16 if len(words) <= np.iinfo(np.uint16).max else np.uint32
    fold = [
        int.from_bytes(hashlib.sha256(each.group.encode()).digest()[:4], "big") % _FOLDS
        for each in mixed
    ]
    origins = sorted({each.origin for each in mixed})
    np.savez_compressed(
        path,
        tokens=numbers.astype(kind),
        lengths=np.array([len(one) for one in ids], np.uint16),
        labels=np.array([each.label for each in mixed], np.uint8),
        folds=np.array(fold, np.uint8),
        origins=np.array([origins.index(each.origin) for each in mixed], np.uint8),
        origin_names=np.array(origins),
    )
    return np.asarray(words, np.int64)


def write_encoder(path: Path, words: NDArray[np.int64]) -> None:
    """Write the encoder that training begins with: its layers, and the rows of `words`."""
    weights = read_bert(ModelSettings(kind="bundled", model=E5)).weights
    shape = weights.shape
    rows = weights.words(words.tolist())
    scales = np.abs(rows).max(axis=1, keepdims=True) / _LARGEST
    arrays: dict[str, Any] = {
        "rows": np.round(rows / scales).astype(np.int8),
        "scales": scales.astype(np.float32),
        "words": words,
        "heads": np.array(shape.heads),
        "epsilon": np.array(shape.epsilon),
    }
    for name in layer_names(shape.layers):
        arrays[name] = weights[name].astype(np.float16)
    np.savez_compressed(path, **arrays)


def layer_names(layers: int) -> list[str]:
    """Return the names of all tensors but the word embeddings, as `transformers` has them."""
    parts = [
        f"{part}.{kind}"
        for part in (
            "attention.self.query", "attention.self.key", "attention.self.value",
            "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense",
            "output.dense", "output.LayerNorm",
        )
        for kind in ("weight", "bias")
    ]  # fmt: skip
    first = [
        "position_embeddings.weight",
        "token_type_embeddings.weight",
        "LayerNorm.weight",
        "LayerNorm.bias",
    ]
    return [f"embeddings.{name}" for name in first] + [
        f"encoder.layer.{layer}.{part}" for layer in range(layers) for part in parts
    ]
