"""The nouns: documents, passages, sources, verdicts, errors. Imports nothing of the package."""

from rag_assets.model.documents import (
    Block,
    BlockKind,
    Chunk,
    PageSpan,
    Parent,
    ParsedDocument,
    ParseReport,
)
from rag_assets.model.errors import (
    CitationError,
    ConfigurationError,
    DamagedFileError,
    FailureKind,
    LockedError,
    ParseFailure,
    PublicationError,
    RagError,
    StorageError,
    UsageError,
    WorkspaceError,
)
from rag_assets.model.hashing import (
    combine_digests,
    document_id,
    hash_bytes,
    hash_fields,
    hash_text,
    normalise_text,
)
from rag_assets.model.stages import DocumentStatus, Progress, StageOutcome

__all__ = [
    "Block",
    "BlockKind",
    "Chunk",
    "CitationError",
    "ConfigurationError",
    "DamagedFileError",
    "DocumentStatus",
    "FailureKind",
    "LockedError",
    "PageSpan",
    "Parent",
    "ParseFailure",
    "ParseReport",
    "ParsedDocument",
    "Progress",
    "PublicationError",
    "RagError",
    "StageOutcome",
    "StorageError",
    "UsageError",
    "WorkspaceError",
    "combine_digests",
    "document_id",
    "hash_bytes",
    "hash_fields",
    "hash_text",
    "normalise_text",
]
