"""Find passages and papers, and read what stands around them."""

from collections.abc import Callable, Sequence
from datetime import date
from functools import wraps
from inspect import signature
from typing import Annotated, Any

from pydantic import Field

from rag_assets.answering import PaperSearch, paper_tools
from rag_assets.answering.agents import Found as AgentFound
from rag_assets.answering.agents import Passage
from rag_assets.evidence import Question, chat_model_of, make_pack, pack_to_json
from rag_assets.evidence.locating import locate
from rag_assets.model import UsageError
from rag_assets.retrieval import Hit, OpenedLibrary, Retriever, SearchFilters, explain_hit
from rag_assets.tracing import chain_to_json
from rag_assets.tracing import trace as trace_down

Namespaces = Annotated[
    Sequence[str], Field(description="Names of namespaces; empty for all that are published.")
]
TopK = Annotated[int | None, Field(ge=1, le=100, description="Results at most.")]
_Filters = Annotated[
    Sequence[str], Field(description="Conditions such as year>=2020, tag=roofs, language=zh.")
]

AsOf = Annotated[
    date | None,
    Field(description="The day, YYYY-MM-DD, on which wordings of laws have to hold; else today."),
]
AllVersions = Annotated[
    bool, Field(description="Of laws also wordings in whose place another is in force.")
]


def search(
    library: OpenedLibrary,
    query: Annotated[str, Field(description="A question or words, English or Chinese.")],
    namespaces: Namespaces = (),
    top_k: TopK = None,
    document_ids: Annotated[
        Sequence[str] | None, Field(description="Only these documents, by doc_uid.")
    ] = None,
    filters: _Filters = (),
    citable_only: Annotated[bool, Field(description="Only what may be cited as evidence.")] = False,
    as_of: AsOf = None,
    all_versions: AllVersions = False,
) -> dict[str, Any]:
    """Find passages by words and by meaning, best first, each with place and citation id.

    Cite a passage of a law by its `law.citation`, and say where its `law.standing` is not in_force.
    `score` compares passages of one answer only. `edited` is there only where a person wrote it in
    place of `text`, which is what is printed.
    """
    chosen = SearchFilters(citable_only=citable_only)
    for condition in filters:
        chosen = chosen.with_filter(condition)
    with Retriever(library, namespaces, llm=chat_model_of(library.workspace)) as retriever:
        found = retriever.retrieve(
            query,
            top_k=top_k,
            filters=chosen,
            document_ids=document_ids,
            as_of=as_of,
            all_versions=all_versions,
        )
    return {
        "hits": [_passage(rank, hit) for rank, hit in enumerate(found.hits, start=1)],
        "filters": list(found.filters),
        "warnings": list(found.warnings),
    }


def fetch_parent(
    library: OpenedLibrary,
    namespace: Annotated[str, Field(description="As a hit names it.")],
    parent_id: Annotated[str, Field(description="As a hit names it, for instance roofs:p003.")],
) -> dict[str, Any]:
    """Return the whole page or section around a passage."""
    with Retriever(library, [namespace]) as retriever:
        (reader,) = retriever.readers
        parent = reader.fetch_parents([parent_id]).get(parent_id)
    if parent is None:
        raise UsageError(
            f"namespace '{namespace}' has no parent '{parent_id}'. A hit of `search` names its "
            "own as parent_id."
        )
    place = locate(
        parent.page_start, parent.page_end, parent.char_start, parent.char_end,
        parent.section_path, labels=parent.page_labels, first_label=parent.page_start,
    )  # fmt: skip
    return {
        "namespace": namespace,
        "parent_id": parent.parent_id,
        "doc_uid": parent.doc_uid,
        "section": " › ".join(parent.section_path),
        "place": place.text if place else "",
        "hash": parent.hash,
        "text": parent.text,
    }


def evidence_pack(
    library: OpenedLibrary,
    question: Annotated[str, Field(description="A question, English or Chinese.")],
    namespaces: Namespaces = (),
    top_k: TopK = None,
    filters: _Filters = (),
    as_of: AsOf = None,
    all_versions: AllVersions = False,
) -> dict[str, Any]:
    """Return only what may be cited, with verbatim quotes, places and hashes; not stored."""
    asked = Question(
        question=question,
        namespaces=tuple(namespaces),
        top_k=top_k,
        filters=tuple(filters),
        as_of=as_of,
        all_versions=all_versions,
    )
    return pack_to_json(make_pack(library, asked))


def trace(
    library: OpenedLibrary,
    citation: Annotated[
        str,
        Field(
            description="kb:<namespace>__chunk-…, or <namespace>::<chunk_id>, of a hit; or a "
            "stored verdict or item such as chapter_citations_v001#3."
        ),
    ],
) -> dict[str, Any]:
    """Lead from a citation to passage, parent, parse and file, with the hash of each."""
    return {"chains": [chain_to_json(chain) for chain in trace_down(library.workspace, citation)]}


def _passage(rank: int, hit: Hit) -> dict[str, Any]:
    edited = {} if hit.edited is None else {"edited": hit.edited}
    return {
        "rank": rank,
        **_shown(hit),
        "parent_id": hit.parent_id,
        "doc_uid": hit.doc_uid,
        "citation_key": hit.citation_key,
        "title": hit.doc_title,
        "citable": hit.citable,
        "score": round(hit.score, 6),
        "why": explain_hit(hit),
        "law": hit.law_values,
        **edited,
    }


def _shown(found: Hit | Passage) -> dict[str, Any]:
    place = locate(
        found.page_start, found.page_end, found.char_start, found.char_end, found.section_path,
        labels=found.page_labels, first_label=found.page_start,
    )  # fmt: skip
    return {
        "citation_id": found.citation_id,
        "namespace": found.namespace,
        "chunk_id": found.chunk_id,
        "section": " › ".join(found.section_path),
        "place": place.text if place else "",
        "year": found.year,
        "text": found.text,
    }


def _over_library(function: Callable[..., AgentFound]) -> Callable[..., dict[str, Any]]:
    """Return a tool of the agent as one whose first parameter is an open library."""

    @wraps(function)
    def call(library: OpenedLibrary, *args: Any, **values: Any) -> dict[str, Any]:
        with Retriever(library) as retriever:
            search = PaperSearch(retriever, SearchFilters(citable_only=True))
            found = function(search, *args, **values)
        passages = [
            {"label": label, "doc_id": one.doc_uid, "title": one.title, **_shown(one)}
            for label, one in ((line.label, line.passage) for line in found.lines)
            if one is not None
        ]
        return {"passages": passages, "notes": list(found.notes)}

    # What schemas are made from: the agent's own parameters, and what is returned here.
    told = signature(function).replace(return_annotation=dict[str, Any])
    call.__signature__ = told  # type: ignore[attr-defined]
    call.__annotations__ = {**function.__annotations__, "return": dict[str, Any]}
    return call


PAPER_TOOLS = tuple(_over_library(tool.function) for tool in paper_tools().tools.values())
