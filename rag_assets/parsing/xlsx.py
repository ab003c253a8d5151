"""Excel workbooks (xlsx, xlsm): sheets in order, every row a line that can stand alone.

The cells are read from a stream by expat. calamine, which reads the other formats, shows 25.6% as
0.256, 12.5 kg as 12.5 and a raised exponent (10^5) as 105, gives hidden rows as if they were seen,
and ends the process on a sheet of 1.4 KB whose cells lie far apart.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING, Any
from xml.parsers import expat
from xml.parsers.expat import EXPAT_VERSION

from rag_assets.model import Attachment, ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cell_looks import (
    CellStyle,
    RichText,
    Run,
    read_styles,
    settle_runs,
    show_general,
)
from rag_assets.parsing.cleaning import guess_language
from rag_assets.parsing.package import OfficePackage, read_properties, relationship_id
from rag_assets.parsing.registry import ParseHints
from rag_assets.parsing.seen import Unseen
from rag_assets.parsing.sheets import Row, TextBuilder, write_tables
from rag_assets.parsing.sniffing import XLSX_TYPE

if TYPE_CHECKING:
    from lxml.etree import _Element

PARSER_VERSION = "5"

# Cells row by row, from a stream: memory holds a row, not the sheet

# ISO 29500-1 §22.4.2.4: characters that XML cannot hold stand as _xHHHH_ in strings.
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LAST_COLUMN = 16_384
_DIGITS = "0123456789"

SparseRow = list[tuple[int, str]]


@dataclass(slots=True)
class CellReader:
    """What the cells of a workbook refer to, and what could not be read or is not seen.

    Args:
        strings: the shared strings, as plain text or runs.
        styles: of cells.
        uncomputed: formulas without a stored result so far.
        unseen: what was left out so far.
    """

    strings: Sequence[str | list[Run]]
    styles: Sequence[CellStyle]
    uncomputed: int = 0
    unseen: Unseen = field(default_factory=Unseen)

    def rows(self, pieces: Iterable[bytes], part: str) -> Iterator[tuple[int, SparseRow]]:
        """Yield (number from 1, filled cells with white space folded) of each filled row.

        Hidden rows and columns and what a style hides are left out.

        Args:
            pieces: the bytes of the part.
            part: its name, for messages.

        Raises:
            ParseFailure: `damaged_file`, `hostile_file`.
        """
        scan = _SheetScan(self)
        for _ in feed_xml(pieces, part, scan.start, scan.end, scan.text.add):
            while scan.rows:
                yield scan.rows.popleft()
        yield from scan.rows

    def show(self, runs: list[Run], kind: str, style: CellStyle) -> str:
        """Return what a cell shows.

        Args:
            runs: of its value.
            kind: `c/@t`.
            style: of the cell.
        """
        raw = "".join(text for run in runs for text in run.text)
        if kind == "s":
            index = int(raw) if raw.strip().isdecimal() else -1
            found = self.strings[index] if 0 <= index < len(self.strings) else ""
            if isinstance(found, str):
                return found
            runs = found
        if kind in {"s", "inlineStr"}:
            return unescape(settle_runs(runs, style.ground, self.unseen))
        if kind == "n":
            number = _finite_number(raw)
            return raw if number is None else style.show(number)
        if kind == "b":
            return "TRUE" if raw.strip() in {"1", "true"} else "FALSE"
        if kind == "d":
            return raw.replace("T00:00:00", "").replace("T", " ")
        return unescape(raw) if kind == "str" else raw


def _finite_number(raw: str) -> float | None:
    """Return the number that a cell stores, None for text, infinity and NaN."""
    try:
        number = float(raw)
    except ValueError:
        return None
    return number if number - number == 0 else None


_PLAIN_STYLE = CellStyle()
_TEXTS = frozenset({"s", "str", "inlineStr"})


@dataclass(slots=True)
class _SheetScan:
    reader: CellReader
    rows: deque[tuple[int, SparseRow]] = field(default_factory=deque)
    cells: SparseRow = field(default_factory=list)
    row: int = 0
    column: int = -1
    kind: str = "n"
    style: CellStyle = _PLAIN_STYLE
    has_formula: bool = False
    text: RichText = field(default_factory=RichText)
    columns: dict[str, int] = field(default_factory=dict)
    is_row_hidden: bool = False
    hidden_columns: list[range] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self.column = self._column_of(attributes.get("r"))
            self.kind = attributes.get("t", "n")
            style, styles = attributes.get("s", "0"), self.reader.styles
            number = int(style) if style.isdecimal() else 0
            self.style = styles[number] if number < len(styles) else _PLAIN_STYLE
            self.has_formula = False
            self.text.clear()
        elif name == "row":
            number = int(attributes["r"]) if attributes.get("r", "").isdecimal() else self.row + 1
            self.row, self.column, self.cells = number, -1, []
            self.is_row_hidden = _is_hidden(attributes, "ht")
        elif name == "col":
            first, last = attributes.get("min", ""), attributes.get("max", "")
            if _is_hidden(attributes, "width") and first.isdecimal() and last.isdecimal():
                self.hidden_columns.append(range(int(first) - 1, int(last)))
        elif name == "f":
            self.has_formula = True
        else:
            self.text.start(name, attributes)

    def end(self, name: str) -> None:
        if name == "c":
            self._end_cell()
        elif name == "row":
            if self.is_row_hidden:
                self.reader.unseen.add("hidden", "; ".join(shown for _, shown in self.cells))
            elif self.cells:
                if any(a[0] >= b[0] for a, b in zip(self.cells, self.cells[1:], strict=False)):
                    self.cells = sorted(dict(self.cells).items())
                self.rows.append((self.row, self.cells))
        else:
            self.text.end(name)

    def _end_cell(self) -> None:
        if not any(run.text for run in self.text.runs):
            self.reader.uncomputed += self.has_formula
            return
        shown = " ".join(self.reader.show(self.text.runs, self.kind, self.style).split())
        kind = self.style.unseen
        is_text = self.kind in _TEXTS
        if self.style.hides_text if is_text else self.style.hides_numbers:
            kind = "hidden"
        if any(self.column in columns for columns in self.hidden_columns):
            kind = "hidden"
        if kind is not None:
            self.reader.unseen.add(kind, shown)
        elif shown:
            self.cells.append((self.column, shown))

    def _column_of(self, reference: str | None) -> int:
        if not reference:
            return min(self.column + 1, _LAST_COLUMN)
        letters = reference.rstrip(_DIGITS)
        column = self.columns.get(letters)
        if column is None:
            column = self.columns[letters] = column_index(letters)
        return column


def _is_hidden(attributes: dict[str, str], size: str) -> bool:
    """Tell whether a row or column is hidden, or of no height or width."""
    return attributes.get("hidden") in {"1", "true"} or not attributes.get(size, "1").strip("0.")


def feed_xml(
    pieces: Iterable[bytes],
    part: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> Iterator[None]:
    """Run an XML part through handlers of local names; yield after every piece of it.

    Raises:
        ParseFailure: `damaged_file`, `hostile_file` where a document type is declared.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: start(_local_name(name), attributes)
    parser.EndElementHandler = lambda name: end(_local_name(name))
    parser.CharacterDataHandler = text

    def refuse(*_: Any) -> None:
        raise ParseFailure(
            "hostile_file",
            f"The part {part} declares a document type, as entity bombs do and no spreadsheet "
            "program writes: find out where the file comes from; where you trust it, open it in "
            "its own program and save it again.",
        )

    parser.StartDoctypeDeclHandler = refuse
    try:
        for piece in pieces:
            parser.Parse(piece, False)
            yield
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ParseFailure(
            "damaged_file",
            f"The part {part} of the workbook is no valid XML ({error}): open the file in its own "
            "program, save it again and replace it.",
        ) from error
    yield


