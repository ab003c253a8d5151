"""From texts to vectors: the model's tokenizer, its fingerprint, the model itself."""

from rag_assets.embedding.bundled_files import BUNDLED_RERANKERS, checked_reranker
from rag_assets.embedding.embedder import (
    Embedder,
    EmbeddingTokenizer,
    EncodeProgress,
    PassageEncoder,
    QueryEncoder,
)
from rag_assets.embedding.hashing import HashingEmbedder
from rag_assets.embedding.joint import JointTokenizer, joint_tokenizer
from rag_assets.embedding.loading import (
    encode_questions,
    load_embedder,
    load_query_encoder,
    load_tokenizer,
    model_dimension,
    model_fingerprint,
)
from rag_assets.embedding.low_rank import LowRankChange, load_changed_encoder
from rag_assets.embedding.models import (
    EmbeddingModel,
    embedding_models,
    model_fingerprints,
)
from rag_assets.embedding.readable import UNREADABLE_SHARE, can_read
from rag_assets.embedding.word_pieces import WordPieces, load_word_pieces
from rag_assets.embedding.words import WordTokenizer

__all__ = [
    "BUNDLED_RERANKERS",
    "UNREADABLE_SHARE",
    "Embedder",
    "EmbeddingModel",
    "EmbeddingTokenizer",
    "EncodeProgress",
    "HashingEmbedder",
    "JointTokenizer",
    "LowRankChange",
    "PassageEncoder",
    "QueryEncoder",
    "WordPieces",
    "WordTokenizer",
    "can_read",
    "checked_reranker",
    "embedding_models",
    "encode_questions",
    "joint_tokenizer",
    "load_changed_encoder",
    "load_embedder",
    "load_query_encoder",
    "load_tokenizer",
    "load_word_pieces",
    "model_dimension",
    "model_fingerprint",
    "model_fingerprints",
]
