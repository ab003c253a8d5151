"""What all pages share: the workspace, its open library, drawn pages, the work behind them."""

import asyncio
import threading
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, cast

from fastapi import Depends, Request
from starlette.datastructures import FormData

from rag_assets.chunking.editing import HeldDocuments
from rag_assets.desk.guard import Door
from rag_assets.desk.rendering import COOKIE, Language, as_language
from rag_assets.evidence.pictures import Drawing, WholePage, whole_page
from rag_assets.model import RagError, UsageError, hide_credentials
from rag_assets.retrieval import OpenedLibrary
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.auditing.reviewing import Reviews

_MOST_PAGES = 32


class DrawnPages:
    """The pages that were drawn last; a page is drawn once though it is shown and then loaded."""

    def __init__(self, workspace: Workspace) -> None:
        self._drawing = Drawing(workspace)
        self._kept: OrderedDict[tuple[str, str, int], WholePage] = OrderedDict()
        self._lock = threading.Lock()

    def draw(self, namespace: str, content_hash: str, number: int) -> WholePage | str:
        """Return a page, or a sentence that says why there is no picture of it.

        Args:
            content_hash: SHA-256 of the document's bytes.
            number: of the page, from 1.
        """
        key = (namespace, content_hash, number)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            drawn = whole_page(self._drawing.draw(namespace, content_hash, number))
            if isinstance(drawn, WholePage):
                self._kept[key] = drawn
                if len(self._kept) > _MOST_PAGES:
                    self._kept.popitem(last=False)
            return drawn

    def start(self) -> None:
        """Start the process that draws."""
        with self._lock:
            self._drawing.start()

    def close(self) -> None:
        """End the process that draws."""
        with self._lock:
            self._drawing.close()


JobState = Literal["running", "done", "failed", "cancelled"]
_MOST_KEPT = 200
_POLL_SECONDS = 0.1


class CancelledError(Exception):
    """A person has cancelled the work. No fault of ours, so that nothing handles it as one."""


@dataclass
class Job:
    """A piece of work.

    Args:
        kind: what it does, as the pages name it.
        result: where its result is to be seen, a path of this desk; empty while there is none.
        trouble: the sentence for a person where it failed.
    """

    key: str
    kind: str
    told: list[str] = field(default_factory=list)
    state: JobState = "running"
    result: str = ""
    trouble: str = ""
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def tell(self, sentence: str) -> None:
        """Say a sentence to who looks; ends the work where it was cancelled, with "" alone too.

        Raises:
            CancelledError: the work is not wanted any more.
        """
        if self._cancelled.is_set():
            raise CancelledError("cancelled by a person.")
        if sentence:
            self.told.append(sentence)

    def cancel(self) -> None:
        """Ask the work to end; it does so with the next sentence that it says."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False where it did not come."""
        return self._ended.wait(seconds)

    def run(self, work: "Callable[[Job], str]") -> None:
        """Do the work; what it returns is where its result is to be seen."""
        try:
            self.result = work(self)
            self.state = "done"
        except CancelledError as error:
            self.state, self.trouble = "cancelled", str(error)
        except RagError as error:
            self.state, self.trouble = "failed", hide_credentials(str(error))
        except BaseException as error:
            self.state = "failed"
            self.trouble = hide_credentials(f"{type(error).__name__}: {error}")
            raise
        finally:
            self._ended.set()

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, str]]:
        """Give (number, sentence) from the one after `after`, as they come, until the end."""
        number = after
        while True:
            ended = self._ended.is_set()
            for sentence in self.told[number:]:
                number += 1
                yield number, sentence
            if ended:
                return
            await asyncio.sleep(_POLL_SECONDS)


class Jobs:
    """The work of one desk, oldest first; what has ended is forgotten after the last 200."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, work: Callable[[Job], str]) -> Job:
        """Begin a piece of work in a thread of its own."""
        job = Job(uuid.uuid4().hex, kind)
        with self._lock:
            self._jobs[job.key] = job
            ended = [key for key, each in self._jobs.items() if each.state != "running"]
            for key in ended[: max(0, len(self._jobs) - _MOST_KEPT)]:
                del self._jobs[key]
        threading.Thread(target=job.run, args=(work,), name=f"desk {kind}", daemon=True).start()
        return job

    def get(self, key: str) -> Job | None:
        """Return the work of a key, None where there is none (any more)."""
        return self._jobs.get(key)

    def running(self, kind: str | None = None) -> list[Job]:
        """Return what goes on, of one kind or of all."""
        with self._lock:
            jobs = list(self._jobs.values())
        return [job for job in jobs if job.state == "running" and kind in (None, job.kind)]

    def close(self) -> None:
        """Ask all work to end."""
        for job in self.running():
            job.cancel()


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
        self._keys: tuple[dict[str, str], dict[tuple[str, str], tuple[str, str]]] = {}, {}

    def citation_keys(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Return (citation key, title) of every published document by (namespace, uid)."""
        with self.library.hold() as held:
            if held.names != self._keys[0]:
                columns = ["doc_uid", "citation_key", "title"]
                found = {
                    (name, row["doc_uid"]): (row["citation_key"] or row["doc_uid"], row["title"])
                    for name, reader in held.readers.items()
                    for row in reader.documents().select(columns).to_pylist()
                }
                self._keys = held.names, found
        return self._keys[1]

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
        from rag_assets.auditing.reviewing import Reviews

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
    given = request.headers.get("x-desk-form") or form.get("form_token")
    if given != desk.door.form_token:
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
