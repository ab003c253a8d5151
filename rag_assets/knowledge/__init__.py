"""The library's face (spec 001): sources in, found passages and contexts out."""

from rag_assets.chunking.editing import ChunkDraft, DraftChunk
from rag_assets.knowledge.adding import add_content
from rag_assets.knowledge.changing import (
    IngestOutcome,
    LibraryChange,
    ingest_many,
    ingest_many_sync,
    retire,
    retire_sync,
)
from rag_assets.knowledge.config import (
    BaseConfig,
    ChunkConfig,
    EmbeddingConfig,
    InjectConfig,
    KnowledgeConfig,
    QualityConfig,
    RerankConfig,
    RetrievalConfig,
    RetrieveConfig,
    SparseEmbeddingConfig,
    TuningConfig,
    VectorStoreConfig,
)
from rag_assets.knowledge.context import ContextBuilder, ContextPassage, KnowledgeContext
from rag_assets.knowledge.drafting import DraftEditor
from rag_assets.knowledge.passages import ChunkPreview, KnowledgeChunk, SourceSpan
from rag_assets.knowledge.retriever import KnowledgeResult, KnowledgeRetriever, KnowledgeScope
from rag_assets.knowledge.source import KnowledgeSource
from rag_assets.parsing import ParserRegistry

PUBLIC_MODULES = ("importing", "previewing")
