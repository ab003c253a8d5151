"""A cited passage on its page: picture and words, and the way back to the file."""

from collections import defaultdict

from fastapi import APIRouter, Request
from starlette.responses import Response

from rag_assets.desk.rendering import page
from rag_assets.desk.state import DeskOf
from rag_assets.model import PageBox
from rag_assets.retrieval import Retriever
from rag_assets.tools import trace_citation

router = APIRouter()


@router.get("/passages/{citation}")
def show(request: Request, desk: DeskOf, citation: str, quote: str = "") -> Response:
    """Show the passage of a citation id.

    Args:
        quote: words of it to be marked in its text.

    Raises:
        UsageError: no current publication holds it.
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
    before, words, after = passage["text"].partition(quote) if quote else ("", "", "")
    return page(
        request,
        "passage.html",
        citation=citation,
        chain=chain,
        pages=[
            (
                number,
                desk.pages.draw(passage["namespace"], document["content_hash"], number),
                boxes[number],
            )
            for number in sorted(boxes)
        ],
        text=(before, words, after) if words else (passage["text"], "", ""),
        around=None if parent is None else parent.text,
    )
