"""Tables: every row a line that can stand alone, `row: column = value; …`; csv files."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, groupby, pairwise
from typing import Literal

from rag_assets.model import (
    Block,
    BlockKind,
    Columns,
    ParsedDocument,
    ParseFailure,
    block_columns,
    show_row,
)
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

# 1,000; (5); < 0.1; 12.4 ± 0.3 *; and what stands where a number is missing.
_NUMBER = re.compile(
    r"[<>≤≥~]?\s?[-+(]?[$€£¥]?\s?[-+]?(?:\d[\d.,' \u00a0\u202f]*|\.\d+)(?:e[-+]?\d+)?"
    r"(?:\s?(?:±|\+/-)\s?[\d.,]+)?\s?[%‰€£¥$]?\)?\s?[*†‡]{0,3}|"
    r"n\.?\s?[ad]\.?|n/a|nan|null|<?\s?lo[dq]|bdl",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"(?: \d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2})?|\d{4}年\d{1,2}月(?:\d{1,2}日)?"
)
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
# (s), [K], mg, 1/nm, mmol/(L·min), a.u., -: what stands alone below a name.
_UNIT = re.compile(
    r"[(\[][^()\[\]]*[)\]]|[-–—%‰1]|a\.?u\.?|counts?|cps|rpm|ppm|ppb|"
    r"(?:1/)?(?:(?:[yzafpnµμumcdhkMGT]|da)?(?:m|g|s|A|K|mol|cd|Hz|N|Pa|J|W|C|V|F|Ω|S|T|H|L|l|M|eV|"
    r"bar|emu|Da)|min|h|d|°[CFK]?|℃|Å|Oe|oz|lb|ft|in|cal|kcal|t|ha)[²³⁰-⁹⁻\d]*"
    r"(?:[\s·*/.^()-]+(?:[fpnµμumcdhkMG]?(?:m|g|s|A|K|mol|N|Pa|J|W|V|L|l)|min|h|d|[-\d]+)[²³⁰-⁹⁻\d)]*)*"
)
# "# time", "; time": how some programs begin the line of names.
_COMMENT = re.compile(r"^[#;%]+\s+(?!of\b)")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_SENTENCE_END = tuple(".?!。？！")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table begins.

    Args:
        titles: leading rows that stand above the table.
        headers: rows after them that name the columns, units among them.
        names: of the columns by their index, in order; empty without header.
        is_form: every row is a name and its value.
        firsts: the columns that name rows: one, or that of each table beside the others.
        repeats_label: the first column shows a label once, for the rows below it, too.
    """

    titles: int
    headers: int
    names: dict[int, str]
    is_form: bool = False
    firsts: tuple[int, ...] = ()
    repeats_label: bool = False


