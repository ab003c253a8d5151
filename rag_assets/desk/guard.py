"""Who may speak to the desk: this machine's browser that was given the token, and nobody else.

Any page of the web can send requests to 127.0.0.1. So each request must name the desk itself as
its host (a foreign name that was pointed at this machine does not), carry the token, and, where it
writes, come from one of the desk's own pages.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN = "/open"
"""Where the address that `rag desk` prints leads: it keeps the token in a cookie."""
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_STATIC, _HEALTH = "/static/", "/health"
_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared with
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; object-src 'none'; "
    "frame-ancestors 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_UNKNOWN = (
    "The desk asks for its token. Open the address that `rag desk` printed when it started; "
    "`rag desk --address` prints it again.\n"
)


class _TooLargeError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Door:
    """What the guard knows.

    Args:
        token: secret of this workspace's desk.
        hosts: `name:port` or `name` by which the desk may be called.
        most_bytes: of the body of a request.
    """

    token: str
    hosts: frozenset[str]
    most_bytes: int

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies are shared by all ports of a host."""
        return "desk_" + hashlib.sha256(self.token.encode()).hexdigest()[:12]

    @property
    def form_token(self) -> str:
        """What a form of the desk's own pages carries: made from the token, does not tell it."""
        return hmac.new(self.token.encode(), b"form", hashlib.sha256).hexdigest()

    def knows(self, offered: str | None) -> bool:
        """Say whether this is the token."""
        return offered is not None and hmac.compare_digest(offered.encode(), self.token.encode())


class Guard:
    """Middleware that lets in what the door allows, and sets the headers of every answer."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await refused(scope, receive, _with_headers(send, scope["path"]))
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await _with_headers(send, scope["path"])(message)

        try:
            await self._app(scope, self._bounded(receive), sending)
        except _TooLargeError:
            if begun:
                raise
            answer = _refuse(413, f"The body is larger than {self._door.most_bytes} bytes.")
            await answer(scope, receive, sending)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        host = headers.get("host", "").lower()
        if path == _HEALTH:  # a cluster asks by the pod's own address; it says nothing of anybody
            return None
        if host not in self._door.hosts:
            return _refuse(
                421, "This desk is not called so. Use the address that `rag desk` printed."
            )
        if path.startswith(_STATIC) and method in _READING:
            return None
        if path == OPEN:
            return self._open(scope)
        return self._refusal_of_stranger(headers, host, method)

    def _refusal_of_stranger(self, headers: Headers, host: str, method: str) -> Response | None:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._door.knows(bearer):
            return None
        if not self._door.knows(_cookie(headers, self._door.cookie)):
            return _refuse(401, _UNKNOWN)
        if method in _READING or _is_own(headers.get("origin"), host):
            return None
        return _refuse(403, "Only the desk's own pages may write.")

    def _open(self, scope: Scope) -> Response:
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        token, target = asked.get("token", [""])[0], asked.get("next", ["/"])[0]
        if not self._door.knows(token):
            return _refuse(401, _UNKNOWN)
        # Only a path of this desk: `//elsewhere` and `/\elsewhere` are addresses of other hosts.
        is_path = target.startswith("/") and target[1:2] not in ("/", "\\")
        answer = RedirectResponse(quote(target, safe="/?&=#%") if is_path else "/", 303)
        answer.set_cookie(self._door.cookie, token, httponly=True, samesite="strict", path="/")
        return answer

    def _bounded(self, receive: Receive) -> Receive:
        seen = 0

        async def receiving() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._door.most_bytes:
                raise _TooLargeError
            return message

        return receiving


def own_hosts(host: str, port: int, further: Iterable[str] = ()) -> frozenset[str]:
    """Return the names by which a desk on `host:port` is called; `further` as they are given."""
    names = {host, "localhost"} if host in ("127.0.0.1", "::1", "localhost") else {host}
    if host in _EVERY_ADDRESS:  # this machine's own names lead there as well
        names = {"127.0.0.1", "localhost"}
    named = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}
    return frozenset(named | {name.lower() for name in further})


def _is_own(origin: str | None, host: str) -> bool:
    if origin is None:
        return False
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host


def _cookie(headers: Headers, name: str) -> str | None:
    cookies: SimpleCookie = SimpleCookie()
    cookies.load(headers.get("cookie", ""))
    return cookies[name].value if name in cookies else None


def _refuse(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence, status)


def _with_headers(send: Send, path: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if "cache-control" not in headers:
                static = path.startswith(_STATIC)
                headers["Cache-Control"] = "no-cache" if static else "no-store"
        await send(message)

    return sending
