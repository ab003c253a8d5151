"""Asking publications: candidates by words and by meaning, fused, judged, governed, explained."""

from rag_assets.retrieval.filters import NOT_EVIDENCE, WORDLESS_KINDS, SearchFilters, parse_filter
from rag_assets.retrieval.fusion import (
    ASKED,
    LEXICAL,
    Candidates,
    Fused,
    fuse_rrf,
    fuse_weighted,
    models_asked,
)
from rag_assets.retrieval.hits import (
    FoundLaw,
    Hit,
    ParentHit,
    ParentPassage,
    Window,
    backfill_parents,
    expand_windows,
    explain,
    explain_hit,
)
from rag_assets.retrieval.laws import (
    AskedDay,
    HeldLaw,
    HeldLaws,
    cite_article,
    find_articles,
    nearest_article,
)
from rag_assets.retrieval.opened import (
    Asked,
    OpenedLibrary,
    Publications,
    open_library,
    workspace_of,
)
from rag_assets.retrieval.queries import AskedQuery, detect_language, make_query
from rag_assets.retrieval.reader import Reader
from rag_assets.retrieval.retriever import Retrieved, Retriever
from rag_assets.retrieval.searching import Ranking, rank_chunks, search

# Modules that other packages may import from, besides the names below.
PUBLIC_MODULES = ("finding", "papers", "section_hints", "statutes", "vaults")
