"""What the laboratory's pages share: the open laboratory, its worker, who writes and when."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from typing import Annotated, cast
from urllib.parse import quote

from fastapi import Depends, HTTPException, Request
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.state import Desk, DeskOf, Job, Jobs, text_of
from rag_assets.lab.laboratory import Laboratory, open_laboratory
from rag_assets.lab.products import list_products
from rag_assets.lab.queue import work
from rag_assets.lab.runs import Run, list_runs, read_run
from rag_assets.lab.store import Writing
from rag_assets.model import ChangedMeanwhileError, RagError, UsageError
from rag_assets.retrieval import OpenedLibrary

KIND = "recipes"
_CLOSING_SECONDS = 5.0


class Worker:
    """Works under the same lock as `rag lab run`; at most one thread of a desk.

    Args:
        lab: returns the laboratory as its settings are now.
        library: returns the open library likewise.
        now: returns the time, ISO 8601 with zone.
    """

    def __init__(
        self,
        jobs: Jobs,
        lab: Callable[[], Laboratory],
        library: Callable[[], OpenedLibrary],
        now: Callable[[], str],
    ) -> None:
        self._jobs = jobs
        self._lab = lab
        self._library = library
        self._now = now
        self._lock = threading.Lock()
        self._is_at_work = False
        self._is_closed = False

    @property
    def job(self) -> Job | None:
        """The work that goes on; None where this desk does not work on the queue."""
        return next(iter(self._jobs.running(KIND)), None)

    def wake(self) -> None:
        """Begin to work where nobody of this desk does and something waits.

        To be called when a run was queued: whoever is at work sees it, or ends before it was
        queued and another begins here.
        """
        with self._lock:
            if self._is_at_work or self._waiting() is None:
                return
            self._is_at_work = True
        self._jobs.start(KIND, self._work)

    def close(self) -> None:
        """Begin no further run, and give the one that is at work a moment to end."""
        with self._lock:
            self._is_closed = True
        if (job := self.job) is not None:
            job.wait(_CLOSING_SECONDS)

    def _work(self, job: Job) -> str:
        try:
            while (run_id := self._next()) is not None:
                # Here a person may end the work; a run that has begun is canceled by its own page.
                job.tell(run_id)
                work(
                    self._lab(),
                    now=self._now,
                    clock=time.monotonic,
                    notify=job.told.append,
                    only=run_id,
                    asked=self._library(),
                )
        except BaseException:
            with self._lock:
                self._is_at_work = False
            raise
        return "/lab"

    def _next(self) -> str | None:
        with self._lock:
            found = self._waiting()
            self._is_at_work = found is not None
            return found

    def _waiting(self) -> str | None:
        if self._is_closed:
            return None
        with self._lab().store.reading() as reading:
            queued = list_runs(reading, "queued")
        return queued[0][0].id if queued else None


# What ends so soon is answered at once; what takes longer is followed on a page of its own.
_SOON_SECONDS = 2.0


@dataclass(frozen=True)
class Unsaved:
    """A form that could not be stored, kept until it is: what was typed, and what is wrong."""

    values: object
    trouble: str


class OpenLab:
    """The laboratory of a desk, opened when it is first asked for and when settings change."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.unsaved: dict[str, Unsaved] = {}
        self.worker = Worker(desk.jobs, lambda: self.lab, lambda: desk.library, self.now)
        self._lock = threading.Lock()
        self._lab: Laboratory | None = None

    @property
    def lab(self) -> Laboratory:
        """The open laboratory.

        Raises:
            ConfigurationError: the workspace has none (any more).
            DamagedFileError: its store cannot be read.
        """
        with self._lock:
            if self._lab is None or self._lab.workspace is not self.desk.workspace:
                self._lab = open_laboratory(self.desk.workspace)
            return self._lab

    @property
    def person(self) -> str:
        """Who writes."""
        return self.desk.person

    def now(self) -> str:
        """Return the time of the desk's clock, ISO 8601 with zone."""
        return self.desk.now().astimezone(UTC).isoformat(timespec="milliseconds")

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Write now, as the person who sits here."""
        with self.lab.store.writing(self.now(), self.person) as writing:
            yield writing

    def run(self, run_id: str) -> Run:
        """Return a run.

        Raises:
            HTTPException: 404, there is none.
        """
        with self.lab.store.reading() as reading:
            try:
                return read_run(reading, run_id)[0]
            except UsageError as error:
                raise HTTPException(404, str(error)) from error

    def named(self, sentence: str) -> str:
        """Return a sentence with the names of products instead of their ids."""
        with self.lab.store.reading() as reading:
            products = list_products(reading, deleted=True)
        for one in products:
            sentence = sentence.replace(one.id, one.name)
        return sentence

    def follow(self, kind: str, work: Callable[[Job], str]) -> Response:
        """Do what may ask a model in a thread; answer with its result, or where it is followed."""
        job = self.desk.jobs.start(kind, work)
        job.wait(_SOON_SECONDS)
        done = job.state == "done" and bool(job.result)
        return RedirectResponse(job.result if done else f"/work/{job.key}", 303)

    def begin(self) -> None:
        """Go on with what waits in the queue, behind the opening of the desk."""
        threading.Thread(target=self._go_on, name="desk laboratory", daemon=True).start()

    def close(self) -> None:
        """Let the work end."""
        self.worker.close()

    def _go_on(self) -> None:
        try:
            self.worker.wake()
        except RagError:
            # Whoever opens a page of the laboratory is told what is wrong, by the same opening.
            return


def _opened(request: Request, _: DeskOf) -> OpenLab:
    return cast("OpenLab", request.app.state.laboratory)


LabOf = Annotated[OpenLab, Depends(_opened)]


def status_of(error: RagError) -> int:
    """Return with which status a form is shown again."""
    return 409 if isinstance(error, ChangedMeanwhileError) else 400


def seen_of(form: FormData) -> int:
    """Return the version that a form was made from.

    Raises:
        UsageError: the form does not say.
    """
    said = text_of(form, "seen")
    if not said.isdecimal():
        raise UsageError("this form does not say which version it was made from: load it again.")
    return int(said)


def whole_number(text: str, name: str) -> int:
    """Return a number as it was typed.

    Raises:
        UsageError: it is none.
    """
    try:
        return int(text.strip())
    except ValueError:
        raise UsageError(f"'{name}' must be a whole number, got '{text}'.") from None


def number(text: str, name: str) -> float:
    """Return a number as it was typed.

    Raises:
        UsageError: it is none. A comma is not read: it means thousands to some, decimals to others.
    """
    try:
        return float(text.strip())
    except ValueError:
        raise UsageError(
            f"'{name}' must be a number, with a point before decimals, got '{text}'."
        ) from None


def download(data: bytes, kind: str, name: str) -> Response:
    """Return a file to keep; its name may be in any script."""
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(data, media_type=kind, headers=headers)


def texts_of(form: FormData, name: str) -> list[str]:
    """Return every value of a field as it was typed, in order; files are left out."""
    return [value.replace("\r\n", "\n") for value in form.getlist(name) if isinstance(value, str)]
