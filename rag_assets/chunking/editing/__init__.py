"""What people do to chunks: operations that say by content what they are about, and survive."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.chunking.editing.documents import find_document
    from rag_assets.chunking.editing.editor import DraftEditor
    from rag_assets.chunking.editing.folding import (
        Conflict,
        Cut,
        Edited,
        Numbered,
        Operation,
        Piece,
        fold,
    )
    from rag_assets.chunking.editing.journal import Event, History, edits_digest, read_histories
    from rag_assets.chunking.editing.rows import Passages, count_passages, passages_schema
    from rag_assets.chunking.editing.stage import (
        EDITING_VERSION,
        ChunkDraft,
        DraftChunk,
        HeldDocuments,
        has_stale_edits,
        refresh_chunk_edits,
    )


# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "ChunkDraft": "stage",
        "Conflict": "folding",
        "Cut": "folding",
        "DraftChunk": "stage",
        "DraftEditor": "editor",
        "EDITING_VERSION": "stage",
        "Edited": "folding",
        "Event": "journal",
        "HeldDocuments": "stage",
        "History": "journal",
        "Numbered": "folding",
        "Operation": "folding",
        "Passages": "rows",
        "Piece": "folding",
        "count_passages": "rows",
        "edits_digest": "journal",
        "find_document": "documents",
        "fold": "folding",
        "has_stale_edits": "stage",
        "passages_schema": "rows",
        "read_histories": "journal",
        "refresh_chunk_edits": "stage",
    },
)
