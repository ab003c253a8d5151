"""Excel workbooks (xlsx, xlsm): sheets in order, every row a line that can stand alone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from itertools import chain
from xml.parsers.expat import EXPAT_VERSION

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.office.dde import workbook_dde_warning
from rag_assets.parsing.office.package import OfficePackage, relationship_id
from rag_assets.parsing.office.properties import read_properties
from rag_assets.parsing.office.sniffing import XLSX_TYPE
from rag_assets.parsing.sheets.extras import ExtrasReader
from rag_assets.parsing.sheets.formats import show_general
from rag_assets.parsing.sheets.layout import Row
from rag_assets.parsing.sheets.looks import CellStyle, Run, read_styles
from rag_assets.parsing.sheets.merged import fill_merged, find_merged
from rag_assets.parsing.sheets.rows import write_tables
from rag_assets.parsing.sheets.text import TextBuilder
from rag_assets.parsing.sheets.xml import (
    CellReader,
    SparseRow,
    column_letters,
    read_shared_strings,
)
from rag_assets.parsing.unseen import Unseen
from rag_assets.settings import ParseSettings

PARSER_VERSION = "3"


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    part: str
    kind: str
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class WorkbookSheet:
    """A sheet's filled cells.

    Args:
        rows: number from 1, and by column from 0 what a cell shows and its number in full: a cell
            that shows 0.12 may hold 0.1234.
    """

    name: str
    rows: tuple[tuple[int, Mapping[int, tuple[str, str]]], ...]


class XlsxParser:
    """Reads Excel workbooks with and without macros, which are never looked at."""

    name = "xlsx"
    media_types = (XLSX_TYPE,)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and those of the XML libraries."""
        return f"{PARSER_VERSION}+{EXPAT_VERSION}+lxml-{version('lxml')}"

    def parse(self, data: bytes, _hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return each sheet as a heading, its rows, its notes, its drawing's texts and pictures.

        Raises:
            ParseFailure: `damaged_file`, `hostile_file`, `size_limit`, `empty_file`.
        """
        package = OfficePackage(data, settings)
        workbook = package.main_part("xl/workbook.xml")
        sheets = _list_sheets(package, workbook)
        reader = CellReader(_read_strings(package, workbook), _read_styles(package, workbook))
        builder = TextBuilder()
        extras = ExtrasReader(package, builder)
        for sheet in sheets:
            if sheet.is_hidden:
                if sheet.kind != "chartsheet":
                    rows = reader.rows(package.pieces(sheet.part), sheet.part)
                    tell_hidden(sheet.name, (row for _, row in rows), reader.unseen)
                continue
            builder.open_sheet(sheet.name)
            if sheet.kind != "chartsheet":
                rows = fill_merged(
                    reader.rows(package.pieces(sheet.part), sheet.part),
                    find_merged(package.pieces(sheet.part)),
                )
                write_tables(part_tables(rows), builder, name_column)
            extras.add_extras(sheet.part)
        text = builder.text()
        if not text:
            raise no_filled_cell()
        properties = read_properties(package)
        names = [sheet.name for sheet in sheets if not sheet.is_hidden]
        return ParsedDocument(
            text=text,
            media_type=XLSX_TYPE,
            blocks=builder.blocks,
            attachments=tuple(extras.attachments),
            title=properties.title,
            authors=properties.authors,
            language=guess_language(text),
            metadata={**properties.metadata, "sheets": "; ".join(names)},
            warnings=(
                *reader.unseen.warnings(),
                *_uncomputed(reader),
                *extras.warnings,
                *workbook_dde_warning(package, workbook),
                *package.missing_warning(),
            ),
        )


def read_workbook(data: bytes, settings: ParseSettings) -> tuple[WorkbookSheet, ...]:
    """Return the sheets of an xlsx workbook cell by cell, hidden ones and charts left out.

    Raises:
        ParseFailure: `damaged_file`, `hostile_file`, `size_limit`.
    """
    package = OfficePackage(data, settings)
    workbook = package.main_part("xl/workbook.xml")
    strings = _read_strings(package, workbook)
    styles = _read_styles(package, workbook)
    shown = CellReader(strings, styles)
    full = CellReader(strings, [replace(style, show=show_general) for style in styles])
    found = []
    for sheet in _list_sheets(package, workbook):
        if sheet.kind == "chartsheet" or sheet.is_hidden:
            continue
        both = zip(
            shown.rows(package.pieces(sheet.part), sheet.part),
            full.rows(package.pieces(sheet.part), sheet.part),
            strict=True,
        )
        rows = tuple(
            (
                number,
                {
                    column: (text, plain)
                    for (column, text), (_, plain) in zip(row, plain_row, strict=True)
                },
            )
            for (number, row), (_, plain_row) in both
        )
        found.append(WorkbookSheet(sheet.name, rows))
    return tuple(found)


def part_tables(rows: Iterable[tuple[int, SparseRow]]) -> Iterator[Row]:
    """Yield the rows, with an empty one where the sheet has blank rows."""
    above = 0
    for number, row in rows:
        if above and number > above + 1:
            yield []
        above = number
        yield row


def name_column(index: int) -> str:
    """Return how a column without header is called: as the sheet's edge shows it."""
    return f"column {column_letters(index)}"


def no_filled_cell() -> ParseFailure:
    """Return the failure of a workbook without text."""
    return ParseFailure("empty_file", "No sheet has a filled cell: remove the workbook or fill it.")


def tell_hidden(name: str, rows: Iterable[Row], unseen: Unseen) -> None:
    """Count a hidden sheet, with its first row as the example, unless it is empty."""
    first = next((row for row in rows if row), None)
    if first:
        unseen.add("hidden", f"sheet {name}: {'; '.join(text for _, text in first)}")


def _uncomputed(reader: CellReader) -> list[str]:
    warning = (
        f"{reader.uncomputed} formulas have no stored result and are missing here: open the "
        "workbook in its own program and save it."
    )
    return [warning] if reader.uncomputed else []


def _list_sheets(package: OfficePackage, workbook: str) -> list[_Sheet]:
    relationships = package.relationships(workbook)
    sheets = []
    for element in package.tree(workbook).iter("{*}sheet"):
        target = relationships.get(relationship_id(element) or "")
        if target is None or target.is_external:
            continue
        name = " ".join(element.get("name", "").split()) or "Sheet"
        is_hidden = element.get("state", "visible") != "visible"
        sheets.append(_Sheet(name, target.target, target.kind, is_hidden))
    if not sheets:
        raise ParseFailure(
            "damaged_file",
            "The workbook lists no sheet: open it in its own program, save it anew and replace it.",
        )
    return sheets


def _read_strings(package: OfficePackage, workbook: str) -> list[str | list[Run]]:
    parts = package.related(workbook, "sharedStrings")
    return list(
        chain.from_iterable(read_shared_strings(package.pieces(part), part) for part in parts)
    )


def _read_styles(package: OfficePackage, workbook: str) -> list[CellStyle]:
    from_1904 = any(
        properties.get("date1904") in {"1", "true"}
        for properties in package.tree(workbook).iter("{*}workbookPr")
    )
    styles: list[CellStyle] = []
    for part in package.related(workbook, "styles"):
        styles += read_styles(package.tree(part), from_1904=from_1904)
    return styles
