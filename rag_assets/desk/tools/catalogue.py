"""The tools by name, each with the JSON Schema of its arguments."""

from collections.abc import Callable
from typing import Any  # functions of any signature

from rag_assets.answering.agents import ContextTool
from rag_assets.desk.tools.checking import CHECKS, Drafts
from rag_assets.desk.tools.reading import PAPER_TOOLS, evidence_pack, fetch_parent, search, trace
from rag_assets.desk.tools.statutes import law_article, law_search
from rag_assets.retrieval import OpenedLibrary

LibraryTool = ContextTool[OpenedLibrary]

_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    search,
    fetch_parent,
    evidence_pack,
    law_search,
    law_article,
    trace,
    *PAPER_TOOLS,
)
TOOLS: dict[str, LibraryTool] = {
    function.__name__: ContextTool(function) for function in _FUNCTIONS
}
DRAFT_TOOLS: dict[str, ContextTool[Drafts]] = {
    function.__name__: ContextTool(function) for function in CHECKS
}
