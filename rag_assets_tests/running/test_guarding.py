"""The layer before the UI, over HTTP: what it refuses, with which sentence, and what it lets by."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from rag_assets.running.webserver import Guard

ASKED = b'{"query": "mutation { wipe }"}'
JSON = {"Content-Type": "application/json"}
WIPE = "/graphql?query=mutation%7Bwipe%7D"


@dataclass(frozen=True)
class Guarded:
    """A guarded server; `reached` lists the requests that got past the guard."""

    port: int
    reached: list[str]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> tuple[int, str, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        told = answer.read().decode()
        connection.close()
        return answer.status, told, {name.lower(): value for name, value in answer.getheaders()}


@pytest.fixture(scope="module")
def guarded() -> Iterator[Guarded]:
    reached: list[str] = []

    async def answer(request: Request) -> PlainTextResponse:
        reached.append(f"{request.method} {request.url.path}")
        return PlainTextResponse("answered")

    async def talk(websocket: WebSocket) -> None:
        reached.append("websocket")
        await websocket.accept()
        await websocket.send_text("answered")
        await websocket.close()

    routes = [
        WebSocketRoute("/graphql", talk),
        Route("/{path:path}", answer, methods=["GET", "POST"]),
    ]
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(Guard(Starlette(routes=routes), port), log_level="error")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield Guarded(port, reached)
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize(
    "path",
    [
        WIPE,
        WIPE.replace("/graphql", "/graphql/"),
        WIPE.replace("graphql", "%67raphql"),
        WIPE.replace("?query", "?op=a&%71uery"),
    ],
)
def test_a_query_in_an_address_is_refused(guarded: Guarded, method: str, path: str) -> None:
    guarded.reached.clear()
    status, told, _ = guarded.ask(method, path, {"Accept": "image/*"})
    assert status == 403
    assert method == "HEAD" or "send it as JSON by POST" in told
    assert guarded.reached == []


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "https://{host}",
        "http://localhost:{port}",
        "http://127.0.0.1",
    ],
)
def test_a_page_of_another_origin_is_refused(guarded: Guarded, origin: str) -> None:
    guarded.reached.clear()
    sent = origin.format(host=guarded.host, port=guarded.port)
    status, told, _ = guarded.ask("POST", "/graphql", {**JSON, "Origin": sent}, ASKED)
    assert status == 403
    assert sent in told
    assert "only this server's own pages" in told
    assert guarded.reached == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_page_of_another_origin_embeds_is_refused(guarded: Guarded, site: str) -> None:
    for kind in ({}, {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}):
        status, told, _ = guarded.ask("GET", "/assets", {"Sec-Fetch-Site": site, **kind})
        assert status == 403
        assert site in told


def test_a_link_of_another_page_opens_the_ui_but_no_query(guarded: Guarded) -> None:
    opened = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert guarded.ask("GET", "/assets", opened)[0] == 200
    assert guarded.ask("GET", "/graphql", opened)[0] == 403
    assert guarded.ask("POST", "/assets", opened)[0] == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "", "0.0.0.0:{port}"],
)
def test_a_name_that_only_leads_here_is_refused(guarded: Guarded, host: str) -> None:
    guarded.reached.clear()
    sent = host.format(port=guarded.port)
    status, told, _ = guarded.ask("POST", "/graphql", {**JSON, "Host": sent}, ASKED)
    assert status == 403
    assert "may be another site's" in told
    assert guarded.reached == []


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_the_own_page_and_a_program_are_answered(guarded: Guarded, name: str) -> None:
    host = f"{name}:{guarded.port}"
    page = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    for headers in (page, {"Host": host}):
        assert guarded.ask("POST", "/graphql", {**JSON, **headers}, ASKED)[:2] == (200, "answered")
        # The UI's own pages name the operation in the address.
        named = guarded.ask("POST", "/graphql?op=Runs", {**JSON, **headers}, ASKED)
        assert named[:2] == (200, "answered")
        assert guarded.ask("GET", "/assets?query=roofs", headers)[0] == 200


def test_nothing_remote_is_fetched_and_no_page_frames_the_ui(guarded: Guarded) -> None:
    _, _, headers = guarded.ask("GET", "/", {})
    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    assert policy["img-src"] == "'self' data: blob:"
    assert policy["connect-src"] == f"'self' ws://{guarded.host}"
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("origin", ["null", "http://evil.example"])
def test_a_websocket_of_another_page_is_refused(guarded: Guarded, origin: str) -> None:
    guarded.reached.clear()
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://{guarded.host}/graphql", additional_headers={"Origin": origin}, proxy=None)
    assert refused.value.response.status_code == 403
    assert "only this server's own pages" in refused.value.response.body.decode()
    assert guarded.reached == []


def test_a_websocket_of_the_own_page_is_answered(guarded: Guarded) -> None:
    origin = {"Origin": f"http://{guarded.host}"}
    with connect(f"ws://{guarded.host}/graphql", additional_headers=origin, proxy=None) as talk:
        assert talk.recv(60) == "answered"


def test_the_sentence_of_a_refusal_stands_alone(guarded: Guarded) -> None:
    _, told, headers = guarded.ask("POST", "/graphql", {**JSON, "Origin": "null"}, ASKED)
    assert told.count("\n") == 1
    assert headers["content-type"].startswith("text/plain")
    with pytest.raises(json.JSONDecodeError):
        json.loads(told)
