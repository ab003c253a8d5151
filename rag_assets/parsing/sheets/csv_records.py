"""Records of a delimited text, one by one; a quotation mark that nothing closes harms one line."""

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_assets.model import ParseFailure
from rag_assets.parsing.sheets.csv_dialect import (
    Dialect,
    allow_long_cells,
    find_dialect,
    split_lines,
)
from rag_assets.parsing.sheets.layout import find_layout
from rag_assets.parsing.sheets.rows import SAMPLE_ROWS, filled_cells

# A cell of more lines is a mark that was never closed: letters to the editor have some fifty.
_MAX_LINES_OF_A_CELL = 1000
# After so many, marks are plain characters in the rest of the file: each costs a second reading.
_MAX_OPEN_QUOTES = 20


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A delimited text by cells, exactly as written.

    Args:
        header: names of the columns, empty where the table has none.
        rows: the records below it, blank records left out.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    dialect: Dialect


class _OpenQuoteError(Exception):
    """A cell spans more lines than a cell has."""


@dataclass(slots=True)
class Records:
    """The records of a text; iterate once.

    Args:
        open_quotes: lines (from 1) where a quotation mark is never closed, after the iteration.
    """

    text: str
    dialect: Dialect
    open_quotes: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[list[str]]:
        """Yield each record as its cells.

        Raises:
            ParseFailure: `damaged_file`.
        """
        allow_long_cells(len(self.text))
        lines = _Lines(self.text)
        for _ in range(self.dialect.skipped_lines):
            next(lines, None)
        dialect = self.dialect
        reader = dialect.reader(lines)
        while True:
            lines.taken.clear()
            try:
                record = next(reader)
                is_open = lines.is_exhausted and bool(lines.taken)
            except StopIteration:
                return
            except _OpenQuoteError:
                is_open = True
            except csv.Error as error:
                raise ParseFailure(
                    "damaged_file",
                    f"Line {lines.number} of the table cannot be read ({error}): correct it or "
                    "save the table anew as csv.",
                ) from error
            if is_open and dialect.quote:
                number = lines.number - len(lines.taken) + 1
                self.open_quotes.append(number)
                line = lines.give_back_all_but_first()
                plain = Dialect(dialect.delimiter, quote="")
                record = next(plain.reader([line]))
                if len(self.open_quotes) >= _MAX_OPEN_QUOTES:
                    dialect = plain
                reader = dialect.reader(lines)
            yield record


class _Lines:
    """The lines of a text, which may be given back."""

    def __init__(self, text: str) -> None:
        self._source = split_lines(text)
        self._returned: deque[str] = deque()
        self.taken: list[str] = []
        self.is_exhausted = False
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if len(self.taken) >= _MAX_LINES_OF_A_CELL:
            raise _OpenQuoteError
        if self._returned:
            line = self._returned.popleft()
        else:
            try:
                line = next(self._source)
            except StopIteration:
                self.is_exhausted = True
                raise
        self.number += 1
        self.taken.append(line)
        return line

    def give_back_all_but_first(self) -> str:
        first, *rest = self.taken
        self._returned.extendleft(reversed(rest))
        self.number -= len(rest)
        self.is_exhausted = False
        return first


def read_csv_table(text: str, *, prefer_tab: bool = False) -> CsvTable:
    """Return a delimited text by cells: nothing folded, stripped or rendered.

    Args:
        text: decoded, line ends as in the file.
        prefer_tab: whether a tab wins a tie between delimiters, as the name `.tsv` says.

    Raises:
        ParseFailure: `damaged_file`.
    """
    text = text.removeprefix("\ufeff")
    dialect = find_dialect(text, prefer_tab=prefer_tab)
    records = [tuple(record) for record in Records(text, dialect) if filled_cells(record)]
    sample = [filled_cells(record) for record in records[:SAMPLE_ROWS]]
    layout = find_layout(sample, {}, single_column=True) if sample else None
    if layout is None or layout.headers == 0:
        return CsvTable((), tuple(records), dialect)
    first = layout.titles
    return CsvTable(records[first], tuple(records[first + layout.headers :]), dialect)
