"""What all pages share: the workspace, its open library, the work that goes on behind them."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request
from starlette.datastructures import FormData

from rag_assets.desk.catalogues import COOKIE, Language, as_language
from rag_assets.desk.drawing import DrawnPages
from rag_assets.desk.guard import Door
from rag_assets.desk.jobs import Jobs
from rag_assets.editing import HeldDocuments
from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.reviewing import Reviews


@dataclass
class Desk:
    """One desk on one workspace.

    Args:
        now: the clock, handed in where the desk is served.
        person: who sits here; written into journals.
        at_end: called when the desk is closed, by who has opened something.
    """

    workspace: Workspace
    door: Door
    person: str
    now: Callable[[], datetime]
    jobs: Jobs = field(default_factory=Jobs)
    at_end: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.library = OpenedLibrary(self.workspace)
        self.pages = DrawnPages(self.workspace)
        self.documents = HeldDocuments()
        self._stamp = self.workspace.settings_stamp()
        self._lock = threading.Lock()

    def follow_settings(self) -> None:
        """Take the workspace's settings as they are written now; they may be edited meanwhile.

        Raises:
            ConfigurationError: they cannot be read.
        """
        with self._lock:
            stamp = self.workspace.settings_stamp()
            if stamp != self._stamp:
                fresh = Workspace.open(self.workspace.root)
                _ = fresh.settings  # a fault is told before anything is changed
                self.library.close()
                self.workspace, self.library = fresh, OpenedLibrary(fresh)
                self.__dict__.pop("reviews", None)
                self._stamp = stamp

    @cached_property
    def reviews(self) -> "Reviews":
        """The drafts under review."""
        # Imported here: what judges takes a second to import, and the first page needs none of it.
        from rag_assets.reviewing import Reviews

        return Reviews(self.workspace)

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
        for end in self.at_end:
            end()
        self.pages.close()
        self.library.close()


def _desk(request: Request) -> Desk:
    desk = cast("Desk", request.app.state.desk)
    desk.follow_settings()
    return desk


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
