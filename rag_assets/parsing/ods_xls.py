"""Other spreadsheets: OpenDocument (ods), read as it is shown; xls and xlsb, read by calamine."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from xml.parsers.expat import EXPAT_VERSION

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cell_looks import iso_date, show_duration, show_general
from rag_assets.parsing.cleaning import guess_language
from rag_assets.parsing.package import OfficePackage, decrypt_package
from rag_assets.parsing.registry import ParseHints, extra_version, require_extra
from rag_assets.parsing.seen import (
    LEAST_POINTS,
    LEVEL,
    LOWERED,
    RAISED,
    Kind,
    Unseen,
    are_alike,
    settle_raised,
)
from rag_assets.parsing.sheets import Row, TextBuilder, write_tables
from rag_assets.parsing.sniffing import XLS_TYPE, XLSB_TYPE
from rag_assets.parsing.xlsx import (
    MAX_LABEL_CHARACTERS,
    column_letters,
    feed_xml,
    name_column,
    no_filled_cell,
    tell_hidden,
)

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_ODS_VERSION = "4"

_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
# Equal neighbours stand once with a count: a few bytes may claim 17 thousand million cells.
_MAX_REPEATED_CELLS = 5_000_000
_SPACES = {"s": " ", "tab": " ", "line-break": " "}

Event = tuple[Literal["sheet", "hidden sheet", "row", "note", "paragraph"], str, Row]


class OdsParser:
    """Reads OpenDocument spreadsheets. Pictures and charts are not read."""

    name = "ods"
    media_types = (ODS_TYPE,)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the XML library."""
        return f"{_ODS_VERSION}+{EXPAT_VERSION}"

    def parse(self, data: bytes, _hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return each sheet as a heading, its rows, its text boxes and notes.

        Raises:
            ParseFailure: `damaged_file`, `empty_file`, `hostile_file`, `password_required`,
                `size_limit`.
        """
        package = OfficePackage(data, settings)
        if _MANIFEST in package and b"encryption-data" in package.read(_MANIFEST):
            raise ParseFailure(
                "password_required",
                "The spreadsheet is protected by a password, and OpenDocument's encryption cannot "
                "be opened here: save it in its own program without the password, or as xlsx.",
            )
        scan = _Scan()
        builder = TextBuilder()
        names: list[str] = []
        events = scan.events(package)
        event = next(events, None)
        while event is not None:
            kind, name, _ = event
            sheet = _SheetRows(events)
            if kind == "hidden sheet":
                tell_hidden(name, list(sheet), scan.unseen)
            else:
                names.append(name)
                builder.open_sheet(name)
                write_tables(sheet, builder, name_column)
                for noted, text in sheet.extras:
                    builder.add(noted, text)
            event = sheet.following
        text = builder.text()
        if not text:
            raise no_filled_cell()
        return ParsedDocument(
            text=text,
            media_type=ODS_TYPE,
            blocks=builder.blocks,
            language=guess_language(text),
            metadata={"sheets": "; ".join(names)},
            warnings=scan.unseen.warnings(),
        )


_HIDDEN = frozenset({"collapse", "filter"})
_STYLES = frozenset({"style", "table-properties", "text-properties", "table-cell-properties"})


@dataclass(frozen=True, slots=True)
class _Look:
    """What a style says of text: its mark, its colours, why it cannot be seen."""

    mark: str = ""
    kind: Kind | None = None
    colour: str | None = None
    ground: str | None = "ffffff"

    def kind_on(self, ground: str | None) -> Kind | None:
        if self.kind is None and are_alike(self.colour, ground):
            return "colour"
        return self.kind


_PLAIN = _Look()


def _read_look(look: _Look, own: dict[str, str]) -> _Look:
    place = own.get("text-position", "").partition("%")[0].split(" ")[0]
    if place in {"super", "sub"} or place.lstrip("-").isdecimal():
        is_lowered = place == "sub" or place.startswith("-")
        look = replace(look, mark="" if place == "0" else LOWERED if is_lowered else RAISED)
    if "color" in own:
        look = replace(look, colour=own["color"].lstrip("#"))
    if "background-color" in own:
        fill = own["background-color"]
        look = replace(look, ground=fill.lstrip("#") if fill != "transparent" else "ffffff")
    lines = {own.get("text-line-through-style", "none"), own.get("text-line-through-type", "none")}
    if lines != {"none"}:
        return replace(look, kind="struck")
    if own.get("display") == "none":
        return replace(look, kind="hidden")
    size = own.get("font-size", "")
    points = size.removesuffix("pt")
    if points != size and points.replace(".", "", 1).isdecimal() and float(points) < LEAST_POINTS:
        return replace(look, kind="size")
    return look


@dataclass(slots=True)
class _SheetRows:
    """The rows of one sheet; what stands beside them is kept in `extras`."""

    events: Iterator[Event]
    extras: list[tuple[Literal["note", "paragraph"], str]] = field(default_factory=list)
    following: Event | None = None

    def __iter__(self) -> Iterator[Row]:
        for event in self.events:
            kind, text, row = event
            if kind == "sheet" or kind == "hidden sheet":  # noqa: PLR1714 - mypy narrows this one
                self.following = event
                return
            if kind == "row":
                yield row
            else:
                self.extras.append((kind, text))


@dataclass(slots=True)
class _Scan:
    unseen: Unseen = field(default_factory=Unseen)
    _done: list[Event] = field(default_factory=list)
    _hidden_styles: set[str] = field(default_factory=set)
    _looks: dict[str, _Look] = field(default_factory=dict)
    _style: str = ""
    _cell_look: _Look = _PLAIN
    _spans: list[_Look] = field(default_factory=list)
    _is_row_hidden: bool = False
    _hidden_columns: list[range] = field(default_factory=list)
    _row: list[tuple[int, str]] = field(default_factory=list)
    _row_number: int = 0
    _row_repeats: int = 1
    _column: int = 0
    _repeats: int = 1
    _value: str = ""
    _rows_spanned: int = 1
    # By column: how many rows below still show a label, and the label.
    _labels: dict[int, tuple[int, str]] = field(default_factory=dict)
    _expanded: int = 0
    _paragraphs: list[str] = field(default_factory=list)
    _note: list[str] = field(default_factory=list)
    _inside: list[str] = field(default_factory=list)

    def events(self, package: OfficePackage) -> Iterator[Event]:
        for _ in feed_xml(
            package.pieces(_CONTENT), _CONTENT, self._start, self._end, self._characters
        ):
            yield from self._done
            self._done.clear()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        own = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if name in _STYLES:
            self._start_style(name, own)
        elif name == "table":
            self._row_number, self._column = 0, 0
            self._hidden_columns.clear()
            self._labels.clear()
            title = " ".join(own.get("name", "").split()) or "Sheet"
            is_hidden = own.get("style-name") in self._hidden_styles
            self._done.append(("hidden sheet" if is_hidden else "sheet", title, []))
        elif name == "table-column":
            count = _count(own.get("number-columns-repeated"))
            if own.get("visibility") in _HIDDEN:
                self._hidden_columns.append(range(self._column, self._column + count))
            self._column += count
        elif name == "table-row":
            self._row, self._column = [], 0
            self._is_row_hidden = own.get("visibility") in _HIDDEN
            self._row_repeats = _count(own.get("number-rows-repeated"))
        elif name in {"table-cell", "covered-table-cell"}:
            self._repeats = _count(own.get("number-columns-repeated"))
            self._rows_spanned = _count(own.get("number-rows-spanned"))
            self._value = own.get("date-value", "").replace("T00:00:00", "").replace("T", " ")
            self._paragraphs, self._note = [], []
            self._cell_look = self._looks.get(own.get("style-name", ""), _PLAIN)
        else:
            self._start_text(name, own)

    def _start_style(self, name: str, own: dict[str, str]) -> None:
        if name == "style":
            self._style = own.get("name", "")
        elif name != "table-properties":
            self._looks[self._style] = _read_look(self._looks.get(self._style, _PLAIN), own)
        elif own.get("display") == "false":
            self._hidden_styles.add(self._style)

    def _start_text(self, name: str, own: dict[str, str]) -> None:
        if name == "span":
            self._spans.append(self._looks.get(own.get("style-name", ""), _PLAIN))
            self._mark(self._spans[-1].mark)
        elif name in {"annotation", "shapes", "frame", "custom-shape"}:
            self._inside.append(name)
        elif name == "p":
            (self._note if self._is_beside() else self._paragraphs).append("")
            self._inside.append(name)
        elif name in _SPACES:
            self._characters(_SPACES[name])

    def _is_beside(self) -> bool:
        """Tell whether the place is inside a note or a shape, not in the cell itself."""
        return any(name != "p" for name in self._inside)

    def _characters(self, text: str) -> None:
        if self._inside and self._inside[-1] == "p":
            kinds = (look.kind_on(self._cell_look.ground) for look in self._spans)
            kind = next((kind for kind in kinds if kind is not None), None)
            if kind is not None:
                self.unseen.add(kind, text)
            else:
                (self._note if self._is_beside() else self._paragraphs)[-1] += text

    def _mark(self, mark: str) -> None:
        if mark and self._inside and self._inside[-1] == "p":
            (self._note if self._is_beside() else self._paragraphs)[-1] += mark

    def _end(self, name: str) -> None:
        if self._inside and name == self._inside[-1]:
            self._inside.pop()
            if name != "p" and not self._is_beside():
                self._end_extra(name)
        elif name == "span" and self._spans:
            self._mark(LEVEL if self._spans.pop().mark else "")
        elif name in {"table-cell", "covered-table-cell"}:
            shown = self._value or " ".join(settle_raised(" ".join(self._paragraphs)).split())
            kind = self._cell_look.kind_on(self._cell_look.ground)
            if any(self._column in columns for columns in self._hidden_columns):
                kind = "hidden"
            if name == "covered-table-cell" and not shown:
                behind = self._column + self._repeats
                covered = [column for column in self._labels if self._column <= column < behind]
                self._row += [(column, label) for column in sorted(covered)
                              if (label := self._label(column))]  # fmt: skip
            elif self._rows_spanned > 1 and kind is None and len(shown) <= MAX_LABEL_CHARACTERS:
                self._labels[self._column] = self._rows_spanned - 1, shown
            if kind is not None:
                self.unseen.add(kind, shown)
            elif shown:
                self._expand(self._repeats)
                self._row += [(self._column + step, shown) for step in range(self._repeats)]
            self._column += self._repeats
        elif name == "table-row":
            repeats = self._row_repeats if self._row else 1
            if self._is_row_hidden:
                self.unseen.add("hidden", "; ".join(text for _, text in self._row))
                self._row = []
            self._expand((repeats - 1) * len(self._row))
            self._done += [("row", "", self._row)] * repeats
            self._row_number += self._row_repeats

    def _label(self, column: int) -> str:
        rows, label = self._labels.get(column, (0, ""))
        self._labels[column] = rows - 1, label
        return label if rows > 0 else ""

    def _end_extra(self, name: str) -> None:
        text = " ".join(settle_raised(" ".join(self._note)).split())
        self._note = []
        if text and name == "annotation":
            reference = f"{column_letters(self._column)}{self._row_number + 1}"
            self._done.append(("note", f"{reference}: {text}", []))
        elif text:
            self._done.append(("paragraph", text, []))

    def _expand(self, cells: int) -> None:
        self._expanded += cells
        if self._expanded > _MAX_REPEATED_CELLS:
            raise ParseFailure(
                "hostile_file",
                f"The spreadsheet repeats cells to more than {_MAX_REPEATED_CELLS} filled ones: "
                "delete the filled cells outside of its tables, then save it again.",
            )


def _count(text: str | None) -> int:
    return max(int(text), 1) if text and text.isdecimal() else 1


_XLS_VERSION = "5"

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
        return f"{_XLS_VERSION}+python-calamine-{extra_version('python-calamine')}"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return each sheet as a heading and its rows.

        Raises:
            ParseFailure: `damaged_file`, `empty_file`, `hostile_file`, `missing_extra`,
                `password_required`, `password_wrong`, `size_limit`.
        """
        require_extra("python_calamine", "office", "Workbooks of .xls and .xlsb need calamine")
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
                f"The workbook cannot be read ({error}): open it in its own program, save it again "
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
