"""Commands in processes of their own, under limits, without paying for imports each time.

A server process imports what every command imports, and is forked for each command: the same code
in a process that can be killed and starved, some seconds of processor time cheaper.
"""

import importlib
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

# A process that is not done by then hangs; the slowest takes a tenth of it on a free machine.
TIMEOUT_SECONDS = 240
# Beyond what it has after its imports. A worker may take 2 GB by default, and the processes beside
# it as much: more is a leak.
MEMORY_BYTES = 6 * 2**30
CLI = "rag_assets.cli"
_PRELOADED = ["benchmarks.attacks.preloaded", "benchmarks.attacks.attack"]
_FOLDER = Path(__file__).parents[2]


class BrokeError(AssertionError):
    """What should have held did not; the text says what was seen."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process gets.

    Args:
        memory_bytes: of address space beyond what it has at its start.
        files: open at once.
    """

    memory_bytes: int = MEMORY_BYTES
    files: int = 1024


class Started:
    """A running `main()`; what it prints goes into files of `folder`."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        before: Callable[[], None] | None,
        limits: Limits,
        module: str,
    ) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOADED)
        self._arguments = arguments
        self._out, self._err = folder / "stdout", folder / "stderr"
        given = (arguments, str(self._out), str(self._err), before, limits, module)
        self._process = context.Process(target=_run, args=given)
        self._process.start()

    def end(self, seconds: float = TIMEOUT_SECONDS) -> subprocess.CompletedProcess[str]:
        """Wait for it.

        Raises:
            BrokeError: it hangs.
        """
        self._process.join(seconds)
        code = self._process.exitcode
        if code is None:
            self.kill()
            raise BrokeError(f"hangs: not done after {seconds:g} s; {self._said(self._err)[-150:]}")
        return subprocess.CompletedProcess(
            self._arguments, code, self._said(self._out), self._said(self._err)
        )

    def kill(self) -> None:
        """End it and what it started, whatever they do."""
        if self._process.pid is not None and self._process.exitcode is None:
            family = psutil.Process(self._process.pid).children(recursive=True)
            self._process.kill()
            self._process.join()
            for member in family:
                if member.is_running():
                    member.kill()

    @staticmethod
    def _said(path: Path) -> str:
        return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def start(
    *arguments: str | Path,
    before: Callable[[], None] | None = None,
    limits: Limits | None = None,
    module: str = CLI,
    folder: Path,
) -> Started:
    """Start a `main()` under limits.

    Args:
        before: runs first, in that process.
        folder: where a new folder is made for what it prints.
    """
    printed = folder / f"printed-{time.monotonic_ns()}"
    printed.mkdir()
    return Started([*map(str, arguments)], printed, before, limits or Limits(), module)


def _run(
    arguments: Sequence[str],
    out: str,
    err: str,
    before: Callable[[], None] | None,
    limits: Limits,
    module: str,
) -> None:
    """Become the command: the body of the forked process."""
    os.setsid()
    for path, descriptor in ((out, 1), (err, 2)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(_FOLDER)
    sys.argv = [module, *arguments]
    main: Any = importlib.import_module(module).main
    if before is not None:
        before()
    has = psutil.Process().memory_info().vms
    memory = has + limits.memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits.files, limits.files))
    main()
