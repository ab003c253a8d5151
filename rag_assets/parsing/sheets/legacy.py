"""Old and binary Excel workbooks (xls, xlsb): read by calamine, written like xlsx."""

import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.office.package import OfficePackage
from rag_assets.parsing.office.protected import decrypt_package
from rag_assets.parsing.office.sniffing import XLS_TYPE, XLSB_TYPE
from rag_assets.parsing.sheets.formats import iso_date, show_duration, show_general
from rag_assets.parsing.sheets.layout import Row
from rag_assets.parsing.sheets.rows import write_tables
from rag_assets.parsing.sheets.text import TextBuilder
from rag_assets.parsing.sheets.xlsx import name_column, no_filled_cell, tell_hidden
from rag_assets.parsing.unseen import Unseen
from rag_assets.settings import ParseSettings

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

PARSER_VERSION = "3"

# calamine keeps a sheet as a full grid of some 32 bytes a cell and ends the process where memory
# does not hold it, so a grid that is nearly empty is refused before (an xls holds 17 million).
_MAX_GRID_CELLS = 25_000_000
# [MS-XLSB] 2.3.2: record of a row and of the cells in it.
_ROW_RECORD = 0
_CELL_RECORDS = range(1, 12)
_HIGH_BIT, _LOW_BITS = 0x80, 0x7F
# calamine gives neither the height of rows nor the width of columns, nor how cells look.
_SEEN_OR_NOT = (
    "Hidden rows and columns of this format cannot be recognised, nor struck text: they are read "
    "like the others. Compare what you cite with the sheet, or save the workbook as xlsx."
)


class LegacySheetParser:
    """Reads xls and xlsb workbooks. Errors in cells, notes and pictures are not read."""

    name = "legacy_sheets"
    media_types = (XLS_TYPE, XLSB_TYPE)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of calamine."""
        return f"{PARSER_VERSION}+python-calamine-{version('python-calamine')}"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return each sheet as a heading and its rows.

        Raises:
            ParseFailure: `damaged_file`, `empty_file`, `hostile_file`, `password_required`,
                `password_wrong`, `size_limit`.
        """
        from python_calamine import CalamineError, SheetTypeEnum, SheetVisibleEnum

        media_type = XLSB_TYPE if data.startswith(b"PK") else XLS_TYPE
        if media_type == XLSB_TYPE:
            _check_grids(OfficePackage(data, settings))
        builder = TextBuilder()
        unseen = Unseen()
        try:
            workbook = _open(data, hints.password)
            for sheet in workbook.sheets_metadata:
                if sheet.typ not in (SheetTypeEnum.WorkSheet, SheetTypeEnum.MacroSheet):
                    continue
                cells = workbook.get_sheet_by_name(sheet.name)
                rows = _rows(cells.start, cells.iter_rows())
                if sheet.visible != SheetVisibleEnum.Visible:
                    tell_hidden(sheet.name, rows, unseen)
                    continue
                builder.open_sheet(" ".join(sheet.name.split()) or "Sheet")
                write_tables(rows, builder, name_column)
        except CalamineError as error:
            raise ParseFailure(
                "damaged_file",
                f"The workbook cannot be read ({error}): open it in its own program, save it anew "
                "as xlsx and replace it.",
            ) from error
        text = builder.text()
        if not text:
            raise no_filled_cell()
        return ParsedDocument(
            text=text,
            media_type=media_type,
            blocks=builder.blocks,
            language=guess_language(text),
            metadata={"sheets": "; ".join(workbook.sheet_names)},
            warnings=(*unseen.warnings(), _SEEN_OR_NOT),
        )


def _open(data: bytes, password: str | None) -> "CalamineWorkbook":
    from python_calamine import CalamineWorkbook, PasswordError

    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError:
        return CalamineWorkbook.from_filelike(io.BytesIO(decrypt_package(data, password)))


def _rows(start: tuple[int, int] | None, rows: Iterator[Sequence[Any]]) -> Iterator[Row]:
    left = 0 if start is None else start[1]
    for row in rows:
        filled = [(left + column, _show(value)) for column, value in enumerate(row)]
        yield [(column, shown) for column, shown in filled if shown]


def _show(value: Any) -> str:
    shown = ""
    if isinstance(value, str):
        shown = " ".join(value.replace("\x00", "").split())
    elif isinstance(value, bool):
        shown = "TRUE" if value else "FALSE"
    elif isinstance(value, int | float):
        shown = show_general(value)
    elif isinstance(value, datetime):
        shown = iso_date(value, with_time=value.time() != time.min)
    elif isinstance(value, timedelta):
        shown = show_duration(value / timedelta(days=1))
    elif isinstance(value, date | time):
        shown = value.isoformat()
    return shown


def _check_grids(package: OfficePackage) -> None:
    for part in package.names:
        if part.startswith("xl/worksheets/") and part.endswith(".bin"):
            height, width = _grid(package.read(part))
            if height * width > _MAX_GRID_CELLS:
                raise ParseFailure(
                    "hostile_file",
                    f"The part {part} spans {height} rows and {width} columns of nearly empty "
                    "cells: delete the cells far outside the table, or save the workbook as xlsx.",
                )


def _grid(data: bytes) -> tuple[int, int]:
    """Return (height, width) of the area that the cells of an xlsb sheet span."""
    first_row = last_row = first_column = last_column = -1
    row = position = 0
    while position < len(data):
        kind, position = _read_number(data, position, 2)
        size, position = _read_number(data, position, 4)
        if kind == _ROW_RECORD:
            row = int.from_bytes(data[position : position + 4], "little")
        elif kind in _CELL_RECORDS:
            column = int.from_bytes(data[position : position + 4], "little")
            first_row = row if first_row < 0 else min(first_row, row)
            first_column = column if first_column < 0 else min(first_column, column)
            last_row, last_column = max(last_row, row), max(last_column, column)
        position += size
    return last_row - first_row + 1, last_column - first_column + 1


def _read_number(data: bytes, position: int, most: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte ([MS-XLSB] 2.1.4) and the position behind it."""
    value = 0
    for index in range(most):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & _LOW_BITS) << (7 * index)
        if not byte & _HIGH_BIT:
            break
    return value, position
