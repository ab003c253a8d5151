"""Office files that can be read and yet are not in order: the report says what a person can do."""

import pytest

from rag_assets.model import ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_office import (
    in_paragraph,
    make_docx,
    make_pptx,
    slide_shape,
    word_paragraph,
    word_run,
    word_text,
)
from rag_assets_tests.parsing.made_up_sheets import MAIN, make_xlsx, relations_xml, sheet_xml

SHEET = sheet_xml([["name", "size"], ["leaf", 3]])


def read(data: bytes) -> ParsedDocument:
    return parse_document(data, ParseHints("", None), make_settings())


def workbook_with_link(link: str) -> bytes:
    """A workbook whose list of external links is `link`."""
    relations = relations_xml(
        ("s1", "worksheet", "worksheets/sheet1.xml"), ("x", "externalLink", "externalLink1.xml")
    )
    return make_xlsx(
        {"A": SHEET},
        extra={"xl/_rels/workbook.xml.rels": relations, "xl/externalLink1.xml": link},
    )


def test_part_that_is_named_and_missing_is_told_by_its_name() -> None:
    body = word_paragraph("Text.")
    (warning,) = read(make_docx(body, targets={"f": ("footnotes", "notes.xml")})).warnings
    assert "word/notes.xml" in warning
    assert "save it anew" in warning
    relations = relations_xml(
        ("s1", "worksheet", "worksheets/sheet1.xml"), ("ss", "sharedStrings", "sharedStrings.xml")
    )
    data = make_xlsx({"A": SHEET}, extra={"xl/_rels/workbook.xml.rels": relations})
    assert any("xl/sharedStrings.xml" in warning for warning in read(data).warnings)


@pytest.mark.parametrize(
    "data",
    [
        make_docx(word_paragraph("Text.")),
        make_pptx([slide_shape("Title", "title")]),
        make_xlsx({"A": SHEET}),
    ],
)
def test_file_in_order_has_no_warning(data: bytes) -> None:
    assert read(data).warnings == ()


def test_workbook_that_starts_a_program_is_read_and_told() -> None:
    link = (
        f'<externalLink xmlns="{MAIN}"><ddeLink ddeService="cmd" ddeTopic="/c calc"/>'
        "</externalLink>"
    )
    document = read(workbook_with_link(link))
    assert "name: leaf; size: 3" in document.text
    (warning,) = document.warnings
    assert "DDE: cmd /c calc" in warning


def test_unreadable_list_of_links_harms_no_sheet() -> None:
    document = read(workbook_with_link("<externalLink"))
    assert "name: leaf; size: 3" in document.text
    (warning,) = document.warnings
    assert "xl/externalLink1.xml" in warning


@pytest.mark.parametrize(
    "field",
    [
        word_run("<w:instrText> DDEA</w:instrText>")
        + word_run("<w:instrText>UTO cmd /c calc</w:instrText>"),
        '<w:fldSimple w:instr="DDE cmd /c calc">' + word_text("!") + "</w:fldSimple>",
    ],
)
def test_field_that_starts_a_program_is_told(field: str) -> None:
    begin, end = (word_run(f'<w:fldChar w:fldCharType="{kind}"/>') for kind in ("begin", "end"))
    (warning,) = read(make_docx(in_paragraph(word_text("Text."), begin, field, end))).warnings
    assert "DDE: cmd /c calc" in warning


def test_field_of_another_kind_is_not_told() -> None:
    field = '<w:fldSimple w:instr="PAGE \\* DDE">' + word_text("1") + "</w:fldSimple>"
    assert read(make_docx(in_paragraph(word_text("Text."), field))).warnings == ()
