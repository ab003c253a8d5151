"""From texts to vectors: the model's tokenizer, its fingerprint, the model itself."""

from rag_assets.embedding.embedder import (
    UNREADABLE_SHARE,
    Embedder,
    EmbeddingTokenizer,
    EncodeProgress,
    PassageEncoder,
    QueryEncoder,
    can_read,
)
from rag_assets.embedding.hashing import HashingEmbedder, WordTokenizer
from rag_assets.embedding.models import (
    EmbeddingModel,
    embedding_models,
    encode_questions,
    joint_tokenizer,
    load_embedder,
    load_query_encoder,
    load_tokenizer,
    model_dimension,
    model_fingerprint,
    model_fingerprints,
    sound_models,
)

# Modules that other packages may import from, besides the names below: who needs only those must
# not wait for these.
PUBLIC_MODULES = ("bundled_files", "model_folder", "sparse_encoder", "stage", "taught")
