"""The process that holds the definitions under `rag ui`, started again when it dies."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import psutil

_log = logging.getLogger(__name__)

# The code location, as workspace.yaml names it.
MODULE = "rag_assets.definitions"
LOCATION = "rag_assets"
# A file that kills the process at its first look kills the next one too: then it is left, and said.
MOST_RESTARTS = 5
_WITHIN_SECONDS = 600
# How long a process may take to end after Ctrl-C before it is killed.
_STOP_SECONDS = 60


class CodeServer:
    """Dagster's code server: a process that stays, and a child of it that loads the definitions.

    The child can be loaded anew from the UI. Nothing of Dagster's starts it again when it dies,
    and then neither the UI nor a sensor can do anything any more. The web server and the daemon
    look for the socket by themselves and take up what answers there.

    Args:
        at: the Unix socket on which it answers; nobody but this user can open its folder.
        folder: where it runs.
    """

    def __init__(self, at: Path, folder: Path) -> None:
        self.socket = at
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._had_child = False
        self._restarts: list[float] = []

    def __enter__(self) -> Self:
        self._start()
        return self

    @property
    def answers(self) -> bool:
        """Whether the definitions have been loaded, or cannot be: the UI would show the error."""
        return self.socket.exists()

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            end_process(self._process)

    @property
    def is_tried(self) -> bool:
        """Whether it runs or is started again; False once it has died too often."""
        return self._process is not None

    def look(self) -> None:
        """Start the code server again if it, or the child that loads the definitions, has died."""
        process = self._process
        if process is None or self._lives(process):
            return
        process.kill()
        process.wait()
        _close_pipe(process)
        now = time.monotonic()
        self._restarts = [then for then in self._restarts if now - then < _WITHIN_SECONDS]
        if len(self._restarts) >= MOST_RESTARTS:
            self._process = None
            _log.error(
                "The code server died again and is not started any more: %d times in %d minutes. "
                "The UI shows what was, but runs nothing. Look at what was added or edited last "
                "(raw/, namespaces/, queries/, drafts/), then end `rag ui` and start it again.",
                MOST_RESTARTS + 1,
                _WITHIN_SECONDS // 60,
            )
            return
        self._restarts.append(now)
        _log.warning(
            "The code server died and is started again (%d of %d times in %d minutes).",
            len(self._restarts),
            MOST_RESTARTS,
            _WITHIN_SECONDS // 60,
        )
        self._start()

    def _start(self) -> None:
        self._had_child = False
        self.socket.unlink(missing_ok=True)
        command = ["dagster", "code-server", "start"]
        command += ["--socket", str(self.socket), "--module-name", MODULE]
        command += ["--location-name", LOCATION, "--log-level", "warning"]
        # Dagster puts this folder first where modules are looked for; else the workspace's.
        command += ["--working-directory", str(self.socket.parent)]
        # Else it would start `dagster` of the PATH, which may be another installation's.
        command += ["--use-python-environment-entry-point", "--inject-env-vars-from-instance"]
        self._process = start_module(command, self._folder, first=self.socket.parent)

    def _lives(self, process: "subprocess.Popen[bytes]") -> bool:
        if process.poll() is not None:
            return False
        has_child = any(_is_living(child) for child in psutil.Process(process.pid).children())
        self._had_child = self._had_child or has_child
        return has_child or not self._had_child


def _is_living(process: psutil.Process) -> bool:
    try:
        is_living: bool = process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended since it was listed
        return False
    return is_living


def start_module(
    arguments: Sequence[str], folder: Path, first: Path | None = None
) -> "subprocess.Popen[bytes]":
    """Start a module with arguments, out of the reach of the terminal's Ctrl-C.

    Ctrl-C reaches `rag ui` alone, which then ends its processes in order, each asked once. Where
    `rag ui` is killed they end by themselves: `rag_assets.running.attended` watches the pipe.

    Args:
        folder: where it runs; nothing is imported from there.
        first: put before PYTHONPATH: Dagster takes the first place where modules are looked for
            away while it loads definitions.
    """
    searched = [str(first or ""), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "rag_assets.running.attended", *arguments],
        cwd=folder,
        # -P for what Dagster starts in turn: code servers and runs.
        env={
            **os.environ,
            "PYTHONSAFEPATH": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, searched)),
        },
        stdin=subprocess.PIPE,
        process_group=0,
    )


def _close_pipe(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        process.stdin.close()


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all that it started, runs too, as Ctrl-C does; wait until all are gone."""
    try:
        family = [*psutil.Process(process.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        family = []
    process.send_signal(signal.SIGINT)
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        _log.warning("Process %d did not end after Ctrl-C; killed.", process.pid)
        process.kill()
        process.wait()
    _close_pipe(process)
    _, left = psutil.wait_procs(family, timeout=_STOP_SECONDS)
    for member in left:
        with suppress(psutil.NoSuchProcess):
            member.kill()
