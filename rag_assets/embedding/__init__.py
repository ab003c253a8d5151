"""From texts to vectors: the model's tokenizer, its fingerprint, the model itself."""

from typing import TYPE_CHECKING

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
from rag_assets.embedding.models import (
    EmbeddingModel,
    embedding_models,
    model_fingerprints,
    sound_models,
)
from rag_assets.embedding.readable import UNREADABLE_SHARE, can_read
from rag_assets.embedding.word_pieces import WordPieces, load_word_pieces
from rag_assets.embedding.words import WordTokenizer
from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.embedding.bundled_files import E5, read_ahead
    from rag_assets.embedding.model_folder import hash_model_files
    from rag_assets.embedding.pair_model import PairModel, PairScores, load_pair_model, pair_ids
    from rag_assets.embedding.record import embeddings_schema
    from rag_assets.embedding.sparse_encoder import token_weights
    from rag_assets.embedding.stage import (
        CHUNK_INPUTS,
        EMBEDDING_VERSION,
        chunk_input,
        count_unknown_vectors,
        has_stale_vectors,
        prune_vectors,
        refresh_embeddings,
    )
    from rag_assets.embedding.taught import load_finder

__all__ = [
    "BUNDLED_RERANKERS",
    "CHUNK_INPUTS",
    "E5",
    "EMBEDDING_VERSION",
    "UNREADABLE_SHARE",
    "Embedder",
    "EmbeddingModel",
    "EmbeddingTokenizer",
    "EncodeProgress",
    "HashingEmbedder",
    "JointTokenizer",
    "PairModel",
    "PairScores",
    "PassageEncoder",
    "QueryEncoder",
    "WordPieces",
    "WordTokenizer",
    "can_read",
    "checked_reranker",
    "chunk_input",
    "count_unknown_vectors",
    "embedding_models",
    "embeddings_schema",
    "encode_questions",
    "has_stale_vectors",
    "hash_model_files",
    "joint_tokenizer",
    "load_embedder",
    "load_finder",
    "load_pair_model",
    "load_query_encoder",
    "load_tokenizer",
    "load_word_pieces",
    "model_dimension",
    "model_fingerprint",
    "model_fingerprints",
    "pair_ids",
    "prune_vectors",
    "read_ahead",
    "refresh_embeddings",
    "sound_models",
    "token_weights",
]

# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "CHUNK_INPUTS": "stage",
        "E5": "bundled_files",
        "EMBEDDING_VERSION": "stage",
        "PairModel": "pair_model",
        "PairScores": "pair_model",
        "chunk_input": "stage",
        "count_unknown_vectors": "stage",
        "embeddings_schema": "record",
        "has_stale_vectors": "stage",
        "hash_model_files": "model_folder",
        "load_finder": "taught",
        "load_pair_model": "pair_model",
        "pair_ids": "pair_model",
        "prune_vectors": "stage",
        "read_ahead": "bundled_files",
        "refresh_embeddings": "stage",
        "token_weights": "sparse_encoder",
    },
)
