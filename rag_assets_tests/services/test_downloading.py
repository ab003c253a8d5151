"""A download ends at its time and size whatever the server does, and goes where it may."""

import gzip
import io
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import httpcore2
import pytest

from rag_assets.llm.services import (
    DownloadError,
    Limits,
    PrivateAddressError,
    TooLargeError,
    TooSlowError,
    download,
    download_into,
)
from rag_assets.llm.services.downloading import is_public

Send = Callable[[bytes], None]
Script = Callable[[Send, threading.Event], None]
packed = partial(gzip.compress, mtime=0)
SOON = Limits(bytes=100_000, seconds=0.6, allow_private=True)
# For what ends by itself: the time is no part of the claim.
AMPLE = Limits(bytes=100_000, seconds=60, allow_private=True)
OK = b"HTTP/1.1 200 OK\r\n"


class Site:
    """A server that sends what a test wants, by the path asked for, and knows what was asked."""

    def __init__(self, scripts: dict[str, Script]) -> None:
        self.scripts = scripts
        self.asked: list[bytes] = []
        self.over = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._answer, args=(connection,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            head = b""
            while b"\r\n\r\n" not in head and (more := connection.recv(4096)):
                head += more
            self.asked.append(head)
            path = head.split(b" ")[1].decode().partition("?")[0]
            try:
                self.scripts[path](connection.sendall, self.over)
            except OSError:
                return  # the other side has gone, as it should

    def close(self) -> None:
        self.over.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join()


@contextmanager
def serving(**scripts: Script | bytes) -> Iterator[Site]:
    def whole(data: bytes) -> Script:
        return lambda send, over: send(data)

    made = {
        f"/{name}": whole(script) if isinstance(script, bytes) else script
        for name, script in scripts.items()
    }
    site = Site(made)
    try:
        yield site
    finally:
        site.close()


def page(body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{line}\r\n" for line in headers)
    return OK + lines.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def moved(to: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


def slowly(begin: bytes, endless: bytes) -> Script:
    def script(send: Send, over: threading.Event) -> None:
        send(begin)
        while not over.wait(0.02):
            send(endless)

    return script


def fast(begin: bytes, endless: bytes) -> Script:
    def script(send: Send, over: threading.Event) -> None:
        send(begin)
        while not over.is_set():
            send(endless)

    return script


def silent(begin: bytes) -> Script:
    def script(send: Send, over: threading.Event) -> None:
        send(begin)
        over.wait()

    return script


@pytest.mark.parametrize(
    "script",
    [
        silent(b""),
        silent(OK),
        slowly(b"", b"H"),
        slowly(OK + b"X-A: ", b"a"),
        slowly(OK, b"A: b\r\n"),
        slowly(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        fast(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        slowly(OK + b"Content-Length: 90000\r\n\r\n", b"x"),
        slowly(OK + b"\r\n", b"x"),
        slowly(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        slowly(OK + b"Transfer-Encoding: chunked\r\n\r\n1", b";a=b"),
        slowly(OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"T: x\r\n"),
        slowly(OK + b"Content-Encoding: gzip\r\n\r\n" + packed(b""), packed(b"")),
    ],
)
def test_server_that_never_ends_is_left_in_time(script: Script) -> None:
    with serving(a=script) as site, pytest.raises((TooSlowError, DownloadError)):
        download(f"{site.url}/a", SOON)


@pytest.mark.parametrize(
    "script",
    [
        fast(OK + b"\r\n", b"x" * 1000),
        fast(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"3e8\r\n" + b"x" * 1000 + b"\r\n"),
        silent(OK + b"Content-Length: 100001\r\n\r\n"),
        silent(page(packed(bytes(50_000_000)), "Content-Encoding: gzip")),
        silent(page(packed(bytes(90_000)) * 1000, "Content-Encoding: gzip")),
        silent(page(zlib.compress(bytes(50_000_000)), "Content-Encoding: deflate")),
    ],
)
def test_too_much_is_refused_before_it_is_held(script: Script) -> None:
    with serving(a=script) as site, pytest.raises(TooLargeError):
        download(f"{site.url}/a", AMPLE)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", ""),
        (b"220 mail.example.org\r\n", ""),
        (OK + b"Content-Length: 10\r\n\r\nshort", ""),
        (OK + b"Content-Length: -1\r\n\r\nx", ""),
        (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", ""),
        (OK + b"X: " + b"a" * 200_000, ""),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", ""),
        (page(b"not packed", "Content-Encoding: gzip"), ""),
        (page(packed(b"x" * 5000)[:-9], "Content-Encoding: gzip"), "breaks off"),
        (page(b"x", "Content-Encoding: br"), "packed as 'br'"),
        (moved("ftp://example.org/a"), "not an http or https address"),
        (moved("file:///etc/passwd"), "not an http or https address"),
        (moved("http://[bad"), "is not an address"),
        (moved("/a"), "more than 10 times"),
        (moved("//127.0.0.1:1/"), "sent on to http://127.0.0.1:1/"),
    ],
)
def test_nonsense_is_an_error_with_a_reason(answer: bytes, why: str) -> None:
    with serving(a=answer) as site, pytest.raises(DownloadError, match=why) as caught:
        download(f"{site.url}/a", AMPLE)
    assert str(caught.value)


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (page(b"whole"), b"whole"),
        (page(b"whole") + b"and more than was said", b"whole"),
        (OK + b"\r\nto the end", b"to the end"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
        (page(packed(b"a" * 70_000), "Content-Encoding: gzip"), b"a" * 70_000),
        (page(packed(b"a") + packed(b"b"), "Content-Encoding: x-gzip"), b"ab"),
        (page(packed(b"a") + bytes(8), "Content-Encoding: gzip"), b"a"),
        (page(zlib.compress(b"a" * 65_536), "Content-Encoding: deflate"), b"a" * 65_536),
        (page(zlib.compress(b"abc")[2:-4], "Content-Encoding: deflate"), b"abc"),
        (page(b"", "Content-Encoding: gzip"), b""),
    ],
)
def test_every_honest_form_is_read(answer: bytes, body: bytes) -> None:
    with serving(a=answer) as site:
        assert download(f"{site.url}/a", AMPLE).data == body


def test_user_and_password_go_to_their_own_host_alone() -> None:
    with serving(b=page(b"there")) as other, serving(c=page(b"here")) as site:
        site.scripts["/a"] = lambda send, over: send(moved("/c"))
        site.scripts["/out"] = lambda send, over: send(moved(f"{other.url}/b"))
        with_user = site.url.replace("//", "//ann:p%40ss@")
        assert download(f"{with_user}/a", AMPLE).data == b"here"
        assert download(f"{with_user}/out", AMPLE).data == b"there"
    sent = b"Authorization: Basic YW5uOnBAc3M="
    assert [sent in head for head in site.asked] == [True, True, True]
    assert b"Authorization" not in other.asked[0]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "0.0.0.1",
     "[::1]", "[::ffff:127.0.0.1]", "[::]", "10.0.0.1", "172.16.5.4", "192.168.1.1",
     "169.254.169.254", "100.64.0.1", "224.0.0.1", "[fe80::1]", "[fc00::1]", "[ff02::1]",
     "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "255.255.255.255", "[fec0::1]", "168.63.129.16",
     "[::ffff:168.63.129.16]", "100.100.100.200", "[fd00:ec2::254]"],
)  # fmt: skip
def test_private_address_is_not_asked_however_it_is_written(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object) -> None:
        raise AssertionError("it was connected to")

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    with pytest.raises(DownloadError, match=r"private network|is not known"):
        download(f"http://{host}:9/", Limits(1000, 60))


def test_public_addresses_are_public() -> None:
    for address in ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"):
        assert is_public(address)


def name_leads_to(monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[str]]) -> list[str]:
    """Let names lead to the addresses given, each time to the next; returns what was asked."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *flags: int, **more: int) -> list[tuple[object, ...]]:
        if host not in answers:
            return list(real(host, port, *flags, **more))
        asked.append(host)
        address = answers[host].pop(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def test_redirect_to_a_private_address_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    # A public name, played by this machine: only the first connection is let through to it.
    asked = name_leads_to(monkeypatch, {"public.test": ["93.184.216.34"]})
    real = httpcore2.SyncBackend.connect_tcp
    with serving(secret=page(b"secret")) as inside, serving() as site:
        site.scripts["/a"] = lambda send, over: send(moved(f"{inside.url}/secret?token=t0k"))

        def connect(
            self: httpcore2.SyncBackend, host: str, port: int, *more: object
        ) -> httpcore2.NetworkStream:
            assert host == "93.184.216.34"
            return real(self, "127.0.0.1", site.port)

        monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
        with pytest.raises(PrivateAddressError, match=r"sent on to .*private network") as caught:
            download("http://public.test/a", Limits(1000, 60))
    assert inside.asked == []
    assert asked == ["public.test"]
    assert "t0k" not in str(caught.value)
    assert b"Host: public.test\r\n" in site.asked[0]


def test_name_is_resolved_once_and_that_address_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(a=page(b"whole")) as site:
        asked = name_leads_to(monkeypatch, {"site.test": ["127.0.0.1", "10.0.0.1"]})
        assert download(f"http://site.test:{site.port}/a", AMPLE).data == b"whole"
    assert asked == ["site.test"]
    assert f"Host: site.test:{site.port}\r\n".encode() in site.asked[0]


def test_name_that_is_not_resolved_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def never_resolves(*_: object, **__: object) -> list[object]:
        over.wait()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", never_resolves)
    try:
        with pytest.raises(DownloadError, match="not resolved in time"):
            download("http://slow.test/", SOON)
    finally:
        over.set()


def test_file_is_written_as_it_comes() -> None:
    target = io.BytesIO()
    with serving(a=page(b"some content")) as site:
        answer = download_into(target, f"{site.url}/a", AMPLE)
    assert (target.getvalue(), answer.status, answer.data) == (b"some content", 200, b"")


def test_proxy_of_the_environment_is_asked_where_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(a=page(b"from the proxy")) as proxy:
        proxy.scripts["http://example.invalid/a"] = proxy.scripts["/a"]
        monkeypatch.setenv("http_proxy", f"http://user:word@127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        through = replace(AMPLE, use_proxy=True)
        assert download("http://example.invalid/a", through).data == b"from the proxy"
        assert b"\r\nProxy-Authorization: Basic dXNlcjp3b3Jk\r\n" in proxy.asked[0]
        with pytest.raises(DownloadError):
            download("http://example.invalid/a", AMPLE)
        monkeypatch.setenv("no_proxy", "example.invalid")
        with pytest.raises(DownloadError):
            download("http://example.invalid/a", through)
    assert len(proxy.asked) == 1


def test_behind_a_proxy_no_address_can_be_refused() -> None:
    with pytest.raises(ValueError, match="allow_private"):
        Limits(bytes=1, seconds=1, use_proxy=True)


def test_proxy_that_never_ends_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy:
        proxy.scripts["example.invalid:443"] = slowly(b"HTTP/1.1 2", b"0")
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(DownloadError):
            download("https://example.invalid/a", replace(SOON, use_proxy=True))
