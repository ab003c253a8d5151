"""The tools by which an agent of `rag ask` searches papers, for whoever holds a library."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from typing_extensions import TypedDict

from rag_assets.agents import Found, Passage
from rag_assets.answering import PaperSearch, paper_tools
from rag_assets.evidence.locating import locate
from rag_assets.retrieval import OpenedLibrary, Retriever, SearchFilters


class PaperPassage(TypedDict):
    """A passage of a paper that may be cited; `label` names it as the agent's own record does."""

    label: str
    citation_id: str
    namespace: str
    doc_id: str
    chunk_id: str
    title: str | None
    section: str
    place: str
    year: int | None
    text: str


class PaperFindings(TypedDict):
    """What was found, and what was done otherwise than asked."""

    passages: list[PaperPassage]
    notes: list[str]


def _over_library(function: Callable[..., Found]) -> Callable[..., PaperFindings]:
    """Return a tool of the agent as one whose first parameter is an open library."""

    @wraps(function)
    def call(library: OpenedLibrary, *args: Any, **values: Any) -> PaperFindings:
        with Retriever(library) as retriever:
            search = PaperSearch(retriever, SearchFilters(citable_only=True))
            found = function(search, *args, **values)
        rows = [(line.label, line.passage) for line in found.lines]
        passages = [_row(label, passage) for label, passage in rows if passage is not None]
        return {"passages": passages, "notes": list(found.notes)}

    # What schemas are made from: the agent's own parameters, and what is returned here.
    told = signature(function).replace(return_annotation=PaperFindings)
    call.__signature__ = told  # type: ignore[attr-defined]
    call.__annotations__ = {**function.__annotations__, "return": PaperFindings}
    return call


def _row(label: str, passage: Passage) -> PaperPassage:
    place = locate(
        passage.page_start, passage.page_end, passage.char_start, passage.char_end,
        passage.section_path,
    )  # fmt: skip
    return {
        "label": label,
        "citation_id": passage.citation_id,
        "namespace": passage.namespace,
        "doc_id": passage.doc_uid,
        "chunk_id": passage.chunk_id,
        "title": passage.title,
        "section": " › ".join(passage.section_path),
        "place": place.text if place else "",
        "year": passage.year,
        "text": passage.text,
    }


PAPER_TOOLS = tuple(_over_library(tool.function) for tool in paper_tools().tools.values())
