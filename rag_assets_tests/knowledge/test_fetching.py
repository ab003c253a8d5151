"""What a URI leads to, and where it is refused."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rag_assets.knowledge.adding import read_uri
from rag_assets.model import ServiceError, UsageError

PAGES = {
    "/papers/roofs": ("text/html; charset=utf-8", b"<h1>Roofs</h1>"),
    "/notes.md": ("text/plain", b"# Notes"),
    "/broken": ("text/plain", b"# Broken off"),
    "/report.pdf": ("application/pdf", b"%PDF-1.7"),
    "/packed": ("text/plain", gzip.compress(b"# Roofs " * 50_000)),
    "/large": ("text/plain", b"x" * 2_000_001),
}


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        self.path = self.path.partition("?")[0]
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/papers/roofs")
            self.end_headers()
            return
        if self.path not in PAGES:
            self.send_error(404)
            return
        kind, body = PAGES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.path == "/packed":
            self.send_header("Content-Encoding", "gzip")
        if self.path == "/broken":
            body = body[:3]
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def read(uri: str) -> tuple[str, bytes]:
    fetched = read_uri(uri, max_megabytes=1, max_seconds=30, allow_private=True)
    return fetched.name, fetched.data


def test_extension_is_that_of_what_was_sent(site: str) -> None:
    assert read(f"{site}/papers/roofs") == ("roofs.html", b"<h1>Roofs</h1>")
    assert read(f"{site}/report.pdf")[0] == "report.pdf"


def test_redirect_is_followed_and_kept(site: str) -> None:
    fetched = read_uri(f"{site}/moved", max_megabytes=1, max_seconds=30, allow_private=True)
    assert fetched.name == "roofs.html"
    assert fetched.info["url"] == f"{site}/moved"
    assert fetched.info["final_url"] == f"{site}/papers/roofs"
    assert fetched.info["content_type"] == "text/html"


def test_packed_answer_is_unpacked_and_a_broken_one_refused(site: str) -> None:
    assert read(f"{site}/packed") == ("packed.txt", b"# Roofs " * 50_000)
    with pytest.raises(ServiceError, match="cannot be read"):
        read(f"{site}/broken")


def test_large_answer_is_refused(site: str) -> None:
    with pytest.raises(UsageError, match=r"larger than 1 MB \(parse\.max_megabytes\)"):
        read(f"{site}/large")


def test_missing_page_and_dead_host_say_so(site: str) -> None:
    with pytest.raises(ServiceError, match="HTTP 404"):
        read(f"{site}/gone")
    with pytest.raises(ServiceError, match="cannot be read"):
        read("http://127.0.0.1:9/")


def test_address_of_this_machine_wants_permission(site: str) -> None:
    with pytest.raises(UsageError, match=r"private network.*download\.private_addresses: true"):
        read_uri(f"{site}/notes.md", max_megabytes=1, max_seconds=30)


@pytest.mark.parametrize(
    "address",
    ["http://", "http:///x", "http://h:0/", "http://h:port/", "http://[bad/", "http://a b/",
     "http://.../", f"http://{'a' * 70}.org/", "http://xn--/", "HTTP://"],
)  # fmt: skip
def test_bad_address_is_said_in_a_sentence(address: str) -> None:
    with pytest.raises(ServiceError, match="cannot be read"):
        read(address)


def test_secrets_of_an_address_reach_neither_what_is_kept_nor_errors(site: str) -> None:
    secret = site.replace("://", "://ann:s3cret@")
    given = f"{secret}/moved?id=7&token=s3cret#token=s3cret"
    fetched = read_uri(given, max_megabytes=1, max_seconds=30, allow_private=True)
    assert fetched.info["url"] == f"{site}/moved?id=7"
    assert "s3cret" not in repr(fetched)
    for address in (f"{secret}/gone?sig=s3cret", f"{secret}/large?key=s3cret",
                    "http://ann:s3cret@127.0.0.1:9/?key=s3cret", "ftp://ann:s3cret@host/file",
                    "http://ann:s3cret@[bad/"):  # fmt: skip
        with pytest.raises((ServiceError, UsageError)) as caught:
            read(address)
        chain: BaseException | None = caught.value
        while chain is not None:
            assert "s3cret" not in repr(chain)
            chain = chain.__cause__


def test_file_is_read_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "roofs.md").write_text("# Roofs")
    assert read(str(tmp_path / "roofs.md")) == ("roofs.md", b"# Roofs")


@pytest.mark.parametrize("uri", ["ftp://host/file", "s3://bucket/file"])
def test_other_schemes_are_refused(uri: str) -> None:
    with pytest.raises(UsageError, match="cannot be read; give a path, or http"):
        read(uri)


def test_missing_and_large_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name a file"):
        read(str(tmp_path / "gone.md"))
    (tmp_path / "large.txt").write_bytes(b"x" * 1_000_001)
    with pytest.raises(UsageError, match="larger than 1 MB"):
        read(str(tmp_path / "large.txt"))
