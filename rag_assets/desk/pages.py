"""Pages of printed sources as pictures, for every page of the desk that shows evidence on them."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path
from starlette.responses import Response

from rag_assets.desk.state import DeskOf

router = APIRouter()
_HEX = r"^[0-9a-f]{64}$"


@router.get("/pages/{namespace}/{content_hash}/{number}.jpg")
def picture(
    desk: DeskOf,
    namespace: str,
    content_hash: Annotated[str, Path(pattern=_HEX)],
    number: Annotated[int, Path(ge=1)],
) -> Response:
    """Return the picture of a page; it never changes, since its address holds the content."""
    drawn = desk.pages.draw(namespace, content_hash, number)
    if isinstance(drawn, str):
        raise HTTPException(404, drawn)
    # Kept by this browser alone: who uses it later has to have the token too.
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(drawn.jpeg, media_type="image/jpeg", headers=headers)
