"""From a parsed document to parents and chunks: sentences, sizes, exact spans."""

from rag_assets.chunking.chunks import CHUNKING_VERSION, make_chunks
from rag_assets.chunking.parents import (
    PARENTS_VERSION,
    locate_pages,
    make_parents,
    sentence_breaks,
)
from rag_assets.chunking.sentences import CJK_RANGES, split_sentences
from rag_assets.chunking.tokenizer import TokenCounter, Tokenizer

__all__ = [
    "CHUNKING_VERSION",
    "CJK_RANGES",
    "PARENTS_VERSION",
    "TokenCounter",
    "Tokenizer",
    "locate_pages",
    "make_chunks",
    "make_parents",
    "sentence_breaks",
    "split_sentences",
]
