"""Searching a publication: candidates by words and by meaning, fused, and their parents."""

from rag_assets.retrieval.fusion import fuse_rrf
from rag_assets.retrieval.hits import Hit, ParentHit, ParentPassage
from rag_assets.retrieval.reader import NOT_EVIDENCE, WORDLESS_KINDS, Reader, SearchFilters
from rag_assets.retrieval.searching import LEXICAL, SEMANTIC, backfill_parents, search

__all__ = [
    "LEXICAL",
    "NOT_EVIDENCE",
    "SEMANTIC",
    "WORDLESS_KINDS",
    "Hit",
    "ParentHit",
    "ParentPassage",
    "Reader",
    "SearchFilters",
    "backfill_parents",
    "fuse_rrf",
    "search",
]
