"""From a parsed document to parents and chunks: sentences, sizes, sections, exact spans."""

from typing import TYPE_CHECKING

# At once: the module has the name of its function, which must be what stands here.
from rag_assets.chunking.context import PREPROCESS_VERSION, preprocess
from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.chunking.chunks import (
        CHUNKING_VERSION,
        ChosenSpan,
        chunk_document,
        describe_spans,
        make_chunks,
        make_parents,
    )
    from rag_assets.chunking.context import PATH_SEPARATOR, model_input
    from rag_assets.chunking.modes import merging_note
    from rag_assets.chunking.parents import PARENTS_VERSION, locate_pages
    from rag_assets.chunking.rows import (
        BoxFinder,
        articles_type,
        boxes_type,
        chunk_row,
        chunks_schema,
        digested_fields,
        parents_schema,
        restore_parent,
    )
    from rag_assets.chunking.sentences import (
        TokenCounter,
        Tokenizer,
        sentence_breaks,
        split_sentences,
    )
    from rag_assets.chunking.stage import has_stale_chunks, refresh_chunks, refresh_parents

PUBLIC_MODULES = ("editing",)


# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "BoxFinder": "rows",
        "CHUNKING_VERSION": "chunks",
        "ChosenSpan": "chunks",
        "PARENTS_VERSION": "parents",
        "PATH_SEPARATOR": "context",
        "TokenCounter": "sentences",
        "Tokenizer": "sentences",
        "articles_type": "rows",
        "boxes_type": "rows",
        "chunk_document": "chunks",
        "chunk_row": "rows",
        "chunks_schema": "rows",
        "describe_spans": "chunks",
        "digested_fields": "rows",
        "has_stale_chunks": "stage",
        "locate_pages": "parents",
        "make_chunks": "chunks",
        "make_parents": "chunks",
        "merging_note": "modes",
        "model_input": "context",
        "parents_schema": "rows",
        "refresh_chunks": "stage",
        "refresh_parents": "stage",
        "restore_parent": "rows",
        "sentence_breaks": "sentences",
        "split_sentences": "sentences",
    },
)
