"""Cells of an xlsx sheet, row by row, from a stream: memory holds a row, not the sheet."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from rag_assets.model import ParseFailure
from rag_assets.parsing.sheets.looks import CellStyle, RichText, Run, settle_runs
from rag_assets.parsing.unseen import Unseen

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
            number = _number(raw)
            return raw if number is None else style.show(number)
        if kind == "b":
            return "TRUE" if raw.strip() in {"1", "true"} else "FALSE"
        if kind == "d":
            return raw.replace("T00:00:00", "").replace("T", " ")
        return unescape(raw) if kind == "str" else raw


def _number(raw: str) -> float | None:
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


def _local(name: str) -> str:
    return name if ":" not in name else name.rpartition(":")[2]
