"""Many documents through a few worker processes, each with limits of time and memory."""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rag_assets.execution import Execution, Limits, LocalExecution, OnPart, WorkerStoppedError
from rag_assets.model import ConfigurationError, ParseFailure, ParseReport, RagError, StorageError
from rag_assets.parsing.registry import carried_recipes, import_registered, registered_recipes
from rag_assets.parsing.stored import ParseJob, Reader, failed_report, restore_report
from rag_assets.settings import ParseSettings
from rag_assets.storage import Notify, remove_unfinished

# The parent's side of one worker process: start, ask, give up, kill.

# Imports take about a second; on a machine that is busy or cold, many times that.
_START_SECONDS = 120.0
_READ_BYTES = 65536
_STDERR_TAIL_BYTES = 2000
# What the C++ runtime and Python print when an allocation fails outside a handler.
_MEMORY_WORDS = ("bad_alloc", "MemoryError", "Cannot allocate memory", "out of memory")
_TROUBLES: dict[str, type[RagError]] = {
    "StorageError": StorageError,
    "ConfigurationError": ConfigurationError,
}


class WorkerTimeoutError(Exception):
    """The worker has not answered in time."""


class WorkerDiedError(Exception):
    """The worker has closed its pipe."""


class WorkerProcess:
    """One running `rag_assets.parsing.worker`, in a process group of its own.

    Raises:
        RagError: it does not start.
        ConfigurationError: an installed or registered parser cannot be loaded.
    """

    def __init__(self, settings: ParseSettings) -> None:
        self._settings = settings
        self._registered = registered_recipes()
        self._buffer = b""
        self._is_ready = False
        # A file, not a pipe: a parser that prints without end must not block.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by kill()
        package_root = str(Path(__file__).resolve().parents[2])
        search_path = [package_root, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            # Two cores a document are no faster for Tesseract, and slower beside other workers.
            "OMP_THREAD_LIMIT": "1",
            **os.environ,
            "PYTHONPATH": os.pathsep.join(search_path),
            # Arenas and pools reserve address space that RLIMIT_AS would count as used.
            "MALLOC_ARENA_MAX": "2",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        }
        # -P: a file `csv.py` in the user's folder must not be taken for the library's.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rag_assets.parsing.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
            start_new_session=True,
        )

    def serves(self, settings: ParseSettings) -> bool:
        """Say whether it lives, and was started for these settings and the parsers of now."""
        return (
            self.is_alive
            and self._settings == settings
            and self._registered == registered_recipes()
        )

    @property
    def pid(self) -> int:
        """The worker's process id, also that of its group."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Send the settings and wait for the worker's imports; once is enough.

        Raises:
            RagError: it does not start.
        """
        if self._is_ready:
            return
        deadline = time.monotonic() + _START_SECONDS
        try:
            self._send({"settings": self._settings.model_dump(), "registered": self._registered})
            self._receive(deadline)
        except (WorkerTimeoutError, WorkerDiedError, BrokenPipeError) as error:
            self.kill_process()
            raise RagError(
                "A parsing worker does not start "
                f"({self._describe_exit()}): {self._stderr_tail() or 'it printed nothing'}"
            ) from error
        self._is_ready = True

    def parse(self, job: ParseJob) -> tuple[ParseReport, bool]:
        """Return the report of `job` and whether an earlier parse was reused.

        Raises:
            StorageError: the worker could not write the parse.
        """
        started = time.monotonic()
        deadline = started + self._settings.seconds_per_document
        reader = Reader()
        try:
            self._send(job.to_message())
            while True:
                message = self._receive(deadline)
                if message["event"] == "report":
                    return restore_report(message["report"]), bool(message["reused"])
                if message["event"] == "allowance":
                    deadline += message["seconds"]
                    continue
                fields = {
                    name: message[name] for name in ("media_type", "parser", "parser_version")
                }
                reader = Reader(**fields)
        except WorkerTimeoutError:
            failure = self._time_failure()
            self.kill_process()
        except (WorkerDiedError, BrokenPipeError):
            self.kill_process()
            failure = self._death_failure(reader)
        self._remove_leavings(job.folder)
        return failed_report(job, reader, failure, time.monotonic() - started), False

    def call(self, function: str, arguments: dict[str, Any]) -> Any:
        """Return what a function of ours returns, called there under the limits of the settings.

        Args:
            function: `module:name`; what it takes and returns is JSON.

        Raises:
            WorkerTimeoutError: it took longer than a document may; so too the next.
            WorkerDiedError: it harmed the process, for instance for want of memory.
        """
        seconds = self._settings.seconds_per_document
        try:
            self.wait_until_ready()
            self._send({"call": function, "arguments": arguments, "seconds": seconds})
            return self._receive(time.monotonic() + seconds)["value"]
        except (WorkerTimeoutError, WorkerDiedError):
            self.kill_process()
            raise
        except BrokenPipeError as error:
            self.kill_process()
            raise WorkerDiedError from error

    @property
    def is_alive(self) -> bool:
        """Whether another job can be sent."""
        return self._process.poll() is None

    def kill_process(self) -> None:
        """End the worker with all that it may have started; its files are whole or not there."""
        if self._process.poll() is None:
            # It may end by itself between the two lines.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """End the worker and give its pipes back."""
        self.kill_process()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                _close(stream)

    def _send(self, message: dict[str, Any]) -> None:
        stream = self._process.stdin
        assert stream is not None  # noqa: S101 - opened as a pipe above
        stream.write(json.dumps(message).encode() + b"\n")
        stream.flush()

    def _receive(self, deadline: float) -> dict[str, Any]:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101 - opened as a pipe above
        poll = select.poll()
        poll.register(stream, select.POLLIN | select.POLLHUP)
        while b"\n" not in self._buffer:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not poll.poll(remaining * 1000):
                raise WorkerTimeoutError
            received = os.read(stream.fileno(), _READ_BYTES)
            if not received:
                raise WorkerDiedError
            self._buffer += received
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if message["event"] == "trouble":
            raise _TROUBLES[message["error"]](message["message"])
        return message

    def _time_failure(self) -> ParseFailure:
        pages = " and, for each scanned page, parse.ocr_seconds_per_page"
        limits = f"parse.seconds_per_document{pages if self._settings.ocr != 'none' else ''}"
        return ParseFailure(
            "time_limit",
            f"The document took longer than {self._settings.seconds_per_document:g} s "
            f"({limits}): raise the setting in config.yaml or split the document, then run with "
            "--retry.",
            kind="resource",
        )

    def _death_failure(self, reader: Reader) -> ParseFailure:
        exit_code, tail = self._process.returncode, self._stderr_tail()
        if exit_code == -signal.SIGXCPU:
            return self._time_failure()
        # The kernel ends a process with SIGKILL when the machine has no memory left; a parser
        # does not do that to itself.
        if exit_code == -signal.SIGKILL or any(word in tail for word in _MEMORY_WORDS):
            return ParseFailure(
                "memory_limit",
                "The document needs more memory than there is (parse.megabytes_of_memory: "
                f"{self._settings.megabytes_of_memory}): raise the setting, free memory or split "
                "the document, then run with --retry.",
                kind="resource",
            )
        return ParseFailure(
            "parser_crashed",
            f"The parser {reader.parser or '(not yet chosen)'} died ({self._describe_exit()}): "
            "save the file anew with another program and replace it.",
        )

    def _describe_exit(self) -> str:
        exit_code = self._process.returncode
        if exit_code is not None and exit_code < 0:
            return f"signal {signal.Signals(-exit_code).name}"
        return f"exit code {exit_code}"

    def _stderr_tail(self) -> str:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR_TAIL_BYTES))
        return self._stderr.read().decode("utf-8", "replace").strip()

    def _remove_leavings(self, folder: Path) -> None:
        remove_unfinished(folder, lambda process: process != self.pid)


def _close(stream: Any) -> None:
    # What was unsent is of no use to a process that has ended.
    with suppress(BrokenPipeError):
        stream.close()


# Many documents through a few worker processes.

__all__ = [
    "ParseEvent",
    "ParseJob",
    "ParseKind",
    "ParseResult",
    "observe_parses",
    "parse_files",
    "worker_started_ahead",
]

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
