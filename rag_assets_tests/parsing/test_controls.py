"""No character that acts gets into a document, whatever parser read it; all places move with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import Attachment, Block, PageSpan, ParsedDocument, SourceLine, has_controls
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.cleaning import without_controls
from rag_assets.workspace import shipped_settings
from rag_assets_tests.parsing.made_up_office import make_docx, word_paragraph

TITLE = "\x1b]0;owned\x07"


@pytest.mark.parametrize("extension", ["txt", "md", "csv", "html"])
def test_no_sequence_of_a_text_file_gets_into_its_document(extension: str) -> None:
    data = f"<p>Rivers{TITLE} \x1b[31mrise\x1b[0m, they \u202esay\u202c.</p>\n\nThe end.\n"
    document = parse_document(
        data.encode(), ParseHints(extension=extension), shipped_settings().parse
    )
    assert "owned" not in document.text
    assert "[31m" not in document.text
    assert not has_controls(document.text)
    assert "rise" in document.text


def test_front_matter_and_headings_are_read_without_them() -> None:
    source = (
        f'---\ntitle: "Rivers{TITLE}"\nauthors: ["Ann \\x1b[1mLee"]\n---\n# \x1b[1mDams\x1b[0m\n'
    )
    document = parse_document(source.encode(), ParseHints(extension="md"), shipped_settings().parse)
    assert (document.title, document.authors) == ("Rivers", ("Ann Lee",))
    assert [section.title for section in document.sections if section.title] == ["Dams"]


def test_overrides_of_direction_in_a_word_file_are_dropped() -> None:
    body = word_paragraph("First \u202eparagraph\u202c.") + word_paragraph("Second.")
    document = parse_document(
        make_docx(body), ParseHints(extension="docx"), shipped_settings().parse
    )
    shown = [document.text[block.start : block.end] for block in document.blocks]
    assert shown == ["First paragraph.", "Second."]


SAFE, ACTING = (
    "ab \n",
    ["\x1b[31m", "\x1b]0;t\x07", "\x08", "\u202e", "\r\n", "\x0c", "\x1b", "\x9b"],
)
PIECES = st.lists(st.text(SAFE, max_size=4) | st.sampled_from(ACTING), max_size=12)


@given(st.lists(PIECES, min_size=1, max_size=5))
def test_every_place_holds_what_it_held(written: list[list[str]]) -> None:
    """Blocks are divided by a character that belongs to no sequence."""
    text, blocks, pages, lines = "", [], [], []
    for pieces in written:
        start = len(text)
        block = "x" + "".join(pieces) + "。"
        text += block
        blocks.append(Block("paragraph", start, len(text)))
        pages.append(PageSpan(len(pages) + 1, start, len(text)))
        lines.append(SourceLine(start, len(text), len(pages), (0, 0, 1, 1)))
    document = ParsedDocument(
        text, "text/x-made-up", tuple(pages), tuple(blocks), tuple(lines),
        attachments=(Attachment("fig-001", "figure", start=blocks[-1].start, end=len(text)),),
        abstract=(blocks[0].start, blocks[0].end),
    )  # fmt: skip
    clean = without_controls(document)
    assert not has_controls(clean.text)
    if not has_controls(text):
        assert clean == document
    assert [0, *(page.end for page in clean.pages)] == [
        *(page.start for page in clean.pages), len(clean.text)
    ]  # fmt: skip
    for block, page, line in zip(clean.blocks, clean.pages, clean.lines, strict=True):
        held = clean.text[block.start : block.end]
        assert held.startswith("x")
        assert held.endswith("。")
        assert held == clean.text[page.start : page.end] == clean.text[line.start : line.end]
    assert clean.abstract == (clean.blocks[0].start, clean.blocks[0].end)
    assert clean.attachments[0].start == clean.blocks[-1].start


def test_what_holds_nothing_else_goes() -> None:
    document = ParsedDocument(
        "\x1b[0m\n\nText.", "text/x-made-up",
        blocks=(Block("paragraph", 0, 4), Block("paragraph", 6, 11)),
        title="\x1b[0m", authors=("\x1b[0m", "Ann"), metadata={"subject": "a\x1b[0mb"},
    )  # fmt: skip
    clean = without_controls(document)
    assert clean.blocks == (Block("paragraph", 2, 7),)
    assert (clean.title, clean.authors, clean.metadata) == (None, ("Ann",), {"subject": "ab"})
