"""Kind `sparse_encoder`: learned weights of words (SPLADE and its like), offline.

A sparse vector gives a few words of the model's vocabulary a weight. It is kept as pairs in one
row of numbers, a word's place and then its weight, by place; `token_weights` takes them apart.
Single precision holds every place of a vocabulary below 2^24.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.embedder import EncodeProgress
from rag_assets.embedding.model_folder import (
    FileTokenizer,
    FolderFacts,
    chosen_limit,
    hash_model_files,
    model_folder,
    read_json,
    read_model_tokenizer,
    read_prompts,
    sequence_limit,
)
from rag_assets.embedding.sentence_model import batches_of, open_model
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.model.settings import ModelSettings

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

# Counts as code: raise it when the same model files give other vectors for the same string.
_ENCODING_VERSION = 1
# Weights are rounded to so many decimals, and what is then 0 left out: a batch changes the last
# bits of a weight, and would else decide whether a word stands in the vector at all.
_DECIMALS = 4


def token_weights(vector: "NDArray[np.float32]") -> "tuple[NDArray[np.int32], NDArray[np.float32]]":
    """Return the places of the words in the vocabulary, rising, and their weights.

    Args:
        vector: pairs as `SparseEncoder` returns them.
    """
    import numpy as np

    return vector[0::2].astype(np.int32), vector[1::2]


def tokenizer(model: ModelSettings) -> FileTokenizer:
    """Return the model's tokenizer. Imports no torch."""
    return read_model_tokenizer(_facts(model))


def fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector. Reads the weights once a process."""
    return _facts(model).fingerprint


def dimension(model: ModelSettings) -> int:
    """Return how many words the vocabulary has."""
    return _facts(model).dimension


@lru_cache(maxsize=2)
def _load(model: ModelSettings, _fingerprint: str) -> "SparseEncoder":
    return SparseEncoder(_facts(model), model)


def load_sparse_encoder(model: ModelSettings) -> "SparseEncoder":
    """Return the model, loaded once a process and again only when its files changed.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    return _load(model, fingerprint(model))


class SparseEncoder:
    """A sparse encoder of sentence-transformers. Imports torch when it is made."""

    def __init__(self, facts: FolderFacts, model: ModelSettings) -> None:
        self._model = open_model("SparseEncoder", facts, model)
        self._prompts = facts.prompts
        self._batch_tokens = model.batch_tokens
        self._most_words = model.dimension
        self.name = facts.name
        self.fingerprint = facts.fingerprint
        self._tokenizer = read_model_tokenizer(facts)

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "list[NDArray[np.float32]]":
        """Return the pairs of each text; none for a text without a word that weighs anything."""
        return self._encode(self._model.encode_document, texts, self._prompts.passage, on_progress)

    def encode_queries(self, texts: Sequence[str]) -> "list[NDArray[np.float32]]":
        """Return the pairs of each question."""
        return self._encode(self._model.encode_query, texts, self._prompts.query, None)

    def _encode(
        self, encode: Any, texts: Sequence[str], prompt: str, on_progress: EncodeProgress | None
    ) -> "list[NDArray[np.float32]]":
        found: dict[int, NDArray[np.float32]] = {}
        for chosen in batches_of(texts, self._tokenizer.count, self._batch_tokens):
            batch = [texts[index] for index in chosen]
            made = encode(
                batch,
                prompt=prompt,
                batch_size=len(batch),
                show_progress_bar=False,
                convert_to_tensor=True,
                convert_to_sparse_tensor=True,
                max_active_dims=self._most_words,
            )
            found.update(zip(chosen, _pairs(made, len(batch)), strict=True))
            if on_progress:
                on_progress(len(found), len(texts))
        return [found[index] for index in range(len(texts))]


def _pairs(tensor: Any, size: int) -> "list[NDArray[np.float32]]":
    """Return the pairs of each row of a sparse tensor, shape (size, words of the vocabulary)."""
    import numpy as np

    held = tensor.float().cpu().coalesce()
    rows, places = held.indices().numpy()
    weights = np.round(held.values().numpy(), _DECIMALS)
    rows, places, weights = (each[weights != 0] for each in (rows, places, weights))
    ends = np.searchsorted(rows, np.arange(size + 1))
    pairs = np.empty((len(rows), 2), np.float32)
    pairs[:, 0], pairs[:, 1] = places, weights
    return [pairs[start:end].reshape(-1) for start, end in pairwise(ends)]


def _facts(model: ModelSettings) -> FolderFacts:
    folder = model_folder(model)
    _refuse_dense(model, folder)
    prompts = read_prompts(folder).replaced_by(model)
    max_tokens = chosen_limit(model, sequence_limit(folder))
    fingerprint = hash_fields(
        "sparse_encoder",
        _ENCODING_VERSION,
        hash_model_files(folder),
        [prompts.query, prompts.passage],
        [model.dtype, max_tokens, model.dimension],
    )
    vocabulary = read_json(folder, "tokenizer.json")["model"]["vocab"]
    return FolderFacts(model.model, folder, fingerprint, prompts, max_tokens, len(vocabulary))


def _refuse_dense(model: ModelSettings, folder: "Path") -> None:
    """Raise where a folder's model makes no sparse vectors."""
    said = (folder / "modules.json").read_text("utf-8")
    kind = read_json(folder, "config_sentence_transformers.json").get("model_type")
    if kind != "SparseEncoder" and "sparse_encoder" not in said:
        raise ConfigurationError(
            f"embed.models: {model.model!r} is no sparse encoder: neither {folder}/modules.json "
            "nor config_sentence_transformers.json names one. Choose `kind: "
            "sentence_transformers` for it."
        )
