"""Who is let in, and what every answer carries."""

import socket
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from rag_assets.desk import build_application
from rag_assets.desk.guard import own_hosts
from rag_assets.workspace import Workspace
from rag_assets.workspace.desk_address import desk_token
from rag_assets_tests.desk.served import MOST_BYTES, make_desk, serve_desk, visit
from rag_assets_tests.libraries import make_workspace


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_workspace(tmp_path_factory.mktemp("desk") / "library", {})


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with visit(workspace) as opened:
        opened.follow_redirects = False
        yield opened


LANGUAGE = {"language": "zh", "back": "/"}


def test_a_browser_with_the_cookie_reads_and_writes(client: TestClient) -> None:
    assert client.get("/").status_code == 200
    assert client.post("/language", data=LANGUAGE).status_code == 303


def test_without_the_token_nothing_is_read(client: TestClient) -> None:
    client.cookies.clear()
    for path in ("/", "/review", "/library", "/ask"):
        assert client.get(path).status_code == 401, path
    assert client.get("/static/desk.css").status_code == 200
    assert client.get("/health").json() == {"status": "ok"}


def test_the_printed_address_gives_the_cookie(client: TestClient, workspace: Workspace) -> None:
    client.cookies.clear()
    assert client.get("/open", params={"token": "wrong"}).status_code == 401
    opened = client.get("/open", params={"token": desk_token(workspace), "next": "/ask"})
    assert (opened.status_code, opened.headers["location"]) == (303, "/ask")
    cookie = opened.headers["set-cookie"].lower()
    # Browsers send it to every port of the host.
    assert desk_token(workspace).lower() not in cookie
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").status_code == 200


def test_a_cookie_opens_the_desk_that_gave_it_alone(workspace: Workspace) -> None:
    door, other = make_desk(workspace).door, make_desk(workspace, 81).door
    again = make_desk(workspace).door
    assert door.cookie != other.cookie
    assert door.cookie == again.cookie  # the next start takes its place
    assert len({door.session, other.session, again.session, door.token}) == 4
    with visit(workspace) as client:
        client.cookies.clear()
        for name in (door.cookie, other.cookie):
            client.cookies.set(name, other.session)
            assert client.get("/").status_code == 401
            client.cookies.clear()


@pytest.mark.parametrize(
    "foreign",
    [
        "a@b=1; ", "=; ;; ", "\x7f\xe9=\xe9; ", "NAME=wrong; ", 'quoted="a; ', "a=b, c; ",
        "x" * 20000 + "; ", "desk_language=\xe9; desk_draft=%ff%; ", "NAME; ",
    ],
    ids=range(9),
)  # fmt: skip
def test_a_foreign_cookie_locks_nobody_out(workspace: Workspace, foreign: str) -> None:
    desk = make_desk(workspace)
    with TestClient(build_application(desk), base_url="http://127.0.0.1:80") as client:
        own = f"{desk.door.cookie}={desk.door.session}"
        named = foreign.replace("NAME", desk.door.cookie)
        for cookie in (f"{named}{own}", f"{own}; {named}"):
            headers = {"Host": "127.0.0.1:80", "Cookie": cookie.encode("latin-1")}
            assert client.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize("target", ["//elsewhere.org", "/\\elsewhere.org", "https://elsewhere.org"])
def test_the_printed_address_leads_nowhere_else(
    client: TestClient, workspace: Workspace, target: str
) -> None:
    opened = client.get("/open", params={"token": desk_token(workspace), "next": target})
    assert opened.headers["location"] == "/"


@pytest.mark.parametrize("host", ["elsewhere.org", "127.0.0.1:81", "127.0.0.1.elsewhere.org:80"])
def test_called_by_another_name_it_does_not_answer(client: TestClient, host: str) -> None:
    # A foreign name that was pointed at this machine: its pages would be of one origin with ours.
    assert client.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://elsewhere.org", "null", "http://127.0.0.1:81", "file://127.0.0.1:80", ""]
)
def test_a_page_of_another_origin_writes_nothing(client: TestClient, origin: str) -> None:
    answer = client.post("/language", data=LANGUAGE, headers={"Origin": origin})
    assert answer.status_code == 403


def test_a_form_without_its_token_writes_nothing(client: TestClient) -> None:
    answer = client.post("/language", data=LANGUAGE, headers={"X-Desk-Form": "wrong"})
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


def test_every_answer_forbids_foreign_scripts(client: TestClient) -> None:
    paths = ("/", "/nowhere", "/static/desk.js", "/health", "/open?token=wrong")
    for path in paths:
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'"), path
        assert headers["x-content-type-options"] == "nosniff"
        assert "unsafe" not in headers["content-security-policy"]


def test_a_body_that_is_too_large_is_refused(client: TestClient) -> None:
    large = {"question": "x" * MOST_BYTES}
    answer = client.post("/ask", data=large)
    assert answer.status_code == 413
    assert "larger than 1000000 bytes" in answer.text


def test_a_body_that_does_not_say_its_length_is_bounded(workspace: Workspace) -> None:
    # Sent in pieces, without a length: counted while it comes.
    with serve_desk(workspace) as served:
        url, desk = served.url, served.desk
        host, port = url.removeprefix("http://").split(":")
        piece = b"x" * 65536
        with socket.create_connection((host, int(port))) as line:
            line.sendall(
                f"POST /language HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {url}\r\n"
                f"Cookie: {desk.door.cookie}={desk.door.session}\r\n"
                "Content-Type: application/x-www-form-urlencoded\r\n"
                "Transfer-Encoding: chunked\r\n\r\n".encode()
            )
            try:
                for _ in range(MOST_BYTES // len(piece) + 2):
                    line.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass
            assert b" 413 " in line.recv(100)


@pytest.mark.parametrize(
    "path", ["/static/../guard.py", "/static/%2e%2e/guard.py", "/static/..%2fguard.py"]
)
def test_static_files_lead_nowhere_else(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_page_goes_back_only_to_itself(client: TestClient) -> None:
    for back in ("//elsewhere.org", "https://elsewhere.org", ""):
        answer = client.post("/language", data={"language": "zh", "back": back})
        assert answer.headers["location"] == "/"


def test_names_of_a_desk() -> None:
    assert own_hosts("127.0.0.1", 8765) == {"127.0.0.1:8765", "localhost:8765"}
    assert own_hosts("::1", 1) == {"[::1]:1", "localhost:1"}
    everywhere = own_hosts("0.0.0.0", 1, ["Desk.Example"])  # noqa: S104
    assert everywhere == {"127.0.0.1:1", "localhost:1", "desk.example"}


def test_the_secret_is_kept_for_this_user_alone(workspace: Workspace) -> None:
    path = workspace.meta / "desk" / "token"
    assert desk_token(workspace) == desk_token(workspace) == path.read_text()
    assert path.stat().st_mode & 0o077 == 0
