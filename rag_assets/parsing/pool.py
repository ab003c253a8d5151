"""Many documents through a few worker processes."""

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

from rag_assets.model import ParseReport
from rag_assets.parsing.job import ParseJob
from rag_assets.parsing.process import WorkerProcess
from rag_assets.settings import ParseSettings

__all__ = ["ParseEvent", "ParseJob", "observe_parses", "parse_files", "worker_started_ahead"]

ParseEvent = tuple[Literal["parsed", "reused"], str]

_observers: list[list[ParseEvent]] = []


@contextmanager
def observe_parses() -> Iterator[list[ParseEvent]]:
    """Yield a list that grows by (`parsed` or `reused`, content hash) for every job done.

    The call site at which "nothing unchanged is parsed again" is counted.
    """
    seen: list[ParseEvent] = []
    _observers.append(seen)
    try:
        yield seen
    finally:
        # By identity: two lists that hold the same are equal.
        _observers[:] = [observer for observer in _observers if observer is not seen]


class _Spare:
    """At most one worker that has been started before there is a job for it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._found: tuple[ParseSettings, WorkerProcess] | None = None

    def put(self, settings: ParseSettings) -> None:
        with self._guard:
            if self._found is None:
                self._found = settings, WorkerProcess(settings)

    def take(self, settings: ParseSettings) -> WorkerProcess | None:
        """Return the worker where it was started for the same settings, None else."""
        with self._guard:
            if self._found is None or self._found[0] != settings:
                return None
            worker, self._found = self._found[1], None
        return worker

    def close(self) -> None:
        with self._guard:
            found, self._found = self._found, None
        if found is not None:
            found[1].close()


_spare = _Spare()


@contextmanager
def worker_started_ahead(settings: ParseSettings) -> Iterator[None]:
    """Start a worker now, whose imports then cost nobody's time; `parse_files` takes it.

    One that was not taken when the block is left is ended.
    """
    _spare.put(settings)
    try:
        yield
    finally:
        _spare.close()


def parse_files(
    jobs: Iterable[ParseJob],
    settings: ParseSettings,
    on_done: Callable[[ParseReport], None] | None = None,
) -> Iterator[ParseReport]:
    """Parse files in worker processes and yield their reports as they come.

    One file harms one file: whatever happens to a document is in its report. A time-out or crash
    costs its worker, which is replaced. Closing the iterator early ends the workers.

    Args:
        jobs: each with the place of its output, which the worker writes.
        settings: number of workers, limits and rules.
        on_done: called with every report before it is yielded.

    Raises:
        StorageError: the disk is full or refuses a write.
        ConfigurationError: an installed parser cannot be loaded.
        RagError: no worker starts.
    """
    pending = deque(jobs)
    total = len(pending)
    lane_count = min(total, settings.workers or os.cpu_count() or 1)
    outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
    lanes = [_Lane(pending, settings, outcomes) for _ in range(lane_count)]
    try:
        for lane in lanes:
            lane.start()
        for _ in range(total):
            outcome = outcomes.get()
            if isinstance(outcome, BaseException):
                raise outcome
            report, reused = outcome
            for observer in _observers:
                observer.append(("reused" if reused else "parsed", report.content_hash))
            if on_done is not None:
                on_done(report)
            yield report
    finally:
        for lane in lanes:
            lane.stop()


_Outcome = tuple[ParseReport, bool] | BaseException


class _Lane:
    """A thread with at most one worker process at a time."""

    def __init__(
        self,
        pending: deque[ParseJob],
        settings: ParseSettings,
        outcomes: "queue.SimpleQueue[_Outcome]",
    ) -> None:
        self._pending = pending
        self._settings = settings
        self._outcomes = outcomes
        self._thread = threading.Thread(target=self._run, name="rag-parsing", daemon=True)
        self._guard = threading.Lock()
        self._is_stopped = False
        self._worker: WorkerProcess | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        with self._guard:
            self._is_stopped = True
            if self._worker is not None:
                self._worker.kill_process()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while (job := self._next_job()) is not None:
                worker = self._ready_worker()
                if worker is None:
                    return
                report, reused = worker.parse(job)
                # A worker that ran out of memory has a torn heap: the next job gets a fresh one.
                if not worker.is_alive or report.reason_code == "memory_limit":
                    self._drop_worker()
                self._outcomes.put((report, reused))
        except BaseException as error:  # noqa: BLE001 - raised again by the consumer's thread
            self._outcomes.put(error)
        finally:
            self._drop_worker()

    def _next_job(self) -> ParseJob | None:
        try:
            return self._pending.popleft()
        except IndexError:
            return None

    def _ready_worker(self) -> WorkerProcess | None:
        """Return a worker that waits for a job, None once the lane is stopped."""
        with self._guard:
            if self._is_stopped:
                return None
            if self._worker is not None:
                return self._worker
            self._worker = _spare.take(self._settings) or WorkerProcess(self._settings)
        self._worker.wait_until_ready()
        return self._worker

    def _drop_worker(self) -> None:
        with self._guard:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