def read_shared_strings(pieces: Iterable[bytes], part: str) -> list[str | list[Run]]:
    """Return the strings that cells refer to by number: plain ones with white space folded, others
    as runs.

    Raises:
        ParseFailure: as `feed_xml`.
    """
    strings: list[str | list[Run]] = []
    rich = RichText()

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "si":
            rich.clear()
        else:
            rich.start(name, attributes)

    def end(name: str) -> None:
        if name != "si":
            rich.end(name)
        elif any(run.mark or run.kind or run.colour for run in rich.runs):
            strings.append(rich.runs)
        else:
            text = "".join(text for run in rich.runs for text in run.text)
            strings.append(" ".join(unescape(text).split()))

    for _ in feed_xml(pieces, part, start, end, rich.add):
        pass
    return strings


def unescape(text: str) -> str:
    """Return a string with its `_xHHHH_` as characters; controls become blanks."""
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda match: _character(int(match.group(1), 16)), text)


def _character(code: int) -> str:
    is_control = code < 0x20 or 0xD800 <= code <= 0xDFFF
    return " " if is_control else chr(code)


def column_index(letters: str) -> int:
    """Return the index, from 0, of the column that letters name; unusable letters are the last."""
    index = 0
    for letter in letters[:4]:
        index = index * 26 + (ord(letter.upper()) & 31)
    return min(max(index, 1), _LAST_COLUMN) - 1


