"""The first page: what stands in the workspace and where to go on; the language of the pages."""

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.guard import HEALTH
from rag_assets.desk.rendering import COOKIE, as_language, page
from rag_assets.desk.state import DeskOf, FormOf, text_of

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


@router.get(HEALTH)
def health() -> dict[str, str]:
    """Say that the desk answers; tells nothing of the workspace."""
    return {"status": "ok"}


def _inside(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
