"""Run the desk until it is interrupted, with models read behind it."""

import socket
import threading
from collections.abc import Callable, Sequence
from datetime import datetime

from rag_assets.desk.guard import Door, own_hosts
from rag_assets.desk.state import Desk
from rag_assets.model import RagError, UsageError
from rag_assets.storage.execution import interruptible
from rag_assets.workspace import Workspace
from rag_assets.workspace.desk_address import desk_token, opened_at

MOST_BYTES = 256 * 1024 * 1024
"""Of one request, uploads included."""
_SHUTDOWN_SECONDS = 2


def serve_desk(
    workspace: Workspace,
    *,
    host: str,
    port: int,
    further_hosts: Sequence[str],
    person: str,
    now: Callable[[], datetime],
    begin: Callable[[str], None],
    first: str = "/",
) -> None:
    """Serve the desk until it is interrupted.

    Args:
        host: to listen on.
        port: to listen on; 0 for any that is free.
        further_hosts: `name` or `name:port` by which browsers may call it besides, for a desk
            behind another server.
        begin: told the address for a browser when the desk listens; it opens the page `first`.

    Raises:
        UsageError: the port is taken.
    """
    import uvicorn

    from rag_assets.desk.application import build_application

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise UsageError(
                f"port {port} of {host} cannot be taken ({error.strerror}): is a desk open "
                f"already? `rag desk --port {port + 1}` takes another."
            ) from error
        bound = listening.getsockname()[1]
        door = Door(desk_token(workspace), own_hosts(host, bound, further_hosts), MOST_BYTES)
        desk = Desk(workspace, door, person, now)
        name = f"[{host}]" if ":" in host else host
        config = uvicorn.Config(
            build_application(desk),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        listening.listen()
        begin(opened_at(f"http://{name}:{bound}", door.token, first))
        threading.Thread(target=_warm, args=(desk,), name="desk models", daemon=True).start()
        try:
            with interruptible():
                uvicorn.Server(config).run([listening])
        except KeyboardInterrupt:
            return


def _warm(desk: Desk) -> None:
    """Search once, so that the first question finds models read and publications open.

    The process that draws pages is started too: the first document would wait for it.
    """
    from rag_assets.desk.tools import search

    try:
        desk.pages.start()
        search(desk.library, "desk", top_k=1)
    except RagError:
        # Whoever asks the first question is told what is wrong, by the same search.
        return
