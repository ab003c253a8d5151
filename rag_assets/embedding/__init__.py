"""From texts to vectors: the model's tokenizer, its fingerprint, the model itself."""

from rag_assets.embedding.embedder import (
    Embedder,
    EmbeddingTokenizer,
    EncodeProgress,
    QueryEncoder,
)
from rag_assets.embedding.hashing import HashingEmbedder
from rag_assets.embedding.loading import (
    load_embedder,
    load_query_encoder,
    load_tokenizer,
    model_dimension,
    model_fingerprint,
)
from rag_assets.embedding.words import WordTokenizer

__all__ = [
    "Embedder",
    "EmbeddingTokenizer",
    "EncodeProgress",
    "HashingEmbedder",
    "QueryEncoder",
    "WordTokenizer",
    "load_embedder",
    "load_query_encoder",
    "load_tokenizer",
    "model_dimension",
    "model_fingerprint",
]
