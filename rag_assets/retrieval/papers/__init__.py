"""Papers: routed by what a question asks for, located, searched on two tracks, told with context.

with Retriever(workspace, ["papers"]) as retriever:
found = search_papers(retriever, "How does PageRank treat pages without links?")
print(render_papers(assemble_papers(retriever, found.hits)))
"""

from rag_assets.retrieval.papers.context import (
    INTRODUCTION_TOKENS,
    Introduction,
    PaperBlock,
    assemble_papers,
    introduction,
    render_papers,
    window,
)
from rag_assets.retrieval.papers.locating import (
    AbstractSearch,
    FoundPaper,
    Located,
    Paper,
    PaperLibrary,
    locate_paper,
    search_abstracts,
)
from rag_assets.retrieval.papers.routes import (
    INTENT_RULES,
    SECTION_RULES,
    Intent,
    IntentRule,
    Route,
    SectionRule,
    route_by_rules,
    route_question,
)
from rag_assets.retrieval.papers.tracks import (
    PaperSearch,
    RoutedPapers,
    SectionSearch,
    route_papers,
    search_by_section,
    search_papers,
    show_sections,
)