def column_letters(index: int) -> str:
    """Return the letters of a column: 0 is `A`, 26 is `AA`."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _local_name(name: str) -> str:
    return name if ":" not in name else name.rpartition(":")[2]


# Cells merged over several rows: each row gets the value that is printed beside it

# The list of merged cells stands behind the cells it is about: it is looked for in the bytes, so
# that the sheet can be read as a stream afterwards.
_MERGED = re.compile(
    rb"""<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*["']([A-Za-z]+)(\d+):[A-Za-z]+(\d+)["']"""
)
_LONGEST_TAG = 200
_MAX_MERGED = 100_000
# A label is repeated, a text is not: it would stand in the document a thousand times.
MAX_LABEL_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class MergedLabel:
    """A cell that reaches over the rows `first` to `last` (from 1)."""

    column: int
    first: int
    last: int


def find_merged(pieces: Iterable[bytes]) -> dict[int, list[MergedLabel]]:
    """Return the cells that reach over several rows, by their first row.

    Args:
        pieces: the bytes of the sheet's part. In UTF-16 none is found.
    """
    found: dict[int, list[MergedLabel]] = {}
    count = 0
    rest = b""
    for piece in pieces:
        window = rest + piece
        used = 0
        for match in _MERGED.finditer(window):
            used = match.end()
            first, last = int(match[2]), int(match[3])
            if last > first and count < _MAX_MERGED:
                label = MergedLabel(column_index(match[1].decode()), first, last)
                found.setdefault(first, []).append(label)
                count += 1
        rest = window[max(used, len(window) - _LONGEST_TAG) :]
    return found


def fill_merged(
    rows: Iterable[tuple[int, SparseRow]], merged: dict[int, list[MergedLabel]]
) -> Iterator[tuple[int, SparseRow]]:
    """Yield the rows with labels repeated in each filled row beside them."""
    open_labels: dict[int, tuple[int, str]] = {}
    for number, row in rows:
        cells = dict(row)
        if open_labels:
            for column, (last, value) in list(open_labels.items()):
                if number > last:
                    del open_labels[column]
                else:
                    cells.setdefault(column, value)
        for label in merged.get(number, ()):
            value = cells.get(label.column, "")
            if value and len(value) <= MAX_LABEL_CHARACTERS:
                open_labels[label.column] = (label.last, value)
        yield number, row if len(cells) == len(row) else sorted(cells.items())


# What stands on a sheet besides its cells: comments, text boxes, pictures


