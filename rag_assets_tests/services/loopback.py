"""A loopback server that answers POST requests as a service would, with faults to order."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: Body


@dataclass(frozen=True)
class Status:
    """Answer with an error."""

    code: int
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "made up"


@dataclass(frozen=True)
class Slow:
    """Do not answer before the test is over."""


@dataclass(frozen=True)
class Truncated:
    """Stop half-way through the answer, as if it were whole."""


@dataclass(frozen=True)
class Hangup:
    """Close the connection without a word."""


@dataclass(frozen=True)
class Reply:
    """Answer this instead of what is right."""

    content: Any


Fault = Status | Slow | Truncated | Hangup | Reply


@dataclass
class Loopback:
    """What the server does and has seen.

    Args:
        respond: the right answer to a request, or a fault for it.
        faults: given out first, one a request.
    """

    respond: Callable[[Request], Any]
    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def bodies(self) -> list[Body]:
        return [request.body for request in self.requests]


@contextmanager
def serve(respond: Callable[[Request], Any]) -> Iterator[Loopback]:
    """Yield a running server's state; it ends with the block."""
    state = Loopback(respond)
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True  # a kept-alive connection would hold the end up
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: Loopback

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Keep the test's output clean."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_json = "json" in self.headers.get("Content-Type", "")
        body = json.loads(raw) if is_json else {"raw": raw.decode()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, body)
        with self.state.lock:
            self.state.requests.append(request)
            fault = self.state.faults.pop(0) if self.state.faults else None
        answer = self.state.respond(request) if fault is None else fault
        match answer:
            case Status():
                content = {"error": {"message": answer.message, "code": answer.code}}
                self._send(answer.code, json.dumps(content).encode(), answer.headers)
            case Slow():
                self.state.over.wait()
                self.close_connection = True
            case Truncated():
                whole = json.dumps(self.state.respond(request)).encode()
                self._send(200, whole[: len(whole) // 2])
            case Hangup():
                self.close_connection = True
            case Reply():
                self._send(200, json.dumps(answer.content).encode())
            case _:
                self._send(200, json.dumps(answer).encode())

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
