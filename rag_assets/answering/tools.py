"""The five tools of an agent that searches papers (spec 002 §5.2)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from rag_assets.answering.agents import ContextTool, Found, FoundLine, Passage, Toolset
from rag_assets.model import SectionCategory
from rag_assets.retrieval import Hit, Retriever, SearchFilters, papers

_Query = Annotated[str, Field(min_length=1, description="A question or words to search for.")]
_DocId = Annotated[str, Field(description="A paper, as a search names it.")]
_Count = Annotated[int, Field(ge=1, le=20, description="Results at most.")]
Category = Literal[
    "ABSTRACT", "INTRODUCTION", "METHOD", "EVALUATION", "CONCLUSION", "OTHER", "RELATED_WORK"
]


@dataclass(frozen=True, slots=True)
class PaperSearch:
    """What the tools work on: open publications, and what of them may be found.

    Args:
        background: tokens of the introduction of each paper in which something was found, and
            passages to each side of it, for a model (spec 002 §3.3); None for what was found alone.
        introduced: papers whose introduction was told.
    """

    retriever: Retriever
    filters: SearchFilters
    background: tuple[int, int] | None = None
    introduced: set[str] = field(default_factory=set)


def search_abstracts(search: PaperSearch, query: _Query, k: _Count = 5) -> Found:
    """Find the most relevant papers by their abstracts."""
    found = papers.search_abstracts(search.retriever, query, k, filters=search.filters)
    return _found(
        search,
        [one.passage for one in found.papers],
        label=lambda hit: f'[{hit.doc_uid}] "{hit.doc_title or hit.doc_uid}"{_year(hit)}',
    )


def search_by_section(
    search: PaperSearch,
    query: _Query,
    doc_id: Annotated[str | None, Field(description="Only this paper; null for all.")] = None,
    category: Annotated[
        Category | None, Field(description="Only sections of this kind; null for the whole text.")
    ] = None,
    k: _Count = 5,
) -> Found:
    """Find passages, in one kind of section or in all, of one paper or of all."""
    found = papers.search_by_section(
        search.retriever,
        query,
        None if doc_id is None else [doc_id],
        None if category is None else [int(SectionCategory[category])],
        k,
        filters=search.filters,
    )
    if search.background is None:
        return _found(search, found.hits, found.told)
    tokens, window = search.background
    blocks = papers.assemble_papers(
        search.retriever, found.hits, window=window, introduction_tokens=tokens
    )
    lines = [line for block in blocks for line in _laid_out(search, block)]
    return Found(tuple(lines), _sentences(found.told))


def get_context_window(
    search: PaperSearch,
    doc_id: _DocId,
    chunk_id: Annotated[
        str | int, Field(description="The passage in the middle: paper:12, or 12 alone.")
    ],
    window: Annotated[int, Field(ge=1, le=5, description="Passages on each side.")] = 1,
) -> Found:
    """Show what stands before and after a passage that is cut off."""
    return _found(search, papers.window(search.retriever, doc_id, chunk_id, window).chunks)


def get_paper_introduction(search: PaperSearch, doc_id: _DocId) -> Found:
    """Show the introduction of a paper: its background."""
    found = papers.introduction(search.retriever, doc_id)
    is_other = found.section != "introduction"
    told = [f"{doc_id} has no introduction: its {found.section or 'text'} is shown"]
    return _found(search, found.chunks, told if is_other else ())


def finish(
    search: PaperSearch,  # noqa: ARG001 - as every tool has it
    answer: Annotated[
        str,
        Field(
            description="Sentences, each with the marks of the passages that it is from, such as "
            "[C1] or [C2, C5]; empty where nothing was found."
        ),
    ],
    sources: Annotated[list[str], Field(description="All marks that the answer cites: C1, C5.")],
) -> dict[str, Any]:
    """End the search with the answer. Sentences without a mark are not kept."""
    return {"answer": answer, "sources": sources}


def paper_tools(*, only_finish: bool = False) -> Toolset[PaperSearch]:
    """Return the tools by name; `finish` alone where nothing more is to be searched."""
    functions = (search_abstracts, search_by_section, get_context_window, get_paper_introduction)
    offered = () if only_finish else functions
    return Toolset(
        {function.__name__: ContextTool(function) for function in offered}, ContextTool(finish)
    )


def passage_of(hit: Hit, authors: tuple[str, ...] = ()) -> Passage:
    """Return a hit as an agent keeps it, with the authors of its document."""
    return Passage(
        namespace=hit.namespace,
        doc_uid=hit.doc_uid,
        chunk_id=hit.chunk_id,
        citation_id=hit.citation_id,
        content_hash=hit.content_hash,
        title=hit.doc_title,
        section_path=hit.section_path,
        section_category=hit.section_category,
        page_start=hit.page_start,
        page_end=hit.page_end,
        char_start=hit.char_start,
        char_end=hit.char_end,
        text=hit.text,
        score=round(hit.score, 6),
        authors=authors,
        year=hit.year,
        page_labels=hit.page_labels,
        context=hit.context,
        citation_key=hit.citation_key or "",
    )


def _year(hit: Hit) -> str:
    return f" ({hit.year})" if hit.year else ""


def _chunk_label(hit: Hit) -> str:
    kind = None if hit.section_category is None else SectionCategory(hit.section_category).name
    return f"[{hit.chunk_id}]" + (f" ({kind})" if kind else "")


def _laid_out(search: PaperSearch, block: papers.PaperBlock) -> Iterator[FoundLine]:
    """Yield the layout of spec 002 §3.3: the paper, its background once, what was found in it."""
    yield FoundLine(f"[Paper: {_on_a_line(block.paper.title)}]")
    told = block.introduction
    if told is not None and told.text and block.paper.doc_uid not in search.introduced:
        search.introduced.add(block.paper.doc_uid)
        more = " …" if told.is_cut else ""
        yield FoundLine(f"> Context ({told.section.title()}): {_on_a_line(told.text)}{more}")
    for window in block.evidence:
        yield from _found(search, window.found, label=_evidence_label).lines
        beside = [hit for hit in window.chunks if hit not in window.found]
        yield from _found(search, beside, label=_neighbour_label).lines


def _evidence_label(hit: Hit) -> str:
    return f"> Retrieved Evidence ({_kind(hit) or 'Other'}, {hit.chunk_id}):"


def _neighbour_label(hit: Hit) -> str:
    return f"> Beside it ({hit.chunk_id}):"


def _on_a_line(text: str) -> str:
    return " ".join(text.split())


def _kind(hit: Hit) -> str | None:
    if hit.section_category is None:
        return None
    return SectionCategory(hit.section_category).name.replace("_", " ").title()


def _sentences(told: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{one}." for one in told)


def _found(
    search: PaperSearch,
    hits: Sequence[Hit],
    told: Sequence[str] = (),
    *,
    label: Callable[[Hit], str] = _chunk_label,
) -> Found:
    uids = {hit.doc_uid for hit in hits}
    authors = {
        (reader.namespace, row["doc_uid"]): tuple(row["authors"] or ())
        for reader in (search.retriever.readers if uids else ())
        for row in reader.fetch_documents(uids).select(["doc_uid", "authors"]).to_pylist()
    }
    lines = (
        FoundLine(label(hit), passage_of(hit, authors.get((hit.namespace, hit.doc_uid), ())))
        for hit in hits
    )
    return Found(tuple(lines), _sentences(told))
