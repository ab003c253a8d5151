"""Cells of an xlsx sheet, row by row, from a stream: memory holds a row, not the sheet."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from rag_assets.model import ParseFailure
from rag_assets.parsing.sheets.formats import NumberFormat, show_general

# ISO 29500-1 §22.4.2.4: characters that XML cannot hold stand as _xHHHH_ in strings.
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LAST_COLUMN = 16_384
_DIGITS = "0123456789"

SparseRow = list[tuple[int, str]]


@dataclass(slots=True)
class CellReader:
    """What the cells of a workbook refer to, and what could not be read.

    Args:
        strings: the shared strings.
        formats: of numbers, by style.
        uncomputed: formulas without a stored result so far.
    """

    strings: Sequence[str]
    formats: Sequence[NumberFormat]
    uncomputed: int = 0

    def rows(self, pieces: Iterable[bytes], part: str) -> Iterator[tuple[int, SparseRow]]:
        """Yield (number from 1, filled cells with white space folded) of each filled row.

        Args:
            pieces: the bytes of the part.
            part: its name, for messages.

        Raises:
            ParseFailure: `damaged_file`, `hostile_file`.
        """
        scan = _SheetScan(self)
        for _ in feed_xml(pieces, part, scan.start, scan.end, scan.text):
            while scan.rows:
                yield scan.rows.popleft()
        yield from scan.rows

    def show(self, raw: str, kind: str, style: int) -> str:
        """Return what a cell shows.

        Args:
            raw: text of its value.
            kind: `c/@t`.
            style: `c/@s`.
        """
        if kind == "s":
            index = int(raw) if raw.strip().isdecimal() else -1
            return self.strings[index] if 0 <= index < len(self.strings) else ""
        if kind == "b":
            return "TRUE" if raw.strip() in {"1", "true"} else "FALSE"
        if kind != "n":
            return raw.replace("T00:00:00", "").replace("T", " ") if kind == "d" else raw
        try:
            number = float(raw)
            is_number = number - number == 0  # neither infinite nor NaN
        except ValueError:
            return raw
        if not is_number:
            return raw
        return (self.formats[style] if 0 <= style < len(self.formats) else show_general)(number)


@dataclass(slots=True)
class _SheetScan:
    reader: CellReader
    rows: deque[tuple[int, SparseRow]] = field(default_factory=deque)
    cells: SparseRow = field(default_factory=list)
    row: int = 0
    column: int = -1
    kind: str = "n"
    style: int = 0
    has_formula: bool = False
    pieces: list[str] = field(default_factory=list)
    is_reading: bool = False
    phonetic: int = 0
    columns: dict[str, int] = field(default_factory=dict)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self.column = self._column_of(attributes.get("r"))
            self.kind = attributes.get("t", "n")
            style = attributes.get("s", "0")
            self.style = int(style) if style.isdecimal() else 0
            self.has_formula = False
            self.pieces.clear()
        elif name in {"v", "t"}:
            self.is_reading = not self.phonetic
        elif name == "row":
            number = attributes.get("r", "")
            self.row = int(number) if number.isdecimal() else self.row + 1
            self.column = -1
            self.cells = []
        elif name == "f":
            self.has_formula = True
        elif name == "rPh":
            self.phonetic += 1

    def end(self, name: str) -> None:
        if name == "c":
            self._end_cell()
        elif name in {"v", "t"}:
            self.is_reading = False
        elif name == "row":
            if self.cells:
                if any(a[0] >= b[0] for a, b in zip(self.cells, self.cells[1:], strict=False)):
                    self.cells = sorted(dict(self.cells).items())
                self.rows.append((self.row, self.cells))
        elif name == "rPh":
            self.phonetic -= 1

    def text(self, text: str) -> None:
        if self.is_reading:
            self.pieces.append(text)

    def _end_cell(self) -> None:
        if not self.pieces:
            self.reader.uncomputed += self.has_formula
            return
        shown = self.reader.show("".join(self.pieces), self.kind, self.style)
        if self.kind in {"str", "inlineStr"}:
            shown = unescape(shown)
        if shown := " ".join(shown.split()):
            self.cells.append((self.column, shown))

    def _column_of(self, reference: str | None) -> int:
        if not reference:
            return min(self.column + 1, _LAST_COLUMN)
        letters = reference.rstrip(_DIGITS)
        column = self.columns.get(letters)
        if column is None:
            column = self.columns[letters] = column_index(letters)
        return column


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
    parser.StartElementHandler = lambda name, attributes: start(_local(name), attributes)
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = text

    def refuse(*_: Any) -> None:
        raise ParseFailure(
            "hostile_file",
            f"The part {part} declares a document type, as entity bombs do and no spreadsheet "
            "program writes: find out where the file comes from; where you trust it, open it in "
            "its own program and save it anew.",
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
            "program, save it anew and replace it.",
        ) from error
    yield


def read_shared_strings(pieces: Iterable[bytes], part: str) -> list[str]:
    """Return the strings that cells refer to by number, white space folded.

    Raises:
        ParseFailure: as `feed_xml`.
    """
    strings: list[str] = []
    current: list[str] = []
    depth = {"t": 0, "rPh": 0}

    def start(name: str, _: dict[str, str]) -> None:
        if name in depth:
            depth[name] += 1
        elif name == "si":
            current.clear()

    def end(name: str) -> None:
        if name in depth:
            depth[name] -= 1
        elif name == "si":
            strings.append(" ".join(unescape("".join(current)).split()))

    def text(characters: str) -> None:
        if depth["t"] and not depth["rPh"]:
            current.append(characters)

    for _ in feed_xml(pieces, part, start, end, text):
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


def _local(name: str) -> str:
    return name if ":" not in name else name.rpartition(":")[2]