def find_layout(rows: Sequence[Row], inherited: dict[int, str], *, single_column: bool) -> Layout:
    """Return the layout of a table that begins with `rows`.

    A header is a row of names above columns of numbers or dates; where all columns are text, a
    row of short, distinct names that its columns do not repeat. Years may name columns, and any
    numbers may that stand beside an empty corner.

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
        return Layout(titles, int(repeats), dict(inherited), firsts=(min(inherited),))
    if _is_form(body) and len(body[1]) > 1:
        return Layout(titles, 0, {}, is_form=True)
    header = _find_header(rows, titles)
    if header is None and _may_be_header(body[0], body[1:]):
        header = titles
    if header is None:
        return Layout(titles, 0, {})
    return _with_groups_and_units(rows, titles, header)


def _find_header(rows: Sequence[Row], start: int) -> int | None:
    """Return the row that names most columns of numbers or dates; of equals the one next to them.

    What an instrument writes above has text over such columns, too, but over fewer.
    """
    counts: dict[int, list[int]] = {}
    repeated = {tuple(row) for place, row in enumerate(rows) if place and row in rows[:place]}
    told: list[tuple[int, dict[int, Kind]]] = []  # votes, and the kinds of what is below; upwards
    for place in reversed(range(start, len(rows))):
        row, kinds = rows[place], {column: _kind_by(count) for column, count in counts.items()}
        is_grouped = place > start and len(rows[place - 1]) < len(row)
        votes = _count_votes(row, kinds, rows[place + 1 :], is_grouped=is_grouped)
        told.append((votes if len(row) > 1 else 0, kinds))
        if tuple(row) not in repeated or votes <= 0:
            _add_kinds(counts, row)
    below = {column for column in counts if sum(counts[column]) > 1}
    width = max(map(len, rows))
    best, most, known = None, (1, -len(rows[start]), 0), None
    for place, (votes, kinds) in enumerate(reversed(told), start):
        row = rows[place]
        rank = votes, -sum(column not in below for column, _ in row), len(row)
        # One row below says little of its columns.
        if rank >= most and (place == start or place + 2 < len(rows)):
            best, most, known = place, rank, kinds
        elif 2 * len(row) > width and _is_data(row, known or kinds):
            is_matrix = len(rows) > place + 2 and all(
                other[0][0] < row[0][0] and kind_of(other[0][1]) == "text"
                for other in rows[place + 1 :]
            )  # fmt: skip
            return place if is_matrix and len({text for _, text in row}) == len(row) > 1 else best
    return best


def _is_data(row: Row, kinds: dict[int, Kind]) -> bool:
    """Tell whether a row has values in half of the columns of numbers and dates at least."""
    typed = {column for column, kind in kinds.items() if kind != "text"}
    values = sum(column in typed and kind_of(text) != "text" for column, text in row)
    names = sum(column in typed and kind_of(text) == "text" for column, text in row)
    return values > names and 2 * values >= len(typed)


def _with_groups_and_units(rows: Sequence[Row], first: int, header: int) -> Layout:
    """Return the layout of a table with the rows of groups above and of units below its names."""
    last = header
    if header > first and _are_units(rows[header - 1], rows[header], rows[header + 1 :]):
        header -= 1
    elif len(rows) > header + 2 and _are_units(rows[header], rows[header + 1], rows[header + 2 :]):
        last += 1
    names = dict(rows[header])
    if last > header:
        names |= {column: f"{names[column]} ({unit.strip('()[]')})" for column, unit in rows[last]}
    while header > first and _are_groups(rows[header - 1], names):
        header -= 1
        names = _group_names(rows[header], names)
    column, name = next(iter(names.items()))
    names[column] = _COMMENT.sub("", name)
    body = rows[last + 1 :]
    second = list(names)[1] if len(names) > 1 else None
    unlabelled = [row for row in body if column not in dict(row)]
    kinds = _column_kinds(body)
    repeats_label = (
        len(unlabelled) * 4 >= len(body) > len(unlabelled)
        and second is not None
        and kinds.get(column) == kinds.get(second) == "text"
        and all(second in dict(row) for row in body)
    )
    firsts = tuple(_first_columns(names, body, kinds))
    return Layout(header, last + 1 - header, names, firsts=firsts, repeats_label=repeats_label)


def _first_columns(
    names: dict[int, str], rows: Sequence[Row], kinds: dict[int, Kind]
) -> Iterator[int]:
    """Yield the first column of a table and of those that stand beside it, behind an empty column:
    with the same name again, or with labels of rows of their own.
    """
    held = [{column for column, _ in row} for row in rows]
    columns = sorted({*names}.union(*held))
    first = columns[0]
    yield first
    for left, right in pairwise(columns):
        if left == first or right not in names or right + 1 not in names:
            continue
        is_alone = right > left + 1 and any((first in own) != (right in own) for own in held)
        if names[right] == names.get(first) or (is_alone and kinds.get(right) == "text"):
            first = right
            yield first


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
    return _count_votes(candidate, _column_kinds(below), below)


def _count_votes(
    candidate: Row, kinds: dict[int, Kind], below: Sequence[Row], *, is_grouped: bool = False
) -> int:
    """Return for how many columns the candidate is a name, less those where it is a value.

    Only columns of numbers or dates vote.
    """
    years = _are_year_names(candidate, below, is_grouped=is_grouped)
    votes = 0
    for column, text in candidate:
        if kinds.get(column, "text") != "text":
            own = "text" if years and _YEAR.fullmatch(text) else kind_of(text)
            votes += 1 if own == "text" else -1
    return votes


def _may_be_header(candidate: Row, below: Sequence[Row]) -> bool:
    """Tell whether a row may name columns of text."""
    texts = [text for _, text in candidate]
    if _votes(candidate, below) or len(set(texts)) < len(texts):
        return False
    if not all(map(_may_name, texts)):
        return False
    width = max((len(row) for row in below), default=len(candidate))
    own = dict(candidate)
    return 2 * len(candidate) >= width and not any(
        own.get(column) == text for row in below for column, text in row
    )


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
    counts: dict[int, list[int]] = {}
    for row in rows:
        _add_kinds(counts, row)
    return {column: _kind_by(count) for column, count in counts.items()}


_KINDS: tuple[Kind, ...] = ("number", "date", "text")


def _add_kinds(counts: dict[int, list[int]], row: Row) -> None:
    for column, text in row:
        counts.setdefault(column, [0, 0, 0])[_KINDS.index(kind_of(text))] += 1


def _kind_by(count: Sequence[int]) -> Kind:
    numbers, dates, _ = count
    if numbers + dates < _MIN_TYPED_SHARE * sum(count):
        return "text"
    return "number" if numbers >= dates else "date"


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


def _are_units(names: Row, units: Row, below: Sequence[Row]) -> bool:
    """Tell whether a row gives the units of the columns of numbers that another one names.

    Each is written as a unit is, or the row has none for the first column: (s), mg, 1/nm.
    """
    named, kinds = dict(names), _column_kinds(below)
    texts = [text for _, text in units]
    if not below or any(column not in named for column, _ in units):
        return False
    if any(len(text) > _MAX_UNIT_CHARACTERS for text in texts):
        return False
    leaves_out = units[0][0] > names[0][0] and all(
        kinds.get(column, "text") != "text" == kind_of(text) for column, text in units
    )
    are_written_so = all(map(_UNIT.fullmatch, texts)) and any(kind_of(t) == "text" for t in texts)
    return all(map(_may_name, named.values())) and (leaves_out or are_written_so)


def _are_groups(groups: Row, names: dict[int, str]) -> bool:
    """Tell whether a row names groups of the columns below it; a note above has no such gaps."""
    columns = [column for column, _ in groups]
    first, last = min(*names, *columns), max(names)
    if columns[-1] > last or (len(groups) == 1 and columns[0] <= first):
        return False
    own, spans = dict(groups), [b - a for a, b in pairwise([*columns, last + 1])]
    is_cornered = first not in own or first not in names or own[first] == names[first]
    return (
        len(groups) < len(names)
        and (is_cornered or min(spans) > 1)
        and all(_may_name(text) or _YEAR.fullmatch(text) for _, text in groups)
    )


def _group_names(groups: Row, names: dict[int, str]) -> dict[int, str]:
    starts = dict(groups)
    joined: dict[int, str] = {}
    group = ""
    for column in range(min(*names, *starts), max(names) + 1):
        group = starts.get(column, group)
        name = names.get(column, "")
        if group or name:
            is_same = name == group or name.startswith(f"{group} ")
            joined[column] = name if is_same else " / ".join(filter(None, (group, name)))
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
        layout = find_layout(sample, names, single_column=single_column and not names)
        for row in sample[: layout.titles]:
            text.add("paragraph", (": " if len(row) == 2 else ", ").join(cell for _, cell in row))
        behind = layout.titles + layout.headers
        body = chain(sample[behind:], table)
        heads = sample[layout.titles : behind]
        _write_table(body, layout, heads, text, name_column, goes_on=layout.names == names)
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
    heads: Sequence[Row],
    text: TextBuilder,
    name_column: Callable[[int], str],
    *,
    goes_on: bool,
) -> None:
    if layout.is_form:
        for row in rows:
            text.add("row", ": ".join(cell.rstrip(":：") for _, cell in row))
        return
    names = {column: shorten(name) for column, name in layout.names.items()}
    if not goes_on and any(len(name) > _MAX_NAME_CHARACTERS for name in layout.names.values()):
        text.add("row", "; ".join(layout.names.values()))
    unused = {} if goes_on else dict(layout.names)
    label = ""
    for row in rows:
        if len(row) > 1 and row in heads:
            continue
        if (
            len(heads) == 1 < len(row)
            and row[0] == heads[0][0]
            and all(kind_of(cell) == "text" for _, cell in row)
        ):  # the header comes again, with other names
            text.add("row", "; ".join(unused.values()))
            heads, unused = [row], dict(row)
            names = {column: shorten(name) for column, name in row}
            continue
        cells = list(row)
        if layout.firsts and row[0][0] == layout.firsts[0]:
            label = row[0][1]
        elif layout.repeats_label and label:
            cells = [(layout.firsts[0], label), *row]
        names |= {column: name_column(column) for column, _ in cells if column not in names}
        for _, beside in groupby(cells, lambda cell: bisect_right(layout.firsts, cell[0])):
            own = list(beside)
            is_named = own[0][0] in layout.firsts
            text.add("row", show_row([(names[c], cell) for c, cell in own], is_named=is_named))
        for column, _ in row:
            unused.pop(column, None)
    text.add("row", "; ".join(unused.values()))


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


PARSER_VERSION = "4"

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
        """Return one block of kind `row` a record, written `row: column = value; …`.

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
        is_other = len(record) != width or len(row) == 1
        if is_parted and is_other and all(kind_of(cell) == "text" for _, cell in row):
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
