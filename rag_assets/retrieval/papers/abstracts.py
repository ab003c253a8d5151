"""Papers by their abstracts: the first look at a library."""

from dataclasses import dataclass, replace

from rag_assets.model import SectionCategory
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.papers.library import Paper, PaperLibrary, paper_of
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.retrieval.retriever import Retrieved, Retriever

# Spec 002 §3.3.2: papers of the coarse search.
COARSE_PAPERS = 5


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A paper with the passage of its abstract that was found.

    Args:
        passage: of category 0; of a paper without an abstract what stands for it.
        score: fused; compares papers of one search only.
    """

    paper: Paper
    passage: Hit
    score: float


@dataclass(frozen=True, slots=True)
class AbstractSearch:
    """Papers, best first, and the search that found them."""

    papers: tuple[FoundPaper, ...]
    retrieved: Retrieved


def search_abstracts(
    retriever: Retriever,
    query: str,
    k: int = COARSE_PAPERS,
    *,
    filters: SearchFilters = EVERYTHING,
    library: PaperLibrary | None = None,
    asked: AskedQuery | None = None,
) -> AbstractSearch:
    """Return the papers whose abstracts answer a question best, each once.

    A paper without an abstract is found by the passage that is nearest to one
    (`library.opening_chunks`).

    Args:
        retriever: entered.
        query: a question or words.
        k: papers at most, from 1.
        filters: what is searched besides; its section categories are not looked at.
        library: of the same retriever, where the caller has it.
        asked: the question as an earlier search made it ready.

    Raises:
        UsageError: `k` below 1, or no word in `query`.
    """
    papers = library or PaperLibrary(retriever.readers)
    settings = retriever.settings
    once = settings.quality.model_copy(update={"max_per_document": 1})
    settings = settings.model_copy(update={"quality": once, "window": 0})
    wanted = filters.doc_uids
    confined = replace(
        filters,
        section_categories=(int(SectionCategory.ABSTRACT),),
        standing_in=tuple(
            key for (_, uid), key in papers.standing_in().items() if wanted is None or uid in wanted
        ),
    )
    found = retriever.retrieve(query, top_k=k, filters=confined, settings=settings, asked=asked)
    return AbstractSearch(
        tuple(FoundPaper(paper_of(hit), hit, hit.score) for hit in found.hits), found
    )
