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
    place = locate(
        hit.page_start, hit.page_end, hit.char_start, hit.char_end, hit.section_path,
        labels=hit.page_labels, first_label=hit.page_start,
    )  # fmt: skip
    found = {
        "rank": rank,
        "citation_id": hit.citation_id,
        "namespace": hit.namespace,
        "chunk_id": hit.chunk_id,
        "parent_id": hit.parent_id,
        "doc_uid": hit.doc_uid,
        "citation_key": hit.citation_key,
        "title": hit.doc_title,
        "section": " › ".join(hit.section_path),
        "place": place.text if place else "",
        "citable": hit.citable,
        "year": hit.year,
        "score": round(hit.score, 6),
        "why": explain_hit(hit),
        "text": hit.text,
        "law": hit.law_values,
    }
    if hit.edited is not None:
        found["edited"] = hit.edited
    return found


def _over_library(function: Callable[..., AgentFound]) -> Callable[..., dict[str, Any]]:
    """Return a tool of the agent as one whose first parameter is an open library."""

    @wraps(function)
    def call(library: OpenedLibrary, *args: Any, **values: Any) -> dict[str, Any]:
        with Retriever(library) as retriever:
            search = PaperSearch(retriever, SearchFilters(citable_only=True))
            found = function(search, *args, **values)
        rows = [(line.label, line.passage) for line in found.lines]
        passages = [_row(label, passage) for label, passage in rows if passage is not None]
        return {"passages": passages, "notes": list(found.notes)}

    # What schemas are made from: the agent's own parameters, and what is returned here.
    told = signature(function).replace(return_annotation=dict[str, Any])
    call.__signature__ = told  # type: ignore[attr-defined]
    call.__annotations__ = {**function.__annotations__, "return": dict[str, Any]}
    return call


def _row(label: str, passage: Passage) -> dict[str, Any]:
    place = locate(
        passage.page_start, passage.page_end, passage.char_start, passage.char_end,
        passage.section_path, labels=passage.page_labels, first_label=passage.page_start,
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
