"""Many documents through a few worker processes, each with limits of time and memory."""

import atexit
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rag_assets.model import ParseFailure, ParseReport
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.registry import carried_recipes, import_registered
from rag_assets.parsing.stored import ParseJob, Reader, failed_report
from rag_assets.parsing.worker_process import WorkerProcess
from rag_assets.storage import Notify
from rag_assets.storage.execution import (
    Execution,
    Limits,
    LocalExecution,
    OnPart,
    WorkerStoppedError,
)

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
    """At most one worker that has no job yet, or none at the moment."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._found: WorkerProcess | None = None
        self._keeps = False
        self._end: threading.Timer | None = None

    def put(self, settings: ParseSettings, *, keeps: bool) -> None:
        """Have a worker ready; where it keeps, one whose jobs are done is taken back."""
        self._wait_no_longer()
        with self._guard:
            self._keeps = keeps
            found = self._found
            if found is not None and not found.serves(settings):
                found.close()
                found = None
            self._found = found or WorkerProcess(settings)

    def take(self, settings: ParseSettings) -> WorkerProcess | None:
        """Return the worker where it was started for the same settings, None else."""
        with self._guard:
            if self._found is None or not self._found.serves(settings):
                return None
            worker, self._found = self._found, None
        return worker

    def take_back(self, worker: WorkerProcess) -> bool:
        """Say whether a worker whose jobs are done is kept; else it is the caller's to end."""
        with self._guard:
            if not self._keeps or self._found is not None or not worker.is_alive:
                return False
            self._found = worker
        return True

    def close(self) -> None:
        self._wait_no_longer()
        with self._guard:
            found, self._found, self._keeps = self._found, None, False
        if found is not None:
            found.close()

    def close_after(self, seconds: float) -> None:
        """End the worker unless it is wanted again before that."""
        self._end = threading.Timer(seconds, self.close)
        self._end.daemon = True
        self._end.start()

    def _wait_no_longer(self) -> None:
        if self._end is not None and self._end is not threading.current_thread():
            self._end.cancel()
        self._end = None


_spare = _Spare()
atexit.register(_spare.close)


@contextmanager
def worker_started_ahead(settings: ParseSettings, keep_seconds: float = 0.0) -> Iterator[None]:
    """Start a worker now, whose imports then cost nobody's time; `parse_files` takes it.

    Args:
        keep_seconds: how long after the block a worker waits for the next one; at once where it is
            0, or when this process ends, it is ended.
    """
    _spare.put(settings, keeps=keep_seconds > 0)
    try:
        yield
    finally:
        if keep_seconds > 0:
            _spare.close_after(keep_seconds)
        else:
            _spare.close()


@dataclass(frozen=True, slots=True)
class ParseResult:
    """A report, and whether it is of a parse that stood there before."""

    report: ParseReport
    reused: bool


@dataclass(frozen=True, slots=True)
class ParseKind:
    """Parsing: each document in a worker process that ends with whatever harms it."""

    settings: ParseSettings
    name: str = "parse"
    # Another process, where an engine opens the worker, knows nothing of `register_parser` here.
    registered: list[dict[str, str]] = field(default_factory=carried_recipes)

    @property
    def limits(self) -> Limits:
        """Those of the settings, for one document."""
        settings = self.settings
        return Limits(settings.workers, settings.seconds_per_document, settings.megabytes_of_memory)

    def open_worker(self) -> "_ParseWorker":
        """Return a worker whose process starts with its first document."""
        if self.registered != carried_recipes():
            import_registered(self.registered)
        return _ParseWorker(self.settings)

    def claim(self, job: ParseJob) -> Path:
        """Return a file beside the parses; the second run takes the parse that the first wrote."""
        return job.folder / f".{job.content_hash}.lock"

    def give_up(self, job: ParseJob, trouble: str) -> ParseResult:
        """Return a failure of resources: a document alone ends only its own process.

        What ends the worker around it is the machine: its memory in the first place.
        """
        failure = ParseFailure(
            "memory_limit",
            f"The workers died while they parsed the document, most likely since the machine had "
            f"no memory left ({trouble}): lower parse.workers or give the machines more memory, "
            "then run with --retry.",
            kind="resource",
        )
        return ParseResult(failed_report(job, Reader(), failure, 0.0), reused=False)


class _ParseWorker:
    """Does jobs in a process, which is replaced when a document has cost it."""

    def __init__(self, settings: ParseSettings) -> None:
        self._settings = settings
        self._guard = threading.Lock()
        self._is_stopped = False
        self._process: WorkerProcess | None = None

    def do(
        self,
        job: ParseJob,
        on_part: OnPart[ParseJob] | None,  # noqa: ARG002 - a document is told whole
    ) -> ParseResult:
        """Parse one file, or take the parse of it that stands there."""
        process = self._ready_process()
        report, reused = process.parse(job)
        # A worker that ran out of memory has a torn heap: the next job gets a fresh one.
        if not process.is_alive or report.reason_code == "memory_limit":
            process.kill_process()
            self.close()
        return ParseResult(report, reused)

    def stop(self) -> None:
        """End the document at hand."""
        with self._guard:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill_process()

    def close(self) -> None:
        """End the process, or leave it to who needs one next."""
        with self._guard:
            process, self._process = self._process, None
        if process is not None and not _spare.take_back(process):
            process.close()

    def _ready_process(self) -> WorkerProcess:
        with self._guard:
            if self._is_stopped:
                raise WorkerStoppedError
            if self._process is not None:
                return self._process
            process = self._process = _spare.take(self._settings) or WorkerProcess(self._settings)
        process.wait_until_ready()
        return process


def parse_files(
    jobs: Iterable[ParseJob],
    settings: ParseSettings,
    on_done: Callable[[ParseReport], None] | None = None,
    *,
    execution: Execution | None = None,
    notify: Notify = lambda _: None,
) -> Iterator[ParseReport]:
    """Parse files in worker processes and yield their reports as they come.

    One file harms one file: whatever happens to a document is in its report. A time-out or crash
    costs its worker, which is replaced. Closing the iterator early ends the workers. A document
    that another run is parsing comes last, and is then found.

    Args:
        jobs: each with the place of its output, which the worker writes.
        settings: number of workers, limits and rules.
        on_done: called with every report before it is yielded.
        execution: where they are parsed; this machine where nothing else is said.
        notify: told when another process is waited for.

    Raises:
        StorageError: the disk is full or refuses a write.
        ConfigurationError: an installed parser cannot be loaded.
        RagError: no worker starts.
    """
    engine = execution or LocalExecution()
    for result in engine.map(ParseKind(settings), jobs, notify):
        for observer in _observers:
            observer.append(("reused" if result.reused else "parsed", result.report.content_hash))
        if on_done is not None:
            on_done(result.report)
        yield result.report
