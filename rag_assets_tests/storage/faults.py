"""A server that stands before an object server and fails as networks and servers do, on demand.

No fault takes time: what would be slow is held until the test lets it go.
"""

import http.client
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_HOP = frozenset({"connection", "expect", "keep-alive", "transfer-encoding"})
_ERROR = "<Error><Code>{code}</Code><Message>made by a test</Message></Error>"


class Fault(Enum):
    """What goes wrong with one request."""

    REFUSE_500 = auto()  # before the server has seen it
    REFUSE_503 = auto()
    CONFLICT = auto()  # 409: another write goes on
    NO_UPLOAD = auto()  # 404: the parts were put together, or taken away
    WRONG_CONTENT = auto()  # another first byte reaches the server
    CUT_BEFORE = auto()  # the connection, before the server has seen anything
    CUT_CONTENT = auto()  # half of what is sent reaches the server
    CUT_AFTER = auto()  # it was applied, nothing is answered
    FAIL_AFTER = auto()  # it was applied, 500 is answered
    REPEAT = auto()  # a proxy between sends it twice and passes the second answer on
    HOLD = auto()  # no answer comes, as long as the test lasts
    LATE = auto()  # the client sees a cut; it is applied when the test calls `let_go`
    HALF_ANSWER = auto()  # the answer breaks off
    WRONG_BYTES = auto()  # the answer's first byte is another
    STALE_LISTING = auto()  # the first listing of that prefix, again
    WITHOUT_CONDITIONS = auto()  # an old server, which does not know them


