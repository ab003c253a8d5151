"""The desk as one application: its pages behind the guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from fastapi import Depends, FastAPI, HTTPException, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from rag_assets.desk import asking, chunks, home, library, pages, review, working
from rag_assets.desk.guard import Guard
from rag_assets.desk.rendering import language_of, page, say, tell
from rag_assets.desk.state import Desk, guard_writes
from rag_assets.model import (
    ChangedMeanwhileError,
    LockedError,
    PublicationError,
    RagError,
    WorkspaceError,
    hide_credentials,
)

# The first that fits; any other fault of ours that has a sentence is one of the request.
_STATUS: tuple[tuple[type[RagError], int], ...] = (
    (ChangedMeanwhileError, 409),
    (LockedError, 503),
    (PublicationError, 404),
    (WorkspaceError, 404),
    (RagError, 400),
)


def build_application(desk: Desk) -> FastAPI:
    """Return the application; it closes the desk when it ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    application = FastAPI(
        title="rag desk", lifespan=lifespan, openapi_url=None, dependencies=[Depends(guard_writes)]
    )
    application.state.desk = desk
    application.add_middleware(Guard, door=desk.door)
    static = files("rag_assets.desk") / "static"
    application.mount("/static", StaticFiles(directory=str(static)), name="static")
    for module in (home, asking, chunks, library, pages, review, working):
        application.include_router(module.router)
    application.include_router(library.passages_router)
    _add_laboratory(application, desk)
    application.add_exception_handler(RagError, _explain)
    application.add_exception_handler(404, _missing)
    application.add_exception_handler(Exception, _fail)
    return application


def _add_laboratory(application: FastAPI, desk: Desk) -> bool:
    """Add the laboratory's pages where there is one and they are not there yet."""
    if not desk.has_lab or hasattr(application.state, "laboratory"):
        return False
    # A workspace without a laboratory imports nothing of it.
    from rag_assets.desk.laboratory import add_laboratory

    add_laboratory(application, desk)
    return True


def trouble_page(request: Request, status: int, sentence: str) -> Response:
    """Return what went wrong: a page, or one line to the page's script."""
    if request.headers.get("x-desk-part"):
        return PlainTextResponse(tell(language_of(request), sentence), status)
    return page(request, "trouble.html", status, sentence=sentence)


async def _explain(request: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return trouble_page(request, status, hide_credentials(str(error)))


async def _missing(request: Request, error: Exception) -> Response:
    if request.url.path.startswith("/lab"):
        # The workspace may have become a laboratory since the desk was opened.
        desk: Desk = request.app.state.desk
        try:
            desk.follow_settings()
        except RagError as trouble:
            return await _explain(request, trouble)
        if _add_laboratory(request.app, desk):
            return RedirectResponse(request.url.path, 307)
    sentence = error.detail if isinstance(error, HTTPException) else "Not Found"
    if sentence == "Not Found":
        sentence = say(request, "There is no such page.")
    return trouble_page(request, 404, sentence)


async def _fail(request: Request, error: Exception) -> Response:
    # The server prints where it happened; what the page says must help without that.
    sentence = say(
        request, "The desk could not do this: a fault of its own, printed where it runs."
    )
    return trouble_page(request, 500, f"{sentence} ({type(error).__name__})")
