"""Tables: every row a line that can stand alone, `header: value; header: value`; csv files."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

from rag_assets.model import Block, BlockKind, Columns, ParsedDocument, ParseFailure, block_columns
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import guess_language
from rag_assets.parsing.delimited import Dialect, Records, find_dialect
from rag_assets.parsing.registry import ParseHints
from rag_assets.parsing.sniffing import bare_extension, foreign_name_warning
from rag_assets.parsing.text import decode_text, decoder_version

# A million short strings need more memory than their text.
_MAX_PIECES = 10_000


@dataclass(slots=True)
class TextBuilder:
    """Collects blocks in reading order.

    Rows that follow one another stand on consecutive lines, everything else after a blank line.
    """

    blocks: Columns[Block] = field(default_factory=block_columns)
    _heading: str = ""
    _pieces: list[str] = field(default_factory=list)
    _joined: list[str] = field(default_factory=list)
    _last_kind: str = ""
    _length: int = 0

    def open_sheet(self, name: str) -> None:
        """Put the name of a sheet as heading before what is added next; an empty sheet has none."""
        self._heading = name.strip()

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        attachment_id: str | None = None,
    ) -> tuple[int, int] | None:
        """Append one block and return its span; text without visible characters adds none."""
        text = text.strip()
        if not text:
            return None
        if self._heading:
            heading, self._heading = self._heading, ""
            self._append("heading", heading, 1, None)
        return self._append(kind, text, None, attachment_id)

    def text(self) -> str:
        """Return everything added so far."""
        return "".join([*self._joined, *self._pieces])

    def _append(
        self, kind: BlockKind, text: str, level: int | None, attachment_id: str | None
    ) -> tuple[int, int]:
        if self.blocks:
            separator = "\n" if kind == "row" == self._last_kind else "\n\n"
            self._pieces.append(separator)
            self._length += len(separator)
        start = self._length
        self._pieces.append(text)
        self._length += len(text)
        if len(self._pieces) >= _MAX_PIECES:
            self._joined.append("".join(self._pieces))
            self._pieces.clear()
        self.blocks.add(kind, start, self._length, None, None, level, attachment_id)
        self._last_kind = kind
        return start, self._length


Row = Sequence[tuple[int, str]]
"""The filled cells of one row: (column from 0, text on one line), in order; empty: blank row."""

Kind = Literal["number", "date", "text"]

# A column is of a kind when nearly all of its cells are: totals and remarks stand among them.
_MIN_TYPED_SHARE = 0.8
# No number and no date with its time is longer.
_MAX_TYPED_CHARACTERS = 40
# Longer cells, and whole sentences, are content: names of columns are short.
_MAX_HEADER_CHARACTERS = 100
# `mmol/(L·min)`, `% of total`.
_MAX_UNIT_CHARACTERS = 15
# Forms (a name and its value a row) are short; longer lists of pairs are tables.
_MAX_FORM_ROWS = 50

_NUMBER = re.compile(
    r"[-+(]?[$€£¥]?\s?[-+]?(?:\d[\d.,' \u00a0\u202f]*|\.\d+)(?:e[-+]?\d+)?\s?[%‰€£¥$]?\)?",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"(?: \d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2})?|\d{4}年\d{1,2}月(?:\d{1,2}日)?"
)
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_SENTENCE_END = tuple(".?!。？！")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table begins.

    Args:
        titles: leading rows that stand above the table.
        headers: rows after them that name the columns: 0, 1 or 2.
        names: of the columns by their index; empty without header.
        is_form: every row is a name and its value.
    """

    titles: int
    headers: int
    names: dict[int, str]
    is_form: bool = False


