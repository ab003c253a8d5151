"""The table of modes: complete, honest about what a mode reads, and the one place that knows."""

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

import rag_assets.chunking
from rag_assets.chunking import chunk_document, make_chunks, make_parents
from rag_assets.chunking.modes import MODES, chunk_key, parent_key
from rag_assets.model import Block, ParsedDocument
from rag_assets.model.settings import ChunkMode, ChunkSettings
from rag_assets_tests.chunking.fakes import LetterTokenizer, chunk_settings

TEXT = "Q: Why is it cool?\nA: The roof reflects the light, all of it.\n\nMore is said below.\n"
DOCUMENT = ParsedDocument(TEXT, "text/plain", blocks=(Block("paragraph", 0, len(TEXT)),))


class Watched:
    """Settings that remember which of their keys were read."""

    def __init__(self, settings: ChunkSettings) -> None:
        self._settings, self.read = settings, set[str]()

    def __getattr__(self, name: str) -> Any:
        if name in ChunkSettings.model_fields:
            self.read.add(name)
        return getattr(self._settings, name)


def test_every_mode_that_may_be_configured_is_in_the_table() -> None:
    assert set(MODES) == set(get_args(ChunkMode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("parents", ["page", "section", "document"])
def test_a_mode_reads_the_settings_that_it_names(mode: ChunkMode, parents: str) -> None:
    settings: Any = Watched(chunk_settings(mode=mode, parents=parents))
    tokenizer = LetterTokenizer()
    made = make_parents(DOCUMENT, settings, tokenizer.count)
    assert settings.read <= MODES[mode].parent_settings | {"mode"}
    settings.read.clear()
    assert make_chunks(DOCUMENT, made, settings, tokenizer)
    assert settings.read <= MODES[mode].settings | {"mode"}


def test_settings_of_another_mode_change_no_fingerprint() -> None:
    plain = chunk_settings()
    other = plain.model_copy(
        update={"general": plain.general.model_copy(update={"delimiter": "##"})}
    )
    assert chunk_key(plain) == chunk_key(other)
    general = {"mode": "general"}
    assert chunk_key(plain.model_copy(update=general)) != chunk_key(
        other.model_copy(update=general)
    )
    # Pages and sections are the same with and without delimiters, not with questions.
    keys = [parent_key(plain.model_copy(update={"mode": mode})) for mode in MODES]
    assert keys[0] == keys[1] != keys[2]


def test_nothing_else_asks_which_mode_it_is() -> None:
    folder = Path(rag_assets.chunking.__file__).parent
    asking = [
        f"{path.name}:{node.lineno}"
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare | ast.Match)
        and any(isinstance(n, ast.Attribute) and n.attr == "mode" for n in ast.walk(node))
    ]
    assert asking == []


def test_a_new_mode_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines as parents, each whole; nothing besides the entry knows of it."""
    from rag_assets.chunking.context import headings_above
    from rag_assets.chunking.parents import parents_of_spans

    def lines(outline: Any, settings: Any, count: Any) -> Any:
        starts = [0, *(n + 1 for n, letter in enumerate(TEXT) if letter == "\n")]
        spans = [
            (start, start + len(line))
            for start, line in zip(starts, TEXT.split("\n"), strict=True)
            if line
        ]
        return parents_of_spans(outline, "l", iter(spans))

    entry = replace(MODES["parent_child"], parents=lines, context=headings_above)
    monkeypatch.setattr("rag_assets.chunking.modes.MODES", {**MODES, "lines": entry})
    settings = chunk_settings(max_tokens=100).model_copy(update={"mode": "lines"})
    parents, chunks = chunk_document(DOCUMENT, settings, LetterTokenizer(limit=100))
    assert [parent.label for parent in parents] == ["l000", "l001", "l002"]
    assert [chunk.text for chunk in chunks] == [line for line in TEXT.split("\n") if line]