@dataclass(slots=True)
class ExtrasReader:
    """Adds the extras of one sheet after the other to a text.

    A part that cannot be read is named in `warnings` and harms nothing else.
    """

    package: OfficePackage
    builder: TextBuilder
    attachments: list[Attachment] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    def add_extras(self, sheet_part: str) -> None:
        """Add what the sheet refers to: notes, then the drawing in the order of its shapes."""
        try:
            threads = self._references(sheet_part, "threadedComment")
            notes = self._references(sheet_part, "comments")
            drawings = self._references(sheet_part, "drawing")
        except ParseFailure as failure:
            self._warn(sheet_part, failure)
            return
        threaded: set[str] = set()
        for part in threads:
            self._add_notes(part, "threadedComment", threaded, skipped=set())
        for part in notes:
            self._add_notes(part, "comment", set(), skipped=threaded)
        for part in drawings:
            try:
                self._add_drawing(part)
            except ParseFailure as failure:
                self._warn(part, failure)

    def _references(self, part: str, kind: str) -> tuple[str, ...]:
        return self.package.related(part, kind)

    def _warn(self, part: str, failure: ParseFailure) -> None:
        self.warnings.append(f"What stands in {part} is missing here: {failure.message}")

    def _add_notes(self, part: str, element_name: str, seen: set[str], skipped: set[str]) -> None:
        try:
            root = self.package.tree(part)
        except ParseFailure as failure:
            self._warn(part, failure)
            return
        for comment in root.iter(f"{{*}}{element_name}"):
            reference = comment.get("ref", "")
            if reference in skipped:
                continue  # the older copy of a thread, for programs that know none
            seen.add(reference)
            texts = [text.text or "" for text in _outside(comment, "t", "text", skip="rPh")]
            note = " ".join("".join(texts).split())
            if note:
                self.builder.add("note", f"{reference}: {note}" if reference else note)

    def _add_drawing(self, part: str) -> None:
        relationships = self.package.relationships(part)
        for shape in _shapes(self.package.tree(part)):
            kind = _local(shape)
            if kind == "sp":
                for paragraph in shape.iter("{*}p"):
                    self.builder.add("paragraph", _text_of(paragraph))
                continue
            for element in shape.iter():
                for name in ("embed", "id", "dm"):
                    target = relationships.get(relationship_id(element, name) or "")
                    if target is None or target.is_external:
                        continue
                    if target.kind == "image" and kind == "pic":
                        self._add_image(shape, target.target)
                    elif target.kind == "diagramData":
                        for paragraph in self.package.tree(target.target).iter("{*}p"):
                            self.builder.add("paragraph", _text_of(paragraph))

    def _add_image(self, shape: "_Element", part: str) -> None:
        described = _name_of(shape) or part.rpartition("/")[2]
        try:
            content = self.package.read(part)
        except ParseFailure as failure:
            self._warn(part, failure)
            return
        attachment_id = self._next_id("img")
        # What describes it to those who cannot see it is not printed.
        span = self._add_reference("image", attachment_id)
        self.attachments.append(
            Attachment(
                attachment_id,
                "image",
                name=described,
                start=span[0],
                end=span[1],
                media_type=self.package.media_type(part),
                content=content,
            )
        )

    def _add_reference(self, name: str, attachment_id: str) -> tuple[int, int]:
        shown = " ".join(name.replace("[", "(").replace("]", ")").split())
        line = f"![{shown}](attachment:{attachment_id})"
        span = self.builder.add("figure", line, attachment_id=attachment_id)
        if span is None:
            raise ValueError("a reference is never blank")
        return span

    def _next_id(self, prefix: str) -> str:
        self._counts[prefix] = self._counts.get(prefix, 0) + 1
        return f"{prefix}-{self._counts[prefix]:03}"


def _shapes(element: "_Element") -> Iterator["_Element"]:
    """Yield text boxes, pictures and frames; what stands for old programs only is left out."""
    for child in element:
        name = _local(child)
        if name in {"sp", "cxnSp", "pic", "graphicFrame"}:
            yield child
        elif name != "Fallback":
            yield from _shapes(child)


def _outside(element: "_Element", *names: str, skip: str) -> Iterator["_Element"]:
    for child in element:
        name = _local(child)
        if name in names and not len(child):
            yield child
        elif name != skip:
            yield from _outside(child, *names, skip=skip)


def _text_of(element: "_Element") -> str:
    """Return the text of one paragraph of a drawing; a line break is a blank."""
    pieces = []
    for child in element.iter("{*}t", "{*}br", "{*}p"):
        name = _local(child)
        pieces.append(child.text or "" if name == "t" else " ")
    return " ".join("".join(pieces).split())


def _name_of(shape: "_Element") -> str:
    """Return what describes a shape to readers who cannot see it, else its name."""
    for properties in shape.iter("{*}cNvPr"):
        described = properties.get("descr") or properties.get("title") or properties.get("name")
        return " ".join((described or "").split())
    return ""


def _local(element: "_Element") -> str:
    return str(element.tag).rpartition("}")[2]


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
            "The workbook lists no sheet: open it in its program, save it again and replace it.",
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
