import json

import pytest

from rag_assets.model import Attachment, Block, PageSpan, ParsedDocument
from rag_assets.parsing.stored import json_pieces, render_markdown

TEXT = (
    "On roofs\n\nMethods\n\nWe built.\n\n- one\n- two\n\n![Figure 1](attachment:fig-001)\n\nx = 1"
)


def block(kind: str, part: str, page: int, level: int | None = None) -> Block:
    start = TEXT.index(part)
    return Block(kind, start, start + len(part), page, None, level)  # type: ignore[arg-type]


DOCUMENT = ParsedDocument(
    text=TEXT,
    media_type="application/pdf",
    pages=(PageSpan(1, 0, 19), PageSpan(2, 19, len(TEXT))),
    blocks=(
        block("title", "On roofs", 1),
        block("heading", "Methods", 1, 1),
        block("paragraph", "We built.", 2),
        block("list", "- one", 2),
        block("list", "- two", 2),
        block("figure", "![Figure 1](attachment:fig-001)", 2),
        block("code", "x = 1", 2),
    ),
    attachments=(Attachment("fig-001", "figure", "Figure 1"),),
)


def test_kinds_of_blocks_become_markdown() -> None:
    assert render_markdown(DOCUMENT, {"fig-001": "attachments/fig-001.png"}) == (
        "<!-- page 1 -->\n\n# On roofs\n\n## Methods\n\n<!-- page 2 -->\n\nWe built.\n\n"
        "- one\n- two\n\n![Figure 1](attachments/fig-001.png)\n\n```\nx = 1\n```\n"
    )


def test_a_figure_without_a_file_keeps_its_reference() -> None:
    assert "![Figure 1](attachment:fig-001)" in render_markdown(DOCUMENT)


def test_a_document_is_the_same_json_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = "".join(json_pieces(DOCUMENT))
    monkeypatch.setattr("rag_assets.parsing.stored._OBJECTS_AT_ONCE", 2)
    assert "".join(json_pieces(DOCUMENT)) == whole
    loaded = json.loads(whole)
    assert whole == json.dumps(loaded, ensure_ascii=False, indent=1) + "\n"
    assert loaded["text"] == TEXT
    assert [block["kind"] for block in loaded["blocks"]] == [b.kind for b in DOCUMENT.blocks]
    assert (loaded["lines"], loaded["attachments"][0]["name"]) == ([], "Figure 1")
