"""The form in which examples and the encoder travel: tokens and weights in two NumPy files."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.embedding.bundled_files import E5
from rag_assets.embedding.local import read_e5
from rag_assets.model.settings import ModelSettings

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


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, sentences that answer it, and those nearest to it that do not, best first."""

    question: str
    answers: Sequence[str]
    wrong: Sequence[str]
    group: str


def distinct_words(*ids: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Return all tokens of some texts, sorted: a token travels as its place among them."""
    return np.unique(np.fromiter(chain.from_iterable(chain.from_iterable(ids)), np.int64))


def write_examples(
    path: Path,
    examples: Sequence[Paired],
    ids: Sequence[Sequence[int]],
    words: NDArray[np.int64],
    seed: int,
) -> None:
    """Write examples, whose tokens are `ids`, in an order drawn by `seed`."""
    order = np.random.default_rng(seed).permutation(len(examples))
    mixed = [examples[place] for place in order]
    origins = sorted({each.origin for each in mixed})
    np.savez_compressed(
        path,
        **_tokens([ids[place] for place in order], words),
        labels=np.array([each.label for each in mixed], np.uint8),
        folds=folds_of([each.group for each in mixed]),
        origins=np.array([origins.index(each.origin) for each in mixed], np.uint8),
        origin_names=np.array(origins),
    )


def write_questions(
    path: Path,
    asked: Sequence[Asked],
    texts: Sequence[str],
    ids: Sequence[Sequence[int]],
    words: NDArray[np.int64],
) -> None:
    """Write questions as places of their texts among all `texts`, whose tokens are `ids`."""
    place = {text: number for number, text in enumerate(texts)}
    right = [[place[text] for text in one.answers] for one in asked]
    wrong = [[place[text] for text in one.wrong] for one in asked]
    np.savez_compressed(
        path,
        **_tokens(ids, words),
        questions=np.array([place[one.question] for one in asked], np.int32),
        right=np.fromiter(chain.from_iterable(right), np.int32),
        right_counts=np.array([len(one) for one in right], np.uint16),
        wrong=np.fromiter(chain.from_iterable(wrong), np.int32),
        wrong_counts=np.array([len(one) for one in wrong], np.uint16),
        folds=folds_of([one.group for one in asked]),
    )


def _tokens(ids: Sequence[Sequence[int]], words: NDArray[np.int64]) -> dict[str, Any]:
    kind = np.uint16 if len(words) <= np.iinfo(np.uint16).max else np.uint32
    every = np.fromiter(chain.from_iterable(ids), np.int64)
    return {
        "tokens": np.searchsorted(words, every).astype(kind),
        "lengths": np.array([len(one) for one in ids], np.uint16),
    }


def folds_of(groups: Sequence[str]) -> NDArray[np.uint8]:
    digests = (hashlib.sha256(group.encode()).digest()[:4] for group in groups)
    return np.array([int.from_bytes(one, "big") % _FOLDS for one in digests], np.uint8)


def write_encoder(path: Path, words: NDArray[np.int64]) -> None:
    """Write the encoder that training begins with: its layers, and the rows of `words`."""
    bert = read_e5(ModelSettings(kind="bundled", model=E5))
    shape = bert.shape
    rows = bert.words(words.tolist())
    scales = np.abs(rows).max(axis=1, keepdims=True) / _LARGEST
    arrays: dict[str, Any] = {
        "rows": np.round(rows / scales).astype(np.int8),
        "scales": scales.astype(np.float32),
        "words": words,
        "heads": np.array(shape.heads),
        "epsilon": np.array(shape.epsilon),
    }
    for name in layer_names(shape.layers):
        arrays[name] = bert.tensor(name).astype(np.float16)
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