def find_layout(rows: Sequence[Row], inherited: dict[int, str], *, single_column: bool) -> Layout:
    """Return the layout of a table that begins with `rows`.

    A header is a row of names above columns of numbers or dates; where all columns are text, a
    row of short, distinct names that its columns do not repeat. Years may name columns.

    Args:
        rows: the first rows, none of them blank.
        inherited: names of the columns of the table above on the same sheet: rows that show no
            header of their own and fit into them go on with them.
        single_column: whether a table of one column is one (a csv file), not prose.
    """
    if all(len(row) == 1 for row in rows):
        return _single_column_layout(rows) if single_column else Layout(len(rows), 0, {})
    titles = next(index for index, row in enumerate(rows) if len(row) > 1)
    # Exports repeat the header on every page.
    body = [rows[titles], *(row for row in rows[titles + 1 :] if row != rows[titles])]
    if inherited and _goes_on(body, inherited):
        repeats = all(inherited.get(column) == text for column, text in body[0])
        return Layout(titles, int(repeats), dict(inherited))
    is_form = _is_form(body)
    if (not is_form or len(body[1]) == 1) and _is_units_row(body):
        return Layout(titles, 2, _names_with_units(body[0], body[1]))
    if not is_form and _is_group_row(body):
        return Layout(titles, 2, _group_names(body[0], body[1]))
    if not is_form and _is_header(body[0], body[1:]):
        return Layout(titles, 1, dict(body[0]))
    return Layout(titles, 0, {}, is_form)


def kind_of(text: str) -> Kind:
    """Return what a cell holds, as its text shows it."""
    if len(text) > _MAX_TYPED_CHARACTERS:
        return "text"
    if _DATE.fullmatch(text):
        return "date"
    return "number" if _NUMBER.fullmatch(text) else "text"


def _goes_on(body: Sequence[Row], names: dict[int, str]) -> bool:
    """Tell whether rows belong to the columns of the table above a blank row."""
    if any(column not in names for row in body for column, _ in row):
        return False
    return _votes(body[0], body[1:]) <= 0


def _votes(candidate: Row, below: Sequence[Row]) -> int:
    """Return for how many columns the candidate is a name, less those where it is a value.

    Only columns of numbers or dates vote.
    """
    kinds = _column_kinds(below)
    years = _are_year_names(candidate, below)
    votes = 0
    for column, text in candidate:
        below_kind = kinds.get(column, "text")
        if below_kind == "text":
            continue
        own = "text" if years and _YEAR.fullmatch(text) else kind_of(text)
        votes += 1 if own == "text" else -1
    return votes


def _is_header(candidate: Row, below: Sequence[Row]) -> bool:
    votes = _votes(candidate, below)
    if votes:
        return votes > 0
    texts = [text for _, text in candidate]
    if any(not _may_name(text) for text in texts) or len(set(texts)) < len(texts):
        return False
    width = max((len(row) for row in below), default=len(candidate))
    if 2 * len(candidate) < width:
        return False
    own = dict(candidate)
    return not any(own.get(column) == text for row in below for column, text in row)


def _may_name(text: str) -> bool:
    is_short = len(text) <= _MAX_HEADER_CHARACTERS and not text.endswith(_SENTENCE_END)
    return is_short and kind_of(text) == "text"


def _are_year_names(candidate: Row, below: Sequence[Row], *, is_grouped: bool = False) -> bool:
    """Tell whether years in a row are names: distinct unless groups stand above, and no years below
    them.
    """
    years = {column: text for column, text in candidate if _YEAR.fullmatch(text)}
    if len(years) < 2 or (not is_grouped and len(set(years.values())) < len(years)):
        return False
    values = [text for row in below for column, text in row if column in years]
    return bool(values) and 2 * sum(_YEAR.fullmatch(text) is not None for text in values) < len(
        values
    )


def _column_kinds(rows: Iterable[Row]) -> dict[int, Kind]:
    counts: dict[int, dict[Kind, int]] = {}
    for row in rows:
        for column, text in row:
            own = counts.setdefault(column, {"number": 0, "date": 0, "text": 0})
            own[kind_of(text)] += 1
    kinds: dict[int, Kind] = {}
    for column, own in counts.items():
        typed: Kind = "number" if own["number"] >= own["date"] else "date"
        share = (own["number"] + own["date"]) / sum(own.values())
        kinds[column] = typed if share >= _MIN_TYPED_SHARE else "text"
    return kinds


def _is_form(rows: Sequence[Row]) -> bool:
    """Tell whether rows are names with a value each: text and typed values mixed below."""
    if not 2 <= len(rows) <= _MAX_FORM_ROWS or any(len(row) > 2 for row in rows):
        return False
    columns = {column for row in rows for column, _ in row}
    if len(columns) != 2:
        return False
    first, second = sorted(columns)
    names = [text for row in rows for column, text in row if column == first]
    values = [text for row in rows for column, text in row if column == second]
    if len(set(names)) < len(names) or any(not _may_name(name) for name in names):
        return False
    if all(name.endswith((":", "：")) for name in names):
        return True
    kinds = {kind_of(value) for value in values[1:]}
    return (
        len(rows) > 2
        and len(kinds) > 1
        and "text" in kinds
        and _column_kinds(rows)[second] == "text"
    )


