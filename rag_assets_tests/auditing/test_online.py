"""Entries looked up at Crossref and OpenAlex: a server of ours replays what both answer."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from rag_assets.auditing.online import Services, describe_requests, look_up_online
from rag_assets.auditing.reference_check import CheckedEntry, ReferenceCheck
from rag_assets.auditing.references import Pairing, parse_entry

ENTRIES = (
    "Rail, R. (2012). Punctual trains of the valleys. *Rails*, 2. https://doi.org/10.1000/rails",
    "Moss, D. (2018). Bridges rust where salt lies. *Rust*, 1. https://doi.org/10.1000/salt",
    "Stone, E. (2015). Red lamps in small houses at night. *Lamps*, 9.",
    "Ghost, G. (2022). A study that nobody has ever made. *Nowhere*, 1.",
    "Keller, A. (2021). Cool roofs of cities. *Roofs*, 3. https://doi.org/10.1000/other",
)


def crossref(doi: str, title: str, year: int, family: str, **more: Any) -> dict[str, Any]:
    """Return a work in the shape of https://api.crossref.org/works/DOI."""
    return {
        "DOI": doi, "type": "journal-article", "title": [title],
        "author": [{"given": "A.", "family": family, "sequence": "first", "affiliation": []}],
        "issued": {"date-parts": [[year, 3]]}, "published-online": {"date-parts": [[year, 3, 1]]},
        **more,
    }  # fmt: skip


def openalex(doi: str, title: str, year: int, name: str, *, is_retracted: bool) -> dict[str, Any]:
    """Return a work in the shape of https://api.openalex.org/works/doi:DOI."""
    return {
        "id": "https://openalex.org/W1", "doi": f"https://doi.org/{doi}", "title": title,
        "display_name": title, "publication_year": year, "is_retracted": is_retracted,
        "authorships": [{"author_position": "first", "author": {"display_name": name}}],
    }  # fmt: skip


NOTICE = {
    "updated": {"date-parts": [[2014, 8, 26]]}, "DOI": "10.1000/notice", "type": "retraction",
    "label": "Retraction", "source": "retraction-watch",
}  # fmt: skip
LAMPS = crossref("10.1000/lamps", "Red lamps in small houses at night", 2015, "Stone")
WORKS = {
    "/crossref/works/10.1000/rails": crossref(
        "10.1000/rails", "Punctual trains of the valleys", 2012, "Rail", **{"updated-by": [NOTICE]}
    ),
    "/crossref/works/10.1000/salt": crossref(
        "10.1000/salt", "Bridges rust where salt lies", 2019, "Moss"
    ),
    "/crossref/works/10.1000/other": crossref(
        "10.1000/other", "Something else about the moon", 2021, "Luna"
    ),
    "/openalex/works/doi:10.1000/rails": openalex(
        "10.1000/rails", "Punctual trains of the valleys", 2012, "Ruth Rail", is_retracted=True
    ),
    "/openalex/works/doi:10.1000/salt": openalex(
        "10.1000/salt", "Bridges rust where salt lies", 2019, "Dora Moss", is_retracted=False
    ),
}
RETRACTION_OF_LAMPS = crossref(
    "10.1000/lamps-notice", "Retraction: Red lamps in small houses at night", 2016, "Editors",
    **{"update-to": [NOTICE | {"DOI": "10.1000/lamps"}]},
)  # fmt: skip


@dataclass
class Replay:
    """What was asked, and statuses to give before the right answer."""

    base: str = ""
    asked: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, Any]:
        """Return status and body."""
        if self.statuses:
            return self.statuses.pop(0), {}
        parts = urlsplit(path)
        work, query = unquote(parts.path), parse_qs(parts.query)
        if work == "/crossref/works":
            found = (
                [LAMPS, RETRACTION_OF_LAMPS] if "lamps" in query["query.bibliographic"][0] else []
            )
            return 200, {"status": "ok", "message": {"items": found, "total-results": len(found)}}
        if work == "/openalex/works":
            return 200, {"meta": {"count": 0}, "results": []}
        if work not in WORKS:
            return 404, "Resource not found."
        body = WORKS[work]
        return 200, {"status": "ok", "message": body} if "crossref" in work else body


