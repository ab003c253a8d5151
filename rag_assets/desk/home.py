"""The first page: what stands in the workspace and where to go on; the language of the pages."""

from pathlib import Path
from typing import cast

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from rag_assets.desk.rendering import COOKIE, as_language, page
from rag_assets.desk.state import Desk, DeskOf, FormOf, text_of
from rag_assets.workspace.desk_address import PROVING, prove

router = APIRouter()
_YEAR_SECONDS = 365 * 24 * 3600
_LATEST = 5


@router.get("/")
def show(request: Request, desk: DeskOf) -> Response:
    """Show drafts, namespaces, questions and the work that goes on."""
    from rag_assets.auditing import list_drafts
    from rag_assets.evidence import list_questions
    from rag_assets.storage import read_pointer

    workspace = desk.workspace
    return page(
        request,
        "home.html",
        drafts=[_inside(path, workspace.drafts) for path in list_drafts(workspace)],
        namespaces=[
            (name, read_pointer(workspace.namespace(name).publications) is not None)
            for name in workspace.namespace_names
        ],
        questions=[path.name for path in list_questions(workspace)][-_LATEST:],
        jobs=desk.jobs.running(),
    )


@router.post("/language")
def choose_language(form: FormOf) -> Response:
    """Keep the language of the static text in a cookie, and go back."""
    back = text_of(form, "back")
    is_path = back.startswith("/") and back[1:2] not in ("/", "\\")
    answer = RedirectResponse(back if is_path else "/", 303)
    answer.set_cookie(
        COOKIE, as_language(text_of(form, "language")), max_age=_YEAR_SECONDS, samesite="strict"
    )
    return answer


@router.get(PROVING)
def health(request: Request, challenge: str = "") -> Response:
    """Say that the desk answers; tells nothing of the workspace.

    A program that is about to send the token asks with a challenge first.
    """
    door, host = cast("Desk", request.app.state.desk).door, request.headers.get("host", "").lower()
    if challenge and host in door.hosts:
        return PlainTextResponse(prove(door.token, host, challenge))
    return JSONResponse({"status": "ok"})


def _inside(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
