"""From a parsed document to parents and chunks: sentences, sizes, sections, exact spans."""

from rag_assets.chunking.chunks import CHUNKING_VERSION, chunk_document, make_chunks
from rag_assets.chunking.context import PATH_SEPARATOR, model_input
from rag_assets.chunking.outline import sentence_breaks
from rag_assets.chunking.parents import PARENTS_VERSION, locate_pages, make_parents
from rag_assets.chunking.preprocess import PREPROCESS_VERSION, preprocess
from rag_assets.chunking.sentences import CJK_RANGES, split_sentences
from rag_assets.chunking.tokenizer import TokenCounter, Tokenizer

__all__ = [
    "CHUNKING_VERSION",
    "CJK_RANGES",
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
