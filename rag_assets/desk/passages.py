"""A cited passage on its page: picture and words, and the way back to the file."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any  # a row of SQL
from urllib.parse import quote as quote_path
from urllib.parse import unquote

from fastapi import APIRouter, Request
from starlette.responses import Response

from rag_assets.auditing import list_drafts
from rag_assets.desk.rendering import page
from rag_assets.desk.state import Desk, DeskOf, FormOf, text_of
from rag_assets.evidence.pictures import WholePage
from rag_assets.model import PageBox
from rag_assets.retrieval import Retriever
from rag_assets.tools import trace_citation

router = APIRouter()
_DRAFT = "desk_draft"


@router.get("/passages/{citation}")
def show(
    request: Request, desk: DeskOf, citation: str, quote: str = "", cite: str = ""
) -> Response:
    """Show the passage of a citation id.

    Args:
        quote: words of it to be marked in its text.
        cite: how a draft cites it; else by its document.

    Raises:
        UsageError: no current publication holds it.
    """
    found = read_passage(desk, citation)
    passage = found.chain["passage"]
    before, words, after = passage["text"].partition(quote) if quote else ("", "", "")
    return page(
        request,
        "passage.html",
        citation=citation,
        chain=found.chain,
        pages=found.pages,
        text=(before, words, after) if words else (passage["text"], "", ""),
        around=found.around,
        quote=quote or passage["text"],
        cite=cite or _cited(desk, passage),
        drafts=[
            path.relative_to(desk.workspace.drafts).as_posix()
            for path in list_drafts(desk.workspace)
        ],
        draft=unquote(request.cookies.get(_DRAFT, "")),
    )


@router.post("/passages/{citation}")
def put(request: Request, desk: DeskOf, form: FormOf, citation: str) -> Response:
    """Put a passage at the end of a draft, which is remembered for the next one."""
    from rag_assets.reviewing import add_passage

    name = text_of(form, "draft")
    written = add_passage(
        desk.workspace, desk.reviews.path(name), text_of(form, "quote"), text_of(form, "cite"),
        by=desk.person, at=desk.now(),
    )  # fmt: skip
    answer = page(request, "put.html", citation=citation, draft=name, written=written)
    answer.set_cookie(_DRAFT, quote_path(name), samesite="strict", httponly=True)
    return answer


@dataclass(frozen=True)
class ShownPassage:
    """A passage with the pages on which it is printed.

    Args:
        chain: from the passage to the file, as `trace_citation` returns it.
        pages: number from 1, the drawn page or why there is none, the boxes on it.
        around: text of the page or section around it; None where it has none.
    """

    chain: dict[str, Any]
    pages: list[tuple[int, WholePage | str, list[PageBox]]]
    around: str | None


def read_passage(desk: Desk, citation: str) -> ShownPassage:
    """Return what is shown of a passage.

    Raises:
        UsageError: no current publication holds it.
        PublicationError: nothing is published.
    """
    chain = trace_citation(desk.workspace, citation)
    passage, document = chain["passage"], chain["document"]
    with Retriever(desk.library, [passage["namespace"]]) as retriever:
        (reader,) = retriever.readers
        (row,) = reader.fetch_rows([passage["chunk_id"]], ["boxes"]).to_pylist()
        parent = reader.fetch_parents([passage["parent_id"]]).get(passage["parent_id"])
    boxes: dict[int, list[PageBox]] = defaultdict(list)
    for box in row["boxes"] or ():
        boxes[box["page"]].append(PageBox(**box))
    drawn = [
        (
            number,
            desk.pages.draw(passage["namespace"], document["content_hash"], number),
            boxes[number],
        )
        for number in sorted(boxes)
    ]
    return ShownPassage(chain, drawn, None if parent is None else parent.text)


def _cited(desk: Desk, passage: Mapping[str, Any]) -> str:
    # Beside other namespaces a uid alone may name a document of another one.
    alone = len(desk.workspace.namespace_names) == 1
    return f"{{#{'' if alone else passage['namespace'] + ':'}{passage['doc_uid']}}}"
