"""Delimited text (csv): how it is written, whether a text is one, and its records.

A quotation mark that nothing closes harms one line.
"""

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rag_assets.model import ParseFailure

# The dialect shows in the first records; a longer look changes no answer.
_SAMPLE_RECORDS = 100
_SAMPLE_CHARACTERS = 200_000
_SAMPLE_CELLS = 20_000
# A text that is not named as a table needs more: prose may have two lines with a comma each.
_MIN_RECORDS_OF_A_TABLE = 3
# Below the lines that an instrument writes about itself stand names, and so many rows of numbers.
_MIN_RECORDS_OF_AN_EXPORT = 10

_DELIMITERS = ",;\t|"
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_NUMBER_OR_DATE = re.compile(r"[-+]?[\d.,:/\-%]+(?:e[-+]?\d+)?", re.IGNORECASE)
_QUOTED_BY = {quote: re.compile(rf"(?:^|[,;\t|]){quote}", re.MULTILINE) for quote in "\"'"}
# A quotation mark that is escaped, and not the last character of its cell.
_BACKSLASH_QUOTE = re.compile(r'\\"(?![,;\t|\r\n]|$)')


@dataclass(frozen=True, slots=True)
class Dialect:
    """How cells stand in a line.

    Args:
        delimiter: one character.
        quote: the quotation mark around cells; "" where marks are plain characters.
        escape: a backslash where it protects quotation marks, else "".
        skipped_lines: lines before the table that say how it is written (`sep=;`).
    """

    delimiter: str
    quote: str = '"'
    escape: str = ""
    skipped_lines: int = 0

    def reader(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return the standard library's reader for this dialect."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            escapechar=self.escape or None,
        )


def split_lines(text: str) -> Iterator[str]:
    r"""Yield the lines of a text with their ends; `\n`, `\r\n` and `\r` end a line."""
    return (match.group() for match in _LINE.finditer(text))


def find_dialect(text: str, *, prefer_tab: bool = False) -> Dialect:
    """Return the dialect that cuts most of the first records into the same number of clean cells.

    Follows the idea of van den Burg, Nazabal, Sutton (Wrangling messy CSV files by detecting row
    and type patterns, 2019): a pattern score times the share of cells that look like values.

    Args:
        text: the decoded file.
        prefer_tab: whether a tab wins a tie, as the name `.tsv` says.
    """
    separator = _SEPARATOR_LINE.match(text)
    sample = text[:_SAMPLE_CHARACTERS]
    quote, escape = _find_quoting(sample)
    if separator:
        return Dialect(separator.group(1), quote, escape, skipped_lines=1)
    candidates = "\t,;|" if prefer_tab else _DELIMITERS
    # What stands between two quoted cells is the delimiter, whatever stands inside of them.
    between = Counter(re.findall(f"{quote}([{_DELIMITERS}]){quote}", sample))
    candidates = between.most_common(1)[0][0] if between else candidates
    dialects = [Dialect(delimiter, quote, escape) for delimiter in candidates]
    return max(dialects, key=lambda dialect: _score(sample, dialect))


def looks_like_table(data: bytes, *, is_prose: bool = False) -> bool:
    """Tell whether a text that no name calls a table is one all the same.

    Every record must have the same number of cells, two by tab or three by comma or semicolon; or
    it is an instrument's export: half of its lines at least are rows of numbers below a row of
    names.

    Args:
        data: the whole file, in an encoding that holds ASCII as it is.
        is_prose: whether its name says that it is running text: only an export is a table then.
    """
    # Delimiters and quotation marks are ASCII: which letters stand between them does not matter.
    sample = data[:_SAMPLE_CHARACTERS].decode("latin-1").removeprefix("ï»¿")
    if len(sample) < len(data):
        sample = sample[: sample.rfind("\n") + 1]
    quote, escape = _find_quoting(sample)
    for delimiter, cells in (("\t", 2), (";", 3), (",", 3)):
        records = [record for record in _read_sample(sample, Dialect(delimiter, quote, escape))
                   if record]  # fmt: skip
        if _is_export(records):
            return True
        widths = {len(record) for record in records}
        if is_prose or len(records) < _MIN_RECORDS_OF_A_TABLE:
            continue
        if len(widths) > 1 or min(widths) < cells:
            continue
        filled = [record for record in records if record[0].strip()]
        # In prose a blank follows the comma, in indented text the first cell is empty.
        parted = sum(cell.startswith(" ") for record in records for cell in record[1:])
        if len(filled) == len(records) and parted * 4 <= len(records) * (min(widths) - 1):
            return True
    return False


def _is_export(records: Sequence[Sequence[str]]) -> bool:
    values = [len(record) if all(map(_is_value, record)) else 0 for record in records]
    width, count = Counter(values).most_common(1)[0] if values else (0, 0)
    if width < 2 or count < _MIN_RECORDS_OF_AN_EXPORT or 2 * count < len(records):
        return False
    above = records[values.index(width) - 1] if values[0] != width else []
    return len(above) == width and not any(map(_is_value, above))


def _is_value(cell: str) -> bool:
    return _NUMBER_OR_DATE.fullmatch(cell.strip()) is not None


def _find_quoting(sample: str) -> tuple[str, str]:
    double, single = (len(_QUOTED_BY[quote].findall(sample)) for quote in "\"'")
    quote = "'" if single > 2 and not double and _closes(sample) else '"'
    escape = "\\" if quote == '"' and double and _BACKSLASH_QUOTE.search(sample) else ""
    return quote, escape


def _closes(sample: str) -> bool:
    """Tell whether cells that begin with an apostrophe end with one, too."""
    opened = len(re.findall(r"(?:^|[,;\t|])'", sample, re.MULTILINE))
    closed = len(re.findall(r"'(?=[,;\t|]|\r?$)", sample, re.MULTILINE))
    return closed >= opened


def _score(sample: str, dialect: Dialect) -> float:
    """Return 0 where most records have one cell, at most 1."""
    records = [record for record in _read_sample(sample, dialect) if record]
    if not records:
        return 0.0
    width, count = Counter(map(len, records)).most_common(1)[0]
    if width < 2:
        return 0.0
    cells = [cell for record in records for cell in record if cell]
    clean = sum(_is_clean(cell) for cell in cells) / len(cells) if cells else 0.0
    return count / len(records) * (0.5 + 0.5 * clean)


def _is_clean(cell: str) -> bool:
    if _NUMBER_OR_DATE.fullmatch(cell):
        return True
    return not any(mark in cell and f"{mark} " not in cell for mark in _DELIMITERS)


def _read_sample(sample: str, dialect: Dialect) -> list[list[str]]:
    allow_long_cells(len(sample))
    records: list[list[str]] = []
    cells = 0
    try:
        for record in islice(dialect.reader(split_lines(sample)), _SAMPLE_RECORDS):
            records.append(record)
            cells += len(record)
            if cells > _SAMPLE_CELLS:
                break
    except csv.Error:
        return []
    return records


def allow_long_cells(characters: int) -> None:
    """Raise the csv module's limit of 131,072 characters a cell, which is meant for streams.

    A whole file is in memory here, and its size has its own limit.
    """
    csv.field_size_limit(max(csv.field_size_limit(), characters))


# A cell of more lines is a mark that was never closed: letters to the editor have some fifty.
_MAX_LINES_OF_A_CELL = 1000
# After so many, marks are plain characters in the rest of the file: each costs a second reading.
_MAX_OPEN_QUOTES = 20


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
                    "save the table again as csv.",
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
