"""What the laboratory's pages share: the open laboratory, who writes and when."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from typing import Annotated, cast
from urllib.parse import quote

from fastapi import Depends, HTTPException, Request
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.jobs import Job
from rag_assets.desk.laboratory.worker import Worker
from rag_assets.desk.state import Desk, DeskOf, text_of
from rag_assets.lab.laboratory import Laboratory, open_laboratory
from rag_assets.lab.products import list_products
from rag_assets.lab.runs import Run, read_run
from rag_assets.lab.store import Writing
from rag_assets.model import ChangedMeanwhileError, RagError, UsageError

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
        """Return a sentence with the names of products in the place of their ids."""
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
