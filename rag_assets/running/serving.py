"""The Dagster UI of a workspace: its processes, started, watched and ended together."""

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

from rag_assets.execution import interruptible
from rag_assets.model import UsageError
from rag_assets.running.code_server import LOCATION, CodeServer, end_process, start_module
from rag_assets.running.instance import prepare_environment
from rag_assets.storage import require_writable
from rag_assets.workspace import SENSORS_VARIABLE, Workspace

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
