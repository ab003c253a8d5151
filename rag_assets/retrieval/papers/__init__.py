"""Papers: routed by what a question asks for, located, searched on two tracks, told with context.

with Retriever(workspace, ["papers"]) as retriever:
found = search_papers(retriever, "How does PageRank treat pages without links?")
print(render_papers(assemble_papers(retriever, found.hits)))
"""

from rag_assets.retrieval.papers.abstracts import AbstractSearch, FoundPaper, search_abstracts
from rag_assets.retrieval.papers.assembling import PaperBlock, assemble_papers, render_papers
from rag_assets.retrieval.papers.introductions import Introduction, introduction
from rag_assets.retrieval.papers.library import Paper, PaperLibrary
from rag_assets.retrieval.papers.locating import Located, locate_paper
from rag_assets.retrieval.papers.routing import Intent, Route, route_question
from rag_assets.retrieval.papers.rules import (
    INTENT_RULES,
    SECTION_RULES,
    IntentRule,
    SectionRule,
    route_by_rules,
)
from rag_assets.retrieval.papers.sections import SectionSearch, search_by_section, show_sections
from rag_assets.retrieval.papers.tracks import (
    PaperSearch,
    RoutedPapers,
    route_papers,
    search_papers,
)
from rag_assets.retrieval.papers.windows import window

__all__ = [
    "INTENT_RULES",
    "SECTION_RULES",
    "AbstractSearch",
    "FoundPaper",
    "Intent",
    "IntentRule",
    "Introduction",
    "Located",
    "Paper",
    "PaperBlock",
    "PaperLibrary",
    "PaperSearch",
    "Route",
    "RoutedPapers",
    "SectionRule",
    "SectionSearch",
    "assemble_papers",
    "introduction",
    "locate_paper",
    "render_papers",
    "route_by_rules",
    "route_papers",
    "route_question",
    "search_abstracts",
    "search_by_section",
    "search_papers",
    "show_sections",
    "window",
]
