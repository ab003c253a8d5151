from pathlib import Path
from typing import Literal

import pytest

from rag_assets import ContextBuilder, KnowledgeSource
from rag_assets.knowledge import InjectConfig, KnowledgeChunk
from rag_assets.knowledge.previewing import PreviewSource, render_lines
from rag_assets.model import ConfigurationError, ParseFailure, UsageError

TEXT = "# Roofs\n\nPlanted roofs cool the rooms below. They hold\n\n## Costs\n\n<b>Dear</b>.\n"


def test_a_preview_holds_what_a_build_would_make() -> None:
    preview = KnowledgeSource("roofs.md", TEXT).chunk()
    assert (preview.document.title, preview.document_id) == ("Roofs", "roofs")
    assert [chunk.chunk_id for chunk in preview.chunks] == [
        f"roofs:{number}" for number in range(len(preview.chunks))
    ]
    for chunk in preview.chunks:
        (span,) = chunk.source_spans
        assert preview.document.text[span.start_offset : span.end_offset] == chunk.content
        assert isinstance(chunk, KnowledgeChunk)
        assert (chunk.status, chunk.metadata["doc_title"]) == ("draft", "Roofs")


@pytest.mark.parametrize("mode", ["chunk", "parent"])
def test_a_context_can_be_made_of_previewed_chunks(mode: Literal["chunk", "parent"]) -> None:
    chunks = KnowledgeSource("roofs.md", TEXT).chunk().chunks
    context = ContextBuilder.build_knowledge_context(chunks=chunks, inject=InjectConfig(mode=mode))
    assert "Planted roofs cool the rooms below." in str(context)
    assert context.aliases["C1"] == "roofs:0"


def test_a_preview_stores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "roofs.md").write_text(TEXT)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    KnowledgeSource(tmp_path / "roofs.md").chunk()
    assert [path.name for path in tmp_path.iterdir()] == ["roofs.md"]


def test_a_mapping_changes_only_the_settings_that_it_names() -> None:
    text = "One sentence of words stands here. " * 60
    sizes = {"max_tokens": 60, "target_tokens": 40, "min_tokens": 10}
    small = KnowledgeSource("a.txt", text).chunk(sizes)
    assert max(chunk.metadata["token_count"] for chunk in small.chunks) <= 60
    assert len(small.chunks) > len(KnowledgeSource("a.txt", text).chunk().chunks)


def test_an_unknown_chunk_setting_is_named() -> None:
    with pytest.raises(ConfigurationError, match="max_token"):
        KnowledgeSource("a.txt", "Words.").chunk({"max_token": 60})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.md"):
        KnowledgeSource(tmp_path / "gone.md").chunk()


def test_a_source_that_cannot_be_read_says_why() -> None:
    with pytest.raises(ParseFailure, match=r"empty\.txt") as caught:
        KnowledgeSource("empty.txt", b"").chunk()
    assert caught.value.reason_code == "empty_file"


def test_the_lines_show_place_size_and_section() -> None:
    preview = PreviewSource("roofs.md", TEXT).chunk()
    lines = list(render_lines(preview))
    first = preview.chunks[0]
    assert any(f"{first.char_start}–{first.char_end}" in line for line in lines)
    assert "  Roofs" in lines
