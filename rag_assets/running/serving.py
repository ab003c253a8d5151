"""The Dagster UI of a workspace."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable

from rag_assets.model import UsageError
from rag_assets.running.instance import prepare_environment
from rag_assets.storage import require_writable
from rag_assets.workspace import Workspace, shipped_file


def serve_ui(
    workspace: Workspace, port: int, *, with_sensors: bool, begin: Callable[[], None]
) -> int:
    """Run the UI until it ends or is interrupted; returns its exit code.

    Args:
        begin: called when nothing speaks against the start, before it.

    Raises:
        UsageError: the port is taken. `dagster dev` itself would go on with a second daemon.
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
    require_writable(workspace.dagster_home)
    begin()
    command = [sys.executable, "-m"]
    command += ["dagster", "dev"] if with_sensors else ["dagster_webserver"]
    command += ["-w", str(shipped_file("workspace.yaml")), "-h", "127.0.0.1", "-p", str(port)]
    # Each sensor would say every five seconds that it looked; the UI shows its ticks.
    command += ["--log-level", "warning"]
    # A shell that starts us in the background makes SIGINT ignored, and a child inherits that:
    # then nothing could end it but SIGKILL.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    child = subprocess.Popen(command, cwd=workspace.root, env=os.environ.copy())
    try:
        return child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        child.wait()
        return 0
    finally:
        signal.signal(signal.SIGINT, previous)