@contextmanager
def replaying() -> Iterator[Replay]:
    """Serve the answers on a port of this machine."""
    replay = Replay()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            replay.asked.append(self.path)
            status, body = replay.answer(self.path)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    replay.base = f"http://127.0.0.1:{server.server_port}"
    try:
        yield replay
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Iterator[Replay]:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with replaying() as found:
        yield found


def check() -> ReferenceCheck:
    unpaired = Pairing("unpaired", None, 0.0, "No document of the library fits.")
    entries = tuple(
        CheckedEntry(row, parse_entry(text), unpaired) for row, text in enumerate(ENTRIES, 1)
    )
    return ReferenceCheck("chapter.md", entries, ())


def services(replay: Replay, mailto: str = "") -> Services:
    return Services(f"{replay.base}/crossref", f"{replay.base}/openalex", mailto)


def test_what_both_services_say_becomes_findings(replay: Replay) -> None:
    waits: list[float] = []
    found = look_up_online(check(), services(replay), pause=waits.append)
    by_row = {(one.row, one.code): one.text for one in found.findings}
    host = replay.base.removeprefix("http://")
    assert by_row[1, "retracted"].startswith(host)
    assert f"{host}: the work is marked as retracted (notice 10.1000/notice)." in [
        one.text for one in found.findings
    ]
    assert by_row[2, "online_year"] == f"The entry says 2018, {host} 2019, {host} 2019."
    assert "notice 10.1000/lamps-notice" in by_row[3, "retracted"]
    assert by_row[4, "online_not_found"].startswith(f"Not found at {host}")
    assert by_row[5, "online_title"] == (
        f"The entry's title is “Cool roofs of cities”, that of {host} “Something else about the "
        "moon”."
    )
    assert {row for row, _ in by_row} == {1, 2, 3, 4, 5}
    assert len([key for key in by_row if key[0] == 2]) == 1
    assert found.must_fix
    assert found.warnings == ()
    assert len(replay.asked) == len(waits) == 2 * len(ENTRIES)
    assert not any("mailto" in path for path in replay.asked)


def test_what_leaves_the_machine_is_said_before(replay: Replay) -> None:
    host = replay.base.removeprefix("http://")
    assert describe_requests(check(), services(replay)) == (
        f"Titles, authors and DOIs of 5 entries go to {host} and {host}."
    )
    assert describe_requests(check(), Services(mailto="a@b.org")) == (
        "Titles, authors and DOIs of 5 entries go to api.crossref.org and api.openalex.org, with "
        "the address a@b.org."
    )
    look_up_online(check(), services(replay, "a@b.org"), pause=lambda seconds: None)
    assert all("mailto=a%40b.org" in path for path in replay.asked)


def test_a_busy_service_is_asked_again_and_a_silent_one_is_left_alone(replay: Replay) -> None:
    waits: list[float] = []
    replay.statuses = [503, 429]
    found = look_up_online(check(), services(replay), pause=waits.append)
    assert found.warnings == ()
    assert [wait for wait in waits if wait >= 1] == [1.0, 2.0]
    replay.asked.clear()
    replay.statuses = [500, 500, 500]
    found = look_up_online(check(), services(replay), pause=waits.append)
    (warning,) = found.warnings
    assert warning.endswith("did not answer (HTTP 500): 5 entries were not looked up there.")
    assert len(replay.asked) == 3 + len(ENTRIES)
    silent = Services("http://127.0.0.1:9/crossref", f"{replay.base}/openalex")
    assert "127.0.0.1:9 did not answer" in look_up_online(
        check(), silent, pause=waits.append
    ).warnings[0]  # fmt: skip
