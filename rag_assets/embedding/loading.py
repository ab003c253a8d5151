"""From settings to a tokenizer, a fingerprint or a loaded model.

Each kind of model has a module of its own, imported when it is used.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from rag_assets.embedding.embedder import Embedder, EmbeddingTokenizer, QueryEncoder
from rag_assets.settings import ModelSettings

# Models in memory at a time: more than a namespace has.
_LOADED_MODELS = 8


class _AnyKind(Protocol):
    """What the module of any kind of model offers."""

    def tokenizer(self, model: ModelSettings) -> EmbeddingTokenizer: ...

    def fingerprint(self, model: ModelSettings) -> str: ...

    def dimension(self, model: ModelSettings) -> int: ...


class _Kind(_AnyKind, Protocol):
    """What the module of a kind of model with dense vectors offers."""

    def embedder(self, model: ModelSettings) -> Embedder: ...


def load_tokenizer(model: ModelSettings) -> EmbeddingTokenizer:
    """Return the tokenizer of the model that the settings name. Imports no torch.

    Raises:
        ConfigurationError: no such model on this machine.
        DamagedFileError: a file of a bundled model was altered.
    """
    return _any_kind(model).tokenizer(model)


def model_fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector: files, prompts, precision, code.

    Imports no torch. Reads the weights of a model in a folder once a process (0.1 s for 90 MB),
    again when they change; those of a bundled model are known by heart.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    return _any_kind(model).fingerprint(model)


def model_dimension(model: ModelSettings) -> int:
    """Return the length of the model's vectors, of a sparse encoder its vocabulary's size.

    Imports no torch.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    return _any_kind(model).dimension(model)


def load_embedder(model: ModelSettings) -> Embedder:
    """Return the model, loaded once a process and again only when its files changed.

    Raises:
        ConfigurationError: no such model on this machine.
        DamagedFileError: a file of a bundled model was altered.
    """
    return _load(model, model_fingerprint(model))


def load_query_encoder(model: ModelSettings) -> QueryEncoder:
    """Return what makes the vectors of questions, loaded once a process.

    A plain BERT is computed without torch, which saves a command most of its time; every other
    model is loaded as `load_embedder` does. Its files decide which (`is_plain_bert`).

    Raises:
        ConfigurationError: no such model on this machine.
        DamagedFileError: a file of a bundled model was altered.
    """
    return _load_query_encoder(model, model_fingerprint(model))


@lru_cache(maxsize=_LOADED_MODELS)
def _load_query_encoder(model: ModelSettings, fingerprint: str) -> QueryEncoder:
    if model.kind == "bundled":
        from rag_assets.embedding import bundled

        return bundled.query_encoder(model)
    if model.kind == "sentence_transformers":
        from rag_assets.embedding import folder_model

        return folder_model.query_encoder(model)
    return _load(model, fingerprint)


@lru_cache(maxsize=_LOADED_MODELS)
def _load(model: ModelSettings, _fingerprint: str) -> Embedder:
    return _kind(model).embedder(model)


def encode_questions(model: ModelSettings, texts: Sequence[str]) -> list[list[float]]:
    """Return the vector of each question by any kind of model.

    Those of a sparse encoder are pairs of a word's place and its weight (`sparse_encoder`).

    Raises:
        ConfigurationError: no such model on this machine.
    """
    if model.is_sparse:
        from rag_assets.embedding.sparse_encoder import load_sparse_encoder

        return [pairs.tolist() for pairs in load_sparse_encoder(model).encode_queries(texts)]
    vectors: list[list[float]] = load_query_encoder(model).encode_queries(texts).tolist()
    return vectors


def _any_kind(model: ModelSettings) -> _AnyKind:
    if model.is_sparse:
        from rag_assets.embedding import sparse_encoder

        return sparse_encoder
    return _kind(model)


def _kind(model: ModelSettings) -> _Kind:
    match model.kind:
        case "bundled":
            from rag_assets.embedding import bundled

            return bundled
        case "sentence_transformers":
            from rag_assets.embedding import folder_model

            return folder_model
        case "openai_compatible":
            from rag_assets.embedding import openai_model

            return openai_model
        case "vertex":
            from rag_assets.embedding import vertex_model

            return vertex_model
        case "hashing":
            from rag_assets.embedding import hashing

            return hashing
        case "sparse_encoder":
            raise ValueError(f"{model.model!r} is a sparse encoder; it makes no dense vectors.")
