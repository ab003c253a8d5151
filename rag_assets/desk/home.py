"""The first page: what needs doing in the workspace; the language of the pages."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.asking import past_questions
from rag_assets.desk.guard import HEALTH
from rag_assets.desk.library import described_namespaces
from rag_assets.desk.rendering import COOKIE, as_language, page
from rag_assets.desk.state import DeskOf, FormOf, text_of
from rag_assets.workspace import Workspace

router = APIRouter()
_YEAR_SECONDS = 365 * 24 * 3600
_LATEST = 5


@router.get("/")
def show(request: Request, desk: DeskOf) -> Response:
    """Show what needs doing: drafts, documents that failed, what is stale, the latest questions."""
    states, troubles = described_namespaces(desk.workspace)
    return page(
        request,
        "home.html",
        drafts=desk.reviews.summaries(),
        namespaces=states,
        is_empty=not any(state["documents"] or state["files"] for state in states),
        troubles=troubles,
        asked=past_questions(desk.workspace, _LATEST),
        saved=_saved_questions(desk.workspace),
        jobs=desk.jobs.running(),
    )


def _saved_questions(workspace: Workspace) -> list[str]:
    """Return questions of queries/ in their own words."""
    from rag_assets.evidence import readable_questions

    return [one.question.question for one in readable_questions(workspace)][:_LATEST]


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
