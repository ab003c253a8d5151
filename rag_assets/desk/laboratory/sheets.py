"""Rows as a file that a spreadsheet opens: CSV, or a workbook of one sheet."""

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

from rag_assets.model import Cell, write_csv

_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override '
    'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="'
    'application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/'
    '2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet '
    'name="history" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/'
    '2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
# The same rows make the same bytes.
_DAY = (1980, 1, 1, 0, 0, 0)


def to_csv(rows: Sequence[Sequence[Cell]]) -> bytes:
    """Return rows as CSV in UTF-8 with the mark by which spreadsheets know it."""
    return ("\ufeff" + write_csv(rows, "\r\n")).encode()


def to_xlsx(rows: Sequence[Sequence[Cell]]) -> bytes:
    """Return rows as a workbook: numbers as numbers, text as text, never as a formula."""
    lines = "".join(
        f'<row r="{number}">{"".join(_cell(cell, place, number) for place, cell in enumerate(row))}'
        "</row>"
        for number, row in enumerate(rows, start=1)
    )
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        f"{lines}</sheetData></worksheet>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**_PARTS, "xl/worksheets/sheet1.xml": sheet}.items():
            archive.writestr(zipfile.ZipInfo(name, _DAY), f"{_HEAD}{text}")
    return out.getvalue()


def _cell(cell: Cell, place: int, row: int) -> str:
    name = f"{_column(place)}{row}"
    if cell is None or cell == "":
        return ""
    if isinstance(cell, str):
        text = escape("".join(c for c in cell if c.isprintable() or c in "\n\t"))
        return f'<c r="{name}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    return f'<c r="{name}"><v>{cell!r}</v></c>'


def _column(place: int) -> str:
    """Return a column's letters: 0 is A, 26 is AA."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