# Those after which nobody knows whether a put was applied.
AMBIGUOUS = (
    Fault.REFUSE_500, Fault.REFUSE_503, Fault.CUT_BEFORE, Fault.CUT_CONTENT, Fault.CUT_AFTER,
    Fault.FAIL_AFTER,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def is_conditional(self) -> bool:
        """Return whether it puts an object under a condition."""
        return self.method == "PUT" and bool({"if-match", "if-none-match"} & set(self.headers))

    @property
    def is_probe(self) -> bool:
        """Return whether it only looks how the server takes conditions."""
        return self.path.endswith("/.conditions")


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: list[tuple[str, str]]
    body: bytes


Plan = Callable[[Request], Fault | None]


class FaultyServer:
    """Passes requests on, each with the fault that `plan` chooses for it.

    Args:
        upstream: the address of the object server.
    """

    def __init__(self, upstream: str) -> None:
        self._upstream = urlsplit(upstream)
        self.plan: Plan = lambda request: None
        self.requests = list[Request]()  # those of clients, whatever became of them
        self.applied = list[Request]()  # those that the server took: 2xx
        self._listings = dict[str, Reply]()
        self._late = list[Request]()
        self._is_over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # headers and content are two writes

            def handle_any(self) -> None:
                outer._handle(self)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815

            def log_message(self, *parts: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def run(self) -> None:
        """Serve until `end`."""
        self._server.serve_forever(poll_interval=0.01)

    def end(self) -> None:
        """Stop serving."""
        self._is_over.set()
        self._server.shutdown()
        self._server.server_close()

    def let_go(self) -> list[int]:
        """Send the late requests to the server and return its answers' status."""
        late, self._late = self._late, []
        return [self.forward(request).status for request in late]

    def forward(self, request: Request, content: bytes | None = None) -> Reply:
        """Return what the server answers.

        Args:
            content: less than the request promises; the connection is cut after it.
        """
        connection = http.client.HTTPConnection(
            str(self._upstream.hostname), int(self._upstream.port or 80), timeout=60
        )
        try:
            connection.putrequest(
                request.method, request.path, skip_host=True, skip_accept_encoding=True
            )
            for name, value in request.headers.items():
                if name not in _HOP:
                    connection.putheader(name, value)
            connection.endheaders(request.body if content is None else content)
            if content is not None:
                return Reply(0, [], b"")
            answer = connection.getresponse()
            reply = Reply(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()
        if answer.status < 300:
            self.applied.append(request)
        return reply

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        size = int(handler.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        body = handler.rfile.read(size)
        request = Request(handler.command, handler.path, headers, body)
        self.requests.append(request)
        reply = self._reply(request, self.plan(request))
        if reply is None:
            handler.close_connection = True
            return
        is_whole = all(name.lower() != "x-half" for name, _ in reply.headers)
        handler.send_response_only(reply.status)
        for name, value in reply.headers:
            if name.lower() not in _HOP | {"content-length", "x-half"}:
                handler.send_header(name, value)
        length = {name.lower(): value for name, value in reply.headers}.get("content-length")
        if request.method == "HEAD" and length is not None:
            handler.send_header("Content-Length", length)
        elif reply.status not in {204, 304}:
            handler.send_header("Content-Length", str(len(reply.body)))
        handler.end_headers()
        if request.method != "HEAD":
            handler.wfile.write(reply.body if is_whole else reply.body[: len(reply.body) // 2])
        handler.close_connection = not is_whole

    def _reply(self, request: Request, fault: Fault | None) -> Reply | None:
        match fault:
            case fault if fault in _ERRORS:
                return _error(*_ERRORS[fault])
            case Fault.CUT_BEFORE:
                return None
            case Fault.CUT_CONTENT:
                self.forward(request, request.body[: len(request.body) // 2])
                return None
            case Fault.HOLD:
                self._is_over.wait()
                return None
            case Fault.LATE:
                self._late.append(request)
                return None
            case Fault.WRONG_CONTENT:
                request = replace(request, body=_wrong(request.body))
            case Fault.REPEAT:
                self.forward(request)
            case Fault.WITHOUT_CONDITIONS:
                kept = {k: v for k, v in request.headers.items() if not k.startswith("if-")}
                request = replace(request, headers=kept)
        return self._spoilt(request, self.forward(request), fault)

    def _spoilt(self, request: Request, reply: Reply, fault: Fault | None) -> Reply | None:
        match fault:
            case Fault.CUT_AFTER:
                return None
            case Fault.FAIL_AFTER:
                return _error(*_ERRORS[Fault.REFUSE_500])
            case Fault.HALF_ANSWER:
                return replace(reply, headers=[*reply.headers, ("x-half", "")])
            case Fault.WRONG_BYTES if reply.body:
                return replace(reply, body=_wrong(reply.body))
        return self._listing(request, reply, fault is Fault.STALE_LISTING)

    def _listing(self, request: Request, reply: Reply, is_stale: bool) -> Reply:
        listed = re.search(r"[?&]prefix=([^&]*)", request.path)
        if listed is None:
            return reply
        first = self._listings.setdefault(listed[1], reply)
        return first if is_stale else reply


_ERRORS = {
    Fault.REFUSE_500: (500, "InternalError"),
    Fault.REFUSE_503: (503, "SlowDown"),
    Fault.CONFLICT: (409, "ConditionalRequestConflict"),
    Fault.NO_UPLOAD: (404, "NoSuchUpload"),
}


def _error(status: int, code: str) -> Reply:
    return Reply(status, [("Content-Type", "application/xml")], _ERROR.format(code=code).encode())


def _wrong(content: bytes) -> bytes:
    return bytes([content[0] ^ 1]) + content[1:]


@contextmanager
def failing(upstream: str) -> Iterator[FaultyServer]:
    """Yield a server before that one; it ends with the block."""
    server = FaultyServer(upstream)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join()


def in_turn(*faults: Fault | None, only: Callable[[Request], bool] | None = None) -> Plan:
    """Return the plan that gives each request the next fault, and those after the last none."""
    lock, left = threading.Lock(), list(faults)

    def plan(request: Request) -> Fault | None:
        if only is not None and not only(request):
            return None
        with lock:
            return left.pop(0) if left else None

    return plan
