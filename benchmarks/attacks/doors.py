"""Ways in and ways to hinder: modules of the folder, the desk, large inputs, drawings, SQL."""

import hashlib
import http.client
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import psutil

from benchmarks.attacks.attack import (
    Attack,
    Library,
    ingest,
    last_line,
    rag,
    require,
    require_sentence,
)
from rag_assets.desk.state import DrawnPages
from rag_assets.evidence.pictures import WholePage
from rag_assets.parsing import load_pymupdf
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.served import Served, serve_desk
from rag_assets_tests.shadows import imported_from, plant_shadows

_QUESTION = "Which roof was cooler at noon?"
_COMMANDS = (("ingest",), ("query", _QUESTION), ("verify-citations", "drafts/draft.md"),
             ("models", "add"), ("doctor",), ("gc",))  # fmt: skip
_MALFORMED = ('a="', "=;;;", "\xff=1", '{"a": 1}', "a b c=d", "$Version=1", "x" * 7000)
_ENDLESS = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 8",
    "SELECT * FROM range(10000000000)",
)
_WORDS, _LINES, _BYTES = 1_000_000, 400_000, 500_000_000


def doors(library: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield every attack once in an order of chance."""
    made: list[tuple[str, str, Callable[[Library, Path], None]]] = [
        ("cookies", "no foreign one locks out, none is a token", _cookies),
        ("a million words", "a sentence, and the desk goes on", _large),
        ("a hostile drawing", "that page is refused, the next is drawn", _drawing),
        *(
            (f"shadows, {command[0]}", "nothing of the folder is imported",
             partial(_shadows, command))
            for command in _COMMANDS
        ),
        *(
            (f"SQL, {statement[:30]}", "it ends, with a sentence", partial(_endless, statement))
            for statement in _ENDLESS
        ),
    ]  # fmt: skip
    for name, holds, attack in chance.sample(made, len(made)):
        yield Attack("doors", name, holds, partial(attack, library))


def _shadows(command: tuple[str, ...], library: Library, folder: Path) -> None:
    root = library.copy_to(folder)
    plant_shadows(root)
    ran = subprocess.run(
        [Path(sys.executable).with_name("rag"), "--workspace", root, *command],
        cwd=root,
        env=os.environ | {"PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    require_sentence(ran)
    require(imported_from(root) == [], f"imported {imported_from(root)}")


def _endless(statement: str, library: Library, folder: Path) -> None:
    ran = rag(library.copy_to(folder), "sql", "--seconds", "3", statement)
    require_sentence(ran)
    require(ran.returncode == 3, f"ends with {ran.returncode}: {last_line(ran)}")


def _asked(
    served: Served, method: str, path: str, headers: dict[str, str], body: str | None = None
) -> tuple[int, str | None]:
    line = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=60)
    try:
        line.request(method, path, body, headers)
        answer = line.getresponse()
        answer.read()
        return answer.status, answer.getheader("set-cookie")
    finally:
        line.close()


def _cookies(library: Library, folder: Path) -> None:
    workspace = Workspace.open(library.copy_to(folder))
    with serve_desk(workspace) as served, serve_desk(workspace) as other:
        _, given = _asked(served, "GET", f"/open?token={served.desk.door.token}", {})
        cookie = str(given).partition(";")[0]
        name, _, value = cookie.partition("=")
        require(served.desk.door.token not in cookie, "the cookie holds the token")
        bearer = {"Authorization": f"Bearer {value}"}
        require(_asked(served, "GET", "/", bearer)[0] == 401, "the cookie is a token")
        require(_asked(other, "GET", "/", {"Cookie": cookie})[0] == 401, "it opens another desk")
        for wrong in (*_MALFORMED, f"{name}=foreign", f'{name}="'):
            for both in (f"{wrong}; {cookie}", f"{cookie}; {wrong}"):
                status, _ = _asked(served, "GET", "/", {"Cookie": both})
                require(status == 200, f"locked out by {wrong[:20]!r}: {status}")


def _large(library: Library, folder: Path) -> None:
    root = library.copy_to(folder)
    words = "word " * _WORDS
    question = folder / "large.yaml"
    question.write_text(f"question: {words}\n", "utf-8")
    ran = rag(root, "query", "--file", question)
    require_sentence(ran)
    require(ran.returncode in {2, 3}, f"ends with {ran.returncode}: {last_line(ran)}")
    sheet = folder / "line.csv"
    sheet.write_text("a," * _WORDS * 9, "utf-8")
    rag(root, "lab", "init")
    ran = rag(root, "lab", "import", sheet)
    require_sentence(ran)
    require(ran.returncode == 3, f"ends with {ran.returncode}: {last_line(ran)}")
    with serve_desk(Workspace.open(root)) as served:
        door = served.desk.door
        headers = {"Cookie": f"{door.cookie}={door.session}", "X-Desk-Form": door.form_token,
                   "Origin": served.url,
                   "Content-Type": "application/x-www-form-urlencoded"}  # fmt: skip
        before = psutil.Process().memory_info().rss
        for asked in (words, "x" * _WORDS, "word " * 50_000):
            body = urlencode({"question": asked})
            status, _ = _asked(served, "POST", "/ask", headers, body)
            require(status in {400, 413}, f"answers {status}")
        more = psutil.Process().memory_info().rss - before
        require(more < _BYTES, f"takes {more} bytes")
        require(_asked(served, "GET", "/", headers)[0] == 200, "does not go on")


def _drawing(library: Library, folder: Path) -> None:
    root = library.copy_to(folder)
    path = root / "raw/evidence/lines.pdf"
    path.write_bytes(_hostile())
    ran = ingest(root)
    require(ran.returncode == 0, f"the build ends with {ran.returncode}: {last_line(ran)}")
    pages = DrawnPages(Workspace.open(root))
    read = hashlib.sha256(path.read_bytes()).hexdigest()
    try:
        started = time.monotonic()
        first = pages.draw("thesis", read, 1)
        seconds = time.monotonic() - started
        require(isinstance(first, str) and "cannot be drawn" in first, "the page was drawn")
        require(seconds < 120, f"refused after {seconds:.0f} s")
        second = pages.draw("thesis", read, 2)
        require(isinstance(second, WholePage), f"the next page: {second}")
    finally:
        pages.close()


def _hostile() -> bytes:
    """Return a PDF whose first page draws broad lines without end."""
    chance = random.Random(1)
    document = load_pymupdf().open()
    for said in ("Lines hinder who draws them.", "Sheep graze below the panels of the quarry."):
        document.new_page().insert_text((72, 72), said)
    lines = "".join(
        "{} {} m {} {} l S\n".format(*(chance.randint(0, 800) for _ in range(4)))
        for _ in range(_LINES)
    )
    drawn = document.get_new_xref()
    document.update_object(drawn, "<<>>")
    document.update_stream(drawn, f"q 40 w {lines} Q".encode())
    page = document[0]
    page_text = page.get_contents()[0]
    document.xref_set_key(page.xref, "Contents", f"[{page_text} 0 R {drawn} 0 R]")
    return bytes(document.tobytes())
