"""What all pages share: the workspace, its open library, the work that goes on behind them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.datastructures import FormData

from rag_assets.desk.catalogues import COOKIE, Language, as_language
from rag_assets.desk.drawing import DrawnPages
from rag_assets.desk.guard import Door
from rag_assets.desk.jobs import Jobs
from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary
from rag_assets.workspace import Workspace


@dataclass
class Desk:
    """One desk on one workspace.

    Args:
        now: the clock, handed in where the desk is served.
        person: who sits here; written into journals.
    """

    workspace: Workspace
    door: Door
    person: str
    now: Callable[[], datetime]
    jobs: Jobs = field(default_factory=Jobs)

    def __post_init__(self) -> None:
        self.library = OpenedLibrary(self.workspace)
        self.pages = DrawnPages(self.workspace)

    @property
    def has_lab(self) -> bool:
        """Say whether the workspace has a laboratory."""
        return self.workspace.settings.lab is not None

    def today(self) -> date:
        """Return the day of the clock."""
        return self.now().date()

    def close(self) -> None:
        """End the work behind the pages and let go of the library."""
        self.jobs.close()
        self.library.close()


def _desk(request: Request) -> Desk:
    return cast("Desk", request.app.state.desk)


def _language(request: Request) -> Language:
    return as_language(request.cookies.get(COOKIE))


async def checked_form(request: Request) -> FormData:
    """Return the form of a request that writes.

    Raises:
        UsageError: it does not come from a page of this desk.
    """
    form = await request.form()
    desk = _desk(request)
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    given = request.headers.get("x-desk-form") or form.get("form_token")
    if not desk.door.knows(bearer) and given != desk.door.form_token:
        raise UsageError("this form is not of this desk, or is older than it: load the page again.")
    return form


async def guard_writes(request: Request) -> None:
    """Let no request write without the token of a form; stands before every handler."""
    if request.method not in ("GET", "HEAD", "OPTIONS"):
        await checked_form(request)


DeskOf = Annotated[Desk, Depends(_desk)]
LanguageOf = Annotated[Language, Depends(_language)]
FormOf = Annotated[FormData, Depends(checked_form)]


def text_of(form: FormData, name: str) -> str:
    """Return a field as it was typed, lines ended by LF; empty where it was not sent.

    Raises:
        UsageError: a file was sent in its place.
    """
    value = form.get(name, "")
    if not isinstance(value, str):
        raise UsageError(f"the field '{name}' holds a file; text was expected.")
    return value.replace("\r\n", "\n")