def _is_units_row(rows: Sequence[Row]) -> bool:
    """Tell whether the second row gives the units of the columns of numbers that the first names.

    It has a short text over columns of numbers or dates and leaves out one at least.
    """
    if len(rows) < 3 or len(rows[1]) >= len(rows[0]) or not _is_header(rows[0], rows[2:]):
        return False
    kinds = _column_kinds(rows[2:])
    named = dict(rows[0])
    return all(
        column in named
        and kinds.get(column, "text") != "text"
        and kind_of(text) == "text"
        and len(text) <= _MAX_UNIT_CHARACTERS
        for column, text in rows[1]
    )


def _names_with_units(names: Row, units: Row) -> dict[int, str]:
    stated = dict(units)
    return {
        column: f"{name} ({stated[column].strip('()[]')})" if column in stated else name
        for column, name in names
    }


def _is_group_row(rows: Sequence[Row]) -> bool:
    """Tell whether the first row names groups of the columns that the second row names."""
    if len(rows) < 3:
        return False
    groups, names = rows[0], rows[1]
    if len(groups) >= len(names) or groups[-1][0] > names[-1][0]:
        return False
    may_group = all(_may_name(text) or _YEAR.fullmatch(text) for _, text in groups)
    own_votes = _votes(groups, rows[2:])
    # Under groups the same years come again: each is told from the others by its group.
    joined = [(column, f"{name} ") for column, name in _group_names(groups, names).items()]
    is_named = _votes(names, rows[2:]) > 0 or (
        _are_year_names(names, rows[2:], is_grouped=True) and _votes(joined, rows[2:]) > 0
    )
    return may_group and own_votes >= 0 and is_named


def _group_names(groups: Row, names: Row) -> dict[int, str]:
    own = dict(names)
    starts = dict(groups)
    joined: dict[int, str] = {}
    group = ""
    for column in range(min(*own, *starts), max(own) + 1):
        group = starts.get(column, group)
        name = own.get(column, "")
        if group or name:
            joined[column] = " / ".join(dict.fromkeys(part for part in (group, name) if part))
    return joined


def _single_column_layout(rows: Sequence[Row]) -> Layout:
    votes = _votes(rows[0], rows[1:])
    is_name = votes > 0 or (votes == 0 and _IDENTIFIER.fullmatch(rows[0][0][1]) is not None)
    return Layout(0, 1, dict(rows[0])) if is_name and len(rows) > 1 else Layout(0, 0, {})


# The layout shows in the first rows; a longer look changes no answer and would hold the file.
SAMPLE_ROWS = 100
_SAMPLE_CELLS = 20_000
# A name is repeated in every row: what is longer is written out once, above the table.
_MAX_NAME_CHARACTERS = 80


def write_tables(
    rows: Iterable[Row],
    text: TextBuilder,
    name_column: Callable[[int], str],
    *,
    single_column: bool = False,
) -> dict[int, str]:
    """Add the tables of one sheet, which blank rows separate, to `text`.

    Every row becomes a block of kind `row`, a repeated header none; what stands above a table, or
    in rows of one cell, a paragraph. Names of columns that no row fills stand in a row of their
    own.

    Args:
        rows: read once, as they come; only a table's first rows are held.
        text: what the blocks are added to.
        name_column: gives the name of a column without header.
        single_column: whether a table of one column is a table.

    Returns:
        The names of the last table's columns.
    """
    names: dict[int, str] = {}
    source = iter(rows)
    for first in source:
        if not first:
            continue
        table = chain([first], _until_blank(source))
        sample = _take_sample(table)
        layout = find_layout(sample, names, single_column=single_column)
        for row in sample[: layout.titles]:
            text.add("paragraph", "; ".join(cell for _, cell in row))
        body = chain(sample[layout.titles + layout.headers :], table)
        _write_table(body, layout, text, name_column, goes_on=layout.names == names)
        names = layout.names or names
    return names


