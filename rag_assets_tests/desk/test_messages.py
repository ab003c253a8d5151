"""Static text: all of it in both catalogues, none outside of them."""

import io
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from babel.messages.extract import extract
from babel.messages.pofile import read_po
from fastapi.testclient import TestClient
from jinja2 import Environment, nodes

from rag_assets.desk.rendering import SECTIONS, tell
from rag_assets.parsing import PARSE_REASONS
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.served import visit
from rag_assets_tests.libraries import make_workspace

ROOM = Path(str(files("rag_assets.desk")))
TEMPLATES = sorted((ROOM / "templates").rglob("*.html"))
SENTENCES = ROOM / "messages" / "zh" / "said.po"
CATALOGUES = [path for path in sorted(SENTENCES.parent.glob("*.po")) if path != SENTENCES]
_TAG = re.compile(r"<[^>]*>")
_SHOWN_ATTRIBUTE = re.compile(r'\b(?:placeholder|title|alt|aria-label)="([^"{]*[A-Za-z]{3}[^"{]*)"')
_KEPT = re.compile(r"<kbd>.*?</kbd>|<code>.*?</code>|<style>.*?</style>", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]{2}")


def used_messages() -> dict[str, str]:
    """Return each message of templates and modules with a file that uses it."""
    found = {name: "rendering.py" for _, name in SECTIONS}
    for path in [*TEMPLATES, *sorted(ROOM.rglob("*.py"))]:
        method = "jinja2.ext:babel_extract" if path.suffix == ".html" else "python"
        keywords = {"_": None, "gettext": None, "ngettext": (1, 2), "say": (2,)}
        options = {"trimmed": "true", "silent": "false"}
        with path.open("rb") as source:
            for _, message, _, _ in extract(method, source, keywords, options=options):
                text = message if isinstance(message, str) else message[0]
                found[text] = path.name
    return found


def test_the_chinese_catalogue_has_every_message_and_no_other() -> None:
    parts = [read_po(io.BytesIO(each.read_bytes()), locale="zh") for each in CATALOGUES]
    catalogue = [message for part in parts for message in part if message.id]
    kept = {message.id if isinstance(message.id, str) else message.id[0] for message in catalogue}
    used = used_messages()
    assert {text: used[text] for text in used.keys() - kept} == {}
    assert kept - used.keys() == set()
    empty = [message.id for message in catalogue if not all(
        [message.string] if isinstance(message.string, str) else message.string)]  # fmt: skip
    assert empty == []
    names = re.compile(r"%\((\w+)\)s")
    for message in catalogue:
        if isinstance(message.id, str):
            assert set(names.findall(message.id)) == set(names.findall(str(message.string)))


def test_each_sentence_that_is_translated_is_made_somewhere() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in ROOM.parent.rglob("*.py"))
    # Pieces of a text that stand in several lines, and in brackets, are one.
    joined = re.sub(r'"\s*f?"', "", source).lower()
    words = re.compile(r"%\(\w+\)s")
    for message in read_po(io.BytesIO(SENTENCES.read_bytes()), locale="zh"):
        for piece in words.split(str(message.id)):
            found = piece.lower()
            assert found in joined or found.replace(" ", "_") in joined, message.id
        assert set(words.findall(str(message.string))) <= set(words.findall(str(message.id)))


def test_sentences_made_below_the_desk_are_shown_in_chinese() -> None:
    assert tell("zh", "12 documents are not built yet") == "12 篇文献尚未构建"
    assert tell("zh", "encoding passages: 3/7") == "计算段落向量：3/7"
    assert tell("en", "failed") == "failed"
    assert tell("zh", "Nobody has translated this.") == "Nobody has translated this."
    assert [code for code in PARSE_REASONS if tell("zh", code.replace("_", " ")) == code] == []
    assert [said for said in PARSE_REASONS.values() if tell("zh", said) == said] == []


def _words(path: Path) -> Iterator[str]:
    """Give what a template shows without asking a catalogue."""
    source = _KEPT.sub("", path.read_text(encoding="utf-8"))
    environment = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)
    shown = "".join(
        child.data if isinstance(child, nodes.TemplateData) else "{}"
        for output in environment.parse(source).find_all(nodes.Output)
        for child in output.nodes
    )
    yield from _SHOWN_ATTRIBUTE.findall(source)
    yield from _LETTERS.findall(_TAG.sub(" ", shown))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_shows_no_text_of_its_own(path: Path) -> None:
    allowed = {"doctype html"}
    assert [word for word in _words(path) if word not in allowed] == []


def test_the_script_shows_no_text_of_its_own() -> None:
    script = (ROOM / "static" / "desk.js").read_text(encoding="utf-8")
    code = re.sub(r"//.*", "", script)
    said = [text for text in re.findall(r'"([^"\n]*)"|`([^`]*)`', code) for text in text if text]
    assert [text for text in said if re.search(r"[A-Za-z]{2,} [A-Za-z]{2,} [a-z]{2,}", text)] == []


def test_the_script_stays_small() -> None:
    lines = sum(
        len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOM / "static").glob("*.js")
    )
    assert lines <= 300


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    workspace: Workspace = make_workspace(tmp_path_factory.mktemp("desk") / "library", {})
    with visit(workspace) as opened:
        yield opened


def test_the_language_is_chosen_once_for_all_pages(client: TestClient) -> None:
    assert '<html lang="en">' in client.get("/").text
    answer = client.post("/language", data={"language": "zh", "back": "/"})
    assert '<html lang="zh-Hans">' in answer.text
    assert "文献库" in client.get("/").text
    client.post("/language", data={"language": "xx", "back": "/"})
    assert '<html lang="en">' in client.get("/").text
