"""What a file, name, sidecar, draft or question says, looked for in every output.

Each payload goes everywhere at once: into a document's text, title and heading, its file's name, a
sidecar, a draft and a question. Then the commands run and all that they wrote and printed is read.
"""

import json
import random
import re
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import yaml
from markdown_it import MarkdownIt

from benchmarks.attacks.attack import (
    Attack,
    Library,
    last_line,
    rag,
    require,
    require_sentence,
)
from benchmarks.attacks.forked import BrokeError

_PAYLOADS = {
    "a mutation as a picture": "![a](/graphql?query=mutation%7BwipeAssets%7D)",
    "a remote picture": "![a](http://tracker.invalid/a.png)",
    "HTML": "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "a fence's end": "```\n\n![a](/graphql?query=mutation)\n\n```",
    "a longer fence's end": "`````\n\n![a](/graphql?query=mutation)\n\n`````",
    "a link": "[a](javascript:alert(1))",
    "a table's end": "a | b |\n\n<script>alert(1)</script>",
    "an escape sequence": "\x1b]0;owned\x07\x1b[2J\x1b[31m",
    "a C1 sequence": "\x9b2J\x9d0;owned\x9c",
    "a second RIS record": "a\nER  - \nTY  - BOOK\nTI  - injected",
    "a second BibTeX record": "a}}\n@book{injected, title={injected}}",
    "SQL": "'); DROP TABLE chunks; --",
}
_HOLDS = "no output renders it, runs it or takes it for its own syntax"
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ACTS = ("/graphql", "tracker.invalid", "javascript:")
_RENDERED_HTML = re.compile(r"<(script|img src=x)", re.IGNORECASE)


def injections(library: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield the payloads in an order of chance."""
    for name in chance.sample(sorted(_PAYLOADS), len(_PAYLOADS)):
        yield Attack("injections", name, _HOLDS, partial(_inject, library, _PAYLOADS[name]))


def _inject(library: Library, payload: str, folder: Path) -> None:
    root = library.copy_to(folder)
    evidence = root / "raw/evidence"
    name = re.sub(r"[/\x00]", "∕", payload)[:60]
    told = f"# Sheep {payload}\n\nSheep graze {payload} below the panels of the old quarry.\n"
    (evidence / "sheep.md").write_text(told, "utf-8")
    fields = {"title": f"Sheep {payload}", "publisher": payload, "citation_key": f"k{payload}"}
    sidecar = yaml.safe_dump(fields, allow_unicode=True)
    (evidence / "sheep.md.meta.yaml").write_text(sidecar, "utf-8")
    (evidence / f"{name}.md").write_text(f"# Goats\n\nGoats {payload} climb.\n", "utf-8")
    (evidence / "goats.md.meta.yaml").write_text(yaml.safe_dump({"tags": [payload]}), "utf-8")
    draft = root / "drafts/draft.md"
    draft.write_text(f"Sheep graze below the panels {payload} {{#sheep}}.\n", "utf-8")
    printed = []
    for command in (
        ["ingest"],
        ["query", f"Where do sheep graze? {payload}"],
        ["query", "Where do sheep graze below the panels?"],
        ["export-used-sources"],
        ["verify-citations", draft],
        ["documents"],
        ["status"],
    ):
        ran = rag(root, *command)
        require_sentence(ran)
        require(ran.returncode == 0 or command[0] in {"query", "export-used-sources"},
                f"{command[0]}: {last_line(ran)}")  # fmt: skip
        printed.append((f"rag {command[0]}", ran.stdout + ran.stderr))
    found = [*_in_terminal(printed), *_in_files(root / "outputs"), *_in_events(root)]
    if found:
        raise BrokeError("; ".join(sorted(set(found)))[:300])


def _in_terminal(printed: list[tuple[str, str]]) -> Iterator[str]:
    for command, text in printed:
        if _CONTROL.search(text):
            yield f"{command} prints control characters"


def _in_files(outputs: Path) -> Iterator[str]:
    for path in sorted(outputs.rglob("*")):
        if not path.is_file() or path.suffix not in {".md", ".html", ".ris", ".bib", ".json"}:
            continue
        text, name = path.read_bytes().decode("utf-8"), path.suffix
        if path.suffix != ".json" and _CONTROL.search(text):
            yield f"control characters in {name}"
        if path.suffix == ".md" and _acts_as_markdown(text):
            yield f"rendered in {path.name}"
        if path.suffix == ".html" and _RENDERED_HTML.search(text):
            yield f"HTML in {path.name}"
        if path.suffix == ".ris" and re.search(r"^TI  - injected", text, re.MULTILINE):
            yield f"a record of its own in {path.name}"
        if path.suffix == ".bib" and re.search(r"^@book\{injected", text, re.MULTILINE):
            yield f"a record of its own in {path.name}"


def _in_events(root: Path) -> Iterator[str]:
    """Look through the Markdown that Dagster's UI would render."""
    for path in sorted((root / "meta").rglob("*.db")):
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
            rows = (
                connection.execute("SELECT event FROM event_logs").fetchall()
                if "event_logs" in tables
                else []
            )
        finally:
            connection.close()
        for (event,) in rows:
            if any(_acts_as_markdown(text) for text in _markdown_of(json.loads(event))):
                yield "rendered by the Dagster UI"


def _markdown_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("__class__") == "MarkdownMetadataEntryData":
            yield str(value.get("md_str"))
        for inner in value.values():
            yield from _markdown_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _markdown_of(inner)


def _acts_as_markdown(text: str) -> bool:
    """Whether a renderer makes a picture, link or HTML of a payload."""
    html = MarkdownIt("commonmark").enable("table").render(text)
    links = re.findall(r'(?:src|href)="([^"]*)"', html)
    return bool(_RENDERED_HTML.search(html)) or any(
        mark in link for link in links for mark in _ACTS
    )
