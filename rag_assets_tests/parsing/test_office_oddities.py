"""Office files that can be read and yet are not in order: the report says what a person can do."""

import pytest

from rag_assets.model import ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_office import (
    make_docx,
    make_pptx,
    slide_shape,
    word_paragraph,
)
from rag_assets_tests.parsing.made_up_sheets import make_xlsx, relations_xml, sheet_xml

SHEET = sheet_xml([["name", "size"], ["leaf", 3]])


def read(data: bytes) -> ParsedDocument:
    return parse_document(data, ParseHints("", None), make_settings())


def test_part_that_is_named_and_missing_is_told_by_its_name() -> None:
    body = word_paragraph("Text.")
    (warning,) = read(make_docx(body, targets={"f": ("footnotes", "notes.xml")})).warnings
    assert "word/notes.xml" in warning
    assert "save it again" in warning
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
