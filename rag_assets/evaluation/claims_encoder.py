"""The first embedding model of the settings, as the scorer `similarity` asks it."""

from functools import cached_property
from typing import TYPE_CHECKING

from rag_assets.embedding import (
    Embedder,
    EmbeddingTokenizer,
    load_embedder,
    load_tokenizer,
    model_fingerprint,
)
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FirstModel:
    """Encodes claims and passages; the model is loaded when it is first asked."""

    def __init__(self, model: ModelSettings) -> None:
        self._settings = model

    @cached_property
    def _model(self) -> Embedder:
        return load_embedder(self._settings)

    @cached_property
    def _tokenizer(self) -> EmbeddingTokenizer:
        return load_tokenizer(self._settings)

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model."""
        return model_fingerprint(self._settings)

    def encode_queries(self, texts: list[str]) -> "NDArray[np.float32]":
        """Return unit vectors, shape (len(texts), dimension)."""
        return self._model.encode_queries(texts)

    def encode_passages(self, texts: list[str]) -> "NDArray[np.float32]":
        """Return unit vectors, shape (len(texts), dimension)."""
        return self._model.encode_passages(texts)

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of tokens that the model does not know."""
        return self._tokenizer.unknown_share(text)