def _take_sample(rows: Iterator[Row]) -> list[Row]:
    sample: list[Row] = []
    cells = 0
    for row in rows:
        sample.append(row)
        cells += len(row)
        if len(sample) >= SAMPLE_ROWS or cells >= _SAMPLE_CELLS:
            break
    return sample


def _until_blank(rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        if not row:
            return
        yield row


def _write_table(
    rows: Iterable[Row],
    layout: Layout,
    text: TextBuilder,
    name_column: Callable[[int], str],
    *,
    goes_on: bool,
) -> None:
    if layout.is_form:
        for row in rows:
            text.add("row", ": ".join(cell.rstrip(":：") for _, cell in row))
        return
    labels = {column: f"{shorten(name)}: " for column, name in layout.names.items()}
    if not goes_on and any(len(name) > _MAX_NAME_CHARACTERS for name in layout.names.values()):
        text.add("row", "; ".join(layout.names.values()))
    unused = set() if goes_on else set(labels)
    header = list(layout.names.items())
    for row in rows:
        if row == header and len(row) > 1:
            continue
        try:
            line = "; ".join([labels[column] + cell for column, cell in row])
        except KeyError:  # the first value in a column without name
            labels |= {
                column: f"{name_column(column)}: " for column, _ in row if column not in labels
            }
            line = "; ".join([labels[column] + cell for column, cell in row])
        text.add("row", line)
        if unused:
            unused.difference_update([column for column, _ in row])
    text.add("row", "; ".join(layout.names[column] for column in sorted(unused)))


def shorten(name: str) -> str:
    """Return a column's name as its rows repeat it."""
    if len(name) <= _MAX_NAME_CHARACTERS:
        return name
    return name[:_MAX_NAME_CHARACTERS].rstrip() + "…"


def filled_cells(cells: Sequence[str]) -> list[tuple[int, str]]:
    """Return the cells of a row that hold visible text, white space folded."""
    filled = []
    for column, cell in enumerate(cells):
        if cell and (folded := " ".join(cell.split())):
            filled.append((column, folded))
    return filled


PARSER_VERSION = "3"

# Enough lines to find each mark; a damaged file may have one in every line.
_MAX_LINES_SHOWN = 5


class CsvParser:
    """Reads comma, semicolon, tab and bar separated files."""

    name = "csv"
    media_types = ("text/csv",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the encoding detector."""
        return decoder_version(PARSER_VERSION)

    def parse(self, data: bytes, hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return one block of kind `row` a record, written `header: value; header: value`.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`, `damaged_file`.
        """
        source, encoding, warnings = decode_text(data)
        dialect = find_dialect(source, prefer_tab=bare_extension(hints.extension) == "tsv")
        records = Records(source, dialect)
        builder = TextBuilder()
        names = write_tables(_rows(records), builder, _name_column, single_column=True)
        text = builder.text()
        if not text:
            raise ParseFailure("empty_file", "The table has no filled cell: remove it or fill it.")
        warnings = (*foreign_name_warning(hints.extension, data), *warnings)
        if records.open_quotes:
            warnings = (*warnings, _describe_open_quotes(records.open_quotes))
        return ParsedDocument(
            text=text,
            media_type=self.media_types[0],
            blocks=builder.blocks,
            language=guess_language(text),
            metadata={
                "encoding": encoding,
                "delimiter": dialect.delimiter,
                "columns": "; ".join(names.values()),
            },
            warnings=warnings,
        )


def _rows(records: Records) -> Iterator[Row]:
    """Yield the filled cells of each record; a blank row where another table begins.

    Blank lines alone part nothing: some programs write one after every row.
    """
    width = 0  # of the record above
    is_parted = False
    for record in records:
        row = filled_cells(record)
        if not row:
            is_parted = True
            continue
        if is_parted and len(record) != width and all(kind_of(cell) == "text" for _, cell in row):
            yield []
        is_parted = False
        width = len(record)
        yield row


def _name_column(index: int) -> str:
    return f"column {index + 1}"


def _describe_open_quotes(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MAX_LINES_SHOWN]))
    more = " and more" if len(numbers) > _MAX_LINES_SHOWN else ""
    return (
        f"A quotation mark is never closed (line {shown}{more}); it was read as a plain character: "
        "correct the line if cells are cut wrongly."
    )


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
