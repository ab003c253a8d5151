"""A desk for tests: by requests without a network, or on a port for a browser."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import uvicorn
from fastapi.testclient import TestClient

from rag_assets.desk import Desk, build_application
from rag_assets.desk.guard import Door, own_hosts
from rag_assets.workspace import Workspace
from rag_assets.workspace.desk_address import desk_token, opened_at

MOST_BYTES = 1_000_000
NOW = datetime(2026, 11, 24, 12, 0, 0)


def make_desk(workspace: Workspace, port: int = 80) -> Desk:
    """Return a desk whose clock stands still."""
    door = Door(desk_token(workspace), own_hosts("127.0.0.1", port), MOST_BYTES)
    return Desk(workspace, door, "Ada", lambda: NOW)


@contextmanager
def visit(workspace: Workspace) -> Iterator[TestClient]:
    """Yield a client that has the cookie and sends forms as the desk's own pages do."""
    desk = make_desk(workspace)
    base = "http://127.0.0.1:80"
    headers = {"Origin": base, "Host": "127.0.0.1:80", "X-Desk-Form": desk.door.form_token}
    with TestClient(build_application(desk), base_url=base, headers=headers) as client:
        client.cookies.set(desk.door.cookie, desk.door.session)
        yield client


@dataclass(frozen=True)
class Served:
    """A desk that serves in a thread of this process."""

    url: str
    desk: Desk
    server: uvicorn.Server

    def opened_at(self, path: str) -> str:
        """Return the address that a browser is given."""
        return opened_at(self.url, self.desk.door.token, path)

    def cut(self) -> None:
        """Break every connection, as a network does."""
        for connection in list(self.server.server_state.connections):
            connection.loop.call_soon_threadsafe(connection.transport.abort)


@contextmanager
def serve_desk(workspace: Workspace) -> Iterator[Served]:
    """Serve a desk on a free port of 127.0.0.1 in a thread of this process."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        desk = make_desk(workspace, port)
        config = uvicorn.Config(
            build_application(desk), log_level="warning", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield Served(f"http://127.0.0.1:{port}", desk, server)
        finally:
            server.should_exit = True
            thread.join()
