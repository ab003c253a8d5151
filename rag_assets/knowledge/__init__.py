"""The library's face (spec 001): sources in, found passages and contexts out."""

from rag_assets.knowledge.config import (
    BaseConfig,
    ChunkConfig,
    EmbeddingConfig,
    InjectConfig,
    KnowledgeConfig,
    QualityConfig,
    RerankConfig,
    RetrieveConfig,
    SparseEmbeddingConfig,
    TuningConfig,
    VectorStoreConfig,
)
from rag_assets.knowledge.context import ContextBuilder, ContextPassage, KnowledgeContext
from rag_assets.knowledge.passages import KnowledgeChunk, SourceSpan
from rag_assets.knowledge.retriever import KnowledgeResult, KnowledgeRetriever, KnowledgeScope
from rag_assets.knowledge.source import IngestOutcome, KnowledgeSource

__all__ = [
    "BaseConfig",
    "ChunkConfig",
    "ContextBuilder",
    "ContextPassage",
    "EmbeddingConfig",
    "IngestOutcome",
    "InjectConfig",
    "KnowledgeChunk",
    "KnowledgeConfig",
    "KnowledgeContext",
    "KnowledgeResult",
    "KnowledgeRetriever",
    "KnowledgeScope",
    "KnowledgeSource",
    "QualityConfig",
    "RerankConfig",
    "RetrieveConfig",
    "SourceSpan",
    "SparseEmbeddingConfig",
    "TuningConfig",
    "VectorStoreConfig",
]
