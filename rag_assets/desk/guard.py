"""Who may speak to the desk: this machine's browser that was given the token, and nobody else.

Any page of the web can send requests to 127.0.0.1. So each request must name the desk itself as
its host (a foreign name that was pointed at this machine does not), carry the token, and, where it
writes, come from one of the desk's own pages.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEALTH = "/health"
"""The path that asks for no token."""
OPEN = "/open"
"""Where the address that `rag desk` prints leads: it begins a session of this browser."""
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_STATIC = "/static/"
# Of a request that brings no files.
_MOST_TEXT_BYTES = 1_000_000
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
    "The desk asks for its token. Open the address that `rag desk` printed when it started.\n"
)


class _TooLargeError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Door:
    """What the guard knows.

    Args:
        token: secret of this workspace's desk.
        hosts: `name:port` or `name` by which the desk may be called.
        most_bytes: of the body of a request, files included.
        session: what the cookie holds. Browsers send the cookies of a host to all of its ports, so
            it is no token: it opens this desk alone, and nothing once it has ended.
    """

    token: str
    hosts: frozenset[str]
    most_bytes: int
    session: str = field(default_factory=secrets.token_urlsafe)

    @property
    def cookie(self) -> str:
        """The name of the cookie; desks on other ports have others."""
        named = f"{self.token} {sorted(self.hosts)}"
        return "desk_" + hashlib.sha256(named.encode()).hexdigest()[:12]

    @property
    def form_token(self) -> str:
        """What a form of the desk's own pages carries: made from the token, does not tell it."""
        return hmac.new(self.token.encode(), b"form", hashlib.sha256).hexdigest()

    def knows(self, offered: str) -> bool:
        """Say whether this is the token."""
        return hmac.compare_digest(offered.encode(), self.token.encode())

    def knows_session(self, headers: Headers) -> bool:
        """Say whether a request comes from a browser that has opened this desk."""
        session = self.session.encode()
        # Other ports may have set one of the same name, for a path of it.
        return any(
            hmac.compare_digest(value.encode(), session) for value in _cookies(headers, self.cookie)
        )


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
        headers = Headers(scope=scope)
        is_upload = headers.get("content-type", "").startswith("multipart/")
        most = self._door.most_bytes if is_upload else min(_MOST_TEXT_BYTES, self._door.most_bytes)

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await _with_headers(send, scope["path"])(message)

        answer = _refuse(413, f"The request is larger than {most} bytes. Send less at once.")
        # What reads a body may make another error of ours.
        if int(headers.get("content-length", 0)) > most:
            await answer(scope, receive, sending)
            return
        try:
            await self._app(scope, _bounded(receive, most), sending)
        except _TooLargeError:
            if begun:
                raise
            await answer(scope, receive, sending)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        host = headers.get("host", "").lower()
        if path == HEALTH:  # a cluster asks by the pod's own address; it says nothing of anybody
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
        if not self._door.knows_session(headers):
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
        answer.set_cookie(
            self._door.cookie, self._door.session, httponly=True, samesite="strict", path="/"
        )
        return answer


def own_hosts(host: str, port: int, further: Iterable[str] = ()) -> frozenset[str]:
    """Return the names by which a desk on `host:port` is called; `further` as they are given."""
    names = {host, "localhost"} if host in ("127.0.0.1", "::1", "localhost") else {host}
    if host in _EVERY_ADDRESS:  # this machine's own names lead there as well
        names = {"127.0.0.1", "localhost"}
    named = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}
    return frozenset(named | {name.lower() for name in further})


def _bounded(receive: Receive, most: int) -> Receive:
    seen = 0

    async def receiving() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise _TooLargeError
        return message

    return receiving


def _is_own(origin: str | None, host: str) -> bool:
    if origin is None:
        return False
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host


def _cookies(headers: Headers, name: str) -> Iterator[str]:
    """Yield the values of a cookie; what is no cookie, or another's, hinders none."""
    for header in headers.getlist("cookie"):
        for part in header.split(";"):
            key, _, value = part.strip().partition("=")
            if key == name:
                yield value


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
