"""The thread that works on the queue while the desk is open, one run after the other."""

import threading
import time
from collections.abc import Callable

from rag_assets.desk.jobs import Job, Jobs
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.queue import work
from rag_assets.lab.runs import list_runs
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
