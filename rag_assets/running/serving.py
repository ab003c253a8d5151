"""The Dagster UI of a workspace: its processes, started, watched and ended together."""

import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import psutil
import yaml

from rag_assets.model import UsageError
from rag_assets.running.instance import prepare_environment
from rag_assets.storage import require_writable
from rag_assets.storage.execution import interruptible
from rag_assets.workspace import SENSORS_VARIABLE, Workspace

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

    The child can be reloaded from the UI. Nothing of Dagster's starts it again when it dies,
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


_LOOK_SECONDS = 1.0
# Dagster writes its history's journal (a write-ahead log of up to 4 MB) before the history itself,
# and a first run its events; a disk with less left would fail at the first click.
_NEEDED_BYTES = 8_000_000


def serve_ui(
    workspace: Workspace,
    port: int,
    *,
    with_daemon: bool,
    with_sensors: bool,
    when_it_answers: Callable[[], None],
) -> int:
    """Run the UI until it ends or is interrupted; returns its exit code.

    Args:
        with_daemon: which starts the runs that are asked for in the UI.
        with_sensors: they ask for runs of their own accord.
        when_it_answers: called once, when the port does.

    Raises:
        UsageError: the port is taken.
        StorageError: Dagster could not write its history, or there is no room for it.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(
                f"port {port} is taken: is the UI open already? `rag ui --port {port + 1}` takes "
                "another."
            ) from error
    prepare_environment(workspace)
    require_writable(workspace.dagster_home, _NEEDED_BYTES)
    os.environ[SENSORS_VARIABLE] = "on" if with_sensors else "off"
    with interruptible(), tempfile.TemporaryDirectory(prefix="rag-ui-") as folder:
        # A path of its own below the system's: a Unix socket's name has 107 bytes at most.
        code_server = CodeServer(Path(folder) / "code.sock", workspace.root)
        named = Path(folder) / "workspace.yaml"
        named.write_text(yaml.safe_dump(_workspace_file(code_server.socket)), encoding="utf-8")
        commands = [["rag_assets.running.webserver", str(named), str(port)]]
        if with_daemon:
            # Each sensor would say every five seconds that it looked; the UI shows its ticks.
            daemon = ["dagster._daemon", "run", "-w", str(named), "--log-level", "warning"]
            commands.append(daemon)
        try:
            with code_server:
                # They would complain of a code server that does not answer yet.
                while not code_server.answers and code_server.is_tried:
                    code_server.look()
                    time.sleep(_LOOK_SECONDS)
                with _running(commands, workspace.root) as children:
                    has_answered = False
                    while all(child.poll() is None for child in children):
                        if not has_answered and _answers(port):
                            has_answered = True
                            when_it_answers()
                        code_server.look()
                        time.sleep(_LOOK_SECONDS)
                    return next(child.returncode for child in children if child.poll() is not None)
        except KeyboardInterrupt:
            return 0


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(_LOOK_SECONDS)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _workspace_file(code_socket: Path) -> dict[str, object]:
    return {"load_from": [{"grpc_server": {"socket": str(code_socket), "location_name": LOCATION}}]}


@contextmanager
def _running(
    commands: Sequence[Sequence[str]], folder: Path
) -> "Iterator[list[subprocess.Popen[bytes]]]":
    """Run a module with each command line; at the end all are ended."""
    children: list[subprocess.Popen[bytes]] = []
    try:
        children.extend(start_module(command, folder) for command in commands)
        yield children
    finally:
        for child in children:
            end_process(child)
