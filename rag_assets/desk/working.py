"""Work that goes on behind the pages: what it says, live, and how to end it."""

from collections.abc import AsyncIterator
from html import escape

from fastapi import APIRouter, HTTPException, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.rendering import Language, page, tell
from rag_assets.desk.state import DeskOf, Job, LanguageOf

router = APIRouter()


@router.get("/work/{key}")
def look(request: Request, desk: DeskOf, key: str) -> Response:
    """Show what a piece of work has said; leads to its result when there is one."""
    job = _job(desk, key)
    if job.state == "done" and job.result:
        return RedirectResponse(job.result, 303)
    return page(request, "working.html", job=job)


@router.get("/work/{key}/stream")
async def follow(
    request: Request, desk: DeskOf, language: LanguageOf, key: str, after: int = 0
) -> Response:
    """Send each sentence as it is said, from the one after `after` or `Last-Event-ID`, and the end.

    Args:
        after: how many the page holds already.
    """
    job = _job(desk, key)
    return EventSourceResponse(_events(job, max(after, last_event(request)), language))


@router.post("/work/{key}/cancel")
def cancel(desk: DeskOf, key: str) -> Response:
    """Ask a piece of work to end."""
    _job(desk, key).cancel()
    return RedirectResponse(f"/work/{key}", 303)


def last_event(request: Request) -> int:
    """Return the number of the event that a browser has seen last; 0 where it has seen none."""
    said = request.headers.get("last-event-id", "0")
    return int(said) if said.isdecimal() else 0


async def _events(job: Job, after: int, language: Language) -> AsyncIterator[ServerSentEvent]:
    async for number, sentence in job.follow(after):
        yield ServerSentEvent(
            f"<li>{escape(tell(language, sentence))}</li>", event="item", id=str(number)
        )
    yield ServerSentEvent(job.result or f"/work/{job.key}", event="end")


def _job(desk: DeskOf, key: str) -> Job:
    job = desk.jobs.get(key)
    if job is None:
        raise HTTPException(404, "This work ended with an earlier start of the desk, or never was.")
    return job
