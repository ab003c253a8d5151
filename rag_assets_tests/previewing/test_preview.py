from pathlib import Path
from typing import Literal

import pytest

from rag_assets import ContextBuilder, KnowledgeSource
from rag_assets.knowledge import InjectConfig, KnowledgeChunk
from rag_assets.knowledge.previewing import PreviewSource, render_html, render_lines
from rag_assets.model import ConfigurationError, ParseFailure, UsageError
from rag_assets.parsing import WorkerProcess
from rag_assets.workspace import shipped_settings
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

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


def test_the_page_shows_every_chunk_and_runs_nothing_of_the_document() -> None:
    preview = PreviewSource("roofs.md", TEXT).chunk()
    page = render_html(preview, shipped_settings().chunk.max_tokens)
    assert page.count("class='chunk ") == len(preview.chunks)
    assert "<b>Dear</b>" not in page
    assert "&lt;b&gt;Dear&lt;/b&gt;" in page
    assert "://" not in page


def test_the_lines_show_place_size_and_section() -> None:
    preview = PreviewSource("roofs.md", TEXT).chunk()
    lines = list(render_lines(preview))
    first = preview.chunks[0]
    assert any(f"{first.char_start}–{first.char_end}" in line for line in lines)
    assert "  Roofs" in lines


@pytest.mark.parametrize(
    ("harm", "limits", "reason"),
    [
        ("wait", {"seconds_per_document": 3.0}, "time_limit"),
        ("fill", {"megabytes_of_memory": 600}, "memory_limit"),
    ],
)
def test_a_page_that_harms_is_drawn_in_a_process_with_limits(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    harm: str,
    limits: dict[str, float],
    reason: str,
) -> None:
    (tmp_path / "roofs.pdf").write_bytes(make_pdf([paragraph("Roofs are cool.")]))
    call = WorkerProcess.call
    monkeypatch.setattr(
        WorkerProcess,
        "call",
        lambda self, _, given: call(self, f"rag_assets_tests.evidence.test_page:{harm}", given),
    )
    settings = shipped_settings()
    settings = settings.model_copy(update={"parse": settings.parse.model_copy(update=limits)})
    with pytest.raises(ParseFailure, match="Page 1") as failed:
        PreviewSource(tmp_path / "roofs.pdf").draw(1, settings=settings)
    assert failed.value.reason_code == reason


def test_a_page_is_drawn_with_its_blocks(tmp_path: Path) -> None:
    (tmp_path / "roofs.pdf").write_bytes(make_pdf([paragraph("Roofs are cool.")]))
    source = PreviewSource(tmp_path / "roofs.pdf")
    assert source.draw(1, dpi=50).startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="has 1 page; --page 2 is not there"):
        source.draw(2)
    with pytest.raises(UsageError, match="only pages of a PDF can be drawn"):
        PreviewSource("roofs.md", TEXT).draw(1)
