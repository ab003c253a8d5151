"""The parent's side of one worker process: start, ask, give up, kill."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from rag_assets.model import ConfigurationError, ParseFailure, ParseReport, RagError, StorageError
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.registry import registered_recipes
from rag_assets.parsing.stored import ParseJob, Reader, failed_report, restore_report
from rag_assets.storage import remove_unfinished

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
        pages = f" and {self._settings.ocr_seconds_per_page:g} s for each scanned page"
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
            "save the file again with another program and replace it.",
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
