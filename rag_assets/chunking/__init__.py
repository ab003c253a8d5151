"""From a parsed document to parents and chunks: sentences, sizes, sections, exact spans."""

from typing import TYPE_CHECKING, Any

# At once: the module has the name of its function, which must be what stands here.
from rag_assets.chunking.preprocess import PREPROCESS_VERSION, preprocess

if TYPE_CHECKING:
    from rag_assets.chunking.chunks import CHUNKING_VERSION, make_chunks
    from rag_assets.chunking.context import PATH_SEPARATOR, model_input
    from rag_assets.chunking.documents import chunk_document, make_parents
    from rag_assets.chunking.outline import sentence_breaks
    from rag_assets.chunking.parents import PARENTS_VERSION, locate_pages
    from rag_assets.chunking.sentences import split_sentences
    from rag_assets.chunking.tokenizer import TokenCounter, Tokenizer

__all__ = [
    "CHUNKING_VERSION",
    "PARENTS_VERSION",
    "PATH_SEPARATOR",
    "PREPROCESS_VERSION",
    "TokenCounter",
    "Tokenizer",
    "chunk_document",
    "locate_pages",
    "make_chunks",
    "make_parents",
    "model_input",
    "preprocess",
    "sentence_breaks",
    "split_sentences",
]

# Imported on first use: a question needs where sentences end, not how documents are divided.
_HOMES = {
    "CHUNKING_VERSION": "chunks",
    "PARENTS_VERSION": "parents",
    "PATH_SEPARATOR": "context",
    "TokenCounter": "tokenizer",
    "Tokenizer": "tokenizer",
    "chunk_document": "documents",
    "locate_pages": "parents",
    "make_chunks": "chunks",
    "make_parents": "documents",
    "model_input": "context",
    "sentence_breaks": "outline",
    "split_sentences": "sentences",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_assets.chunking' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"rag_assets.chunking.{_HOMES[name]}"), name)
