"""From the rows of a table to its columns, the names of its columns, and its Markdown."""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from rag_assets.model import Box
from rag_assets.parsing.cleaning import close_line, join_texts
from rag_assets.parsing.pdf.drawn import SAME_BAR_POINTS
from rag_assets.parsing.pdf.lines import Line, surrounding_box
from rag_assets.parsing.sheets import find_layout

# Rows and cells: what stands beside each other on a page.

# Words stand closer than this many ems, cells further apart.
MIN_CELL_GAP_EMS = 0.75


@dataclass(slots=True)
class Row:
    """Lines on one base line, from left to right, in cells.

    Args:
        cells: runs of lines that stand no further apart than words.
    """

    cells: list[list[Line]]
    box: Box

    @property
    def size(self) -> float:
        """Font size of its first cell in points."""
        return self.cells[0][0].size

    @property
    def lines(self) -> list[Line]:
        """Its lines, from left to right."""
        return [line for cell in self.cells for line in cell]


def cell_text(cell: Sequence[Line]) -> str:
    """Return the text of a cell."""
    return " ".join(line.text for line in cell)


def cell_box(cell: Sequence[Line]) -> tuple[float, float]:
    """Return the left and right edge of a cell."""
    return min(line.box[0] for line in cell), max(line.box[2] for line in cell)


def group_rows(lines: Iterable[Line], bars: Sequence[Box] = ()) -> list[Row]:
    """Return upright lines as rows, from the top down.

    A line joins the row whose height its middle lies in; sub- and superscripts so join theirs.

    Args:
        lines: of one page.
        bars: vertical rules of the page, which part cells however near they are.
    """
    rows: list[list[Line]] = []
    top = bottom = 0.0
    for line in sorted(lines, key=_middle):
        if rows and top < _middle(line) < bottom and line.box[1] < (top + bottom) / 2:
            rows[-1].append(line)
            if line.box[3] - line.box[1] > bottom - top:
                top, bottom = line.box[1], line.box[3]
        else:
            rows.append([line])
            top, bottom = line.box[1], line.box[3]
    return [_make_row(row, bars) for row in rows]


def _middle(line: Line) -> float:
    return (line.box[1] + line.box[3]) / 2


def _make_row(lines: list[Line], bars: Sequence[Box]) -> Row:
    lines.sort(key=lambda line: line.box[0])
    cells = [[lines[0]]]
    reach = lines[0].box[2]
    for line in lines[1:]:
        is_apart = line.box[0] - reach >= MIN_CELL_GAP_EMS * max(line.size, cells[-1][-1].size)
        if is_apart or _is_barred(reach, line, bars):
            cells.append([])
        cells[-1].append(line)
        reach = max(reach, line.box[2])
    return Row(cells, surrounding_box([line.box for line in lines]))


def _is_barred(reach: float, line: Line, bars: Sequence[Box]) -> bool:
    """Tell whether a vertical rule is drawn between a line and what ends left of it."""
    middle = _middle(line)
    return any(
        bar[1] <= middle <= bar[3] and reach - 1 <= (bar[0] + bar[2]) / 2 <= line.box[0] + 1
        for bar in bars
    )


# A table's rows of cells as Markdown, each character of which knows the line it came from.

# A table of one column is a list, one of more than this a misread figure.
_MIN_COLUMNS, _MAX_COLUMNS = 2, 40
# A white band parts two columns where so few cells (headings over several columns) cross it …
_MAX_CROSSING_SHARE = 0.12
# … in the rows with more than this share of the cells of the fullest one …
_MIN_FULL_SHARE = 0.7
# … and so many rows have cells on both of its sides.
_MIN_PARTED_SHARE = 0.25
# Vertical rules decide the columns where they are as long as this share of the table; between two
# of them gaps do only where so many rows have one.
_MIN_BAR_SHARE, _MIN_PARTED_IN_BARS = 0.5, 0.35
# Cells whose text runs into the next column; beyond this share the columns are wrong.
_MAX_STRAY_SHARE = 0.15
# Rows of one record, in line heights: what is set closer is a cell's second line.
_MAX_WRAP_GAP = 0.45
# A rule of the whole table, by the width of its lines.
_MIN_RULE_SHARE = 0.9
# Below a line that leaves no room for the next word in its column, the second line may be set
# with more white.
_MAX_WIDE_WRAP_GAP, _MAX_FREE_EMS = 1.2, 1.5
# Lines that overlap so far, in their size, are stacked: the two errors of one value.
_MIN_STACKED = 0.1
# Between records is more white than between the lines of one, by this ratio at least.
_MIN_PITCH_JUMP, _MIN_WRAPPING_SHARE = 1.15, 0.7
_NUMBER = re.compile(r"[<>≤≥~≈±+\-−–(]?\s?[$€£¥]?[.,]?\d")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
# Lines of a header above the rule that ends it.
_MAX_HEADER_ROWS = 6


@dataclass(slots=True)
class TableText:
    """The text of a table and the place of each of its lines in it.

    Args:
        lines: in the order of the text; `spans` likewise.
        is_grid: whether it is a Markdown table, not bare lines.
    """

    text: str
    lines: list[Line]
    spans: list[tuple[int, int]]
    is_grid: bool


@dataclass(slots=True)
class TableArea:
    """The rows of a table on its page.

    Args:
        rules: the horizontal rules within it, as they are drawn: a line may be in pieces.
        bars: the vertical rules of its page.
        first_gap: from the caption to the nearest row, in points.
    """

    rows: list[Row]
    rules: list[Box]
    bars: list[Box]
    box: Box
    first_gap: float

    @property
    def lines(self) -> list[Line]:
        """All lines of the table."""
        return [line for row in self.rows for line in row.lines]

    @property
    def is_ruled(self) -> bool:
        """Whether two rules at least are as wide as the table."""
        widths: dict[int, float] = defaultdict(float)
        for rule in self.rules:
            widths[round(rule[1])] += rule[2] - rule[0]
        wide = _MIN_RULE_SHARE * (self.box[2] - self.box[0])
        return sum(width >= wide for width in widths.values()) > 1


Record = list[list[Line]]
"""The lines of one row of the table by column."""

Name = list[tuple[str, Line]]
"""The lines of a column's name, each with what parts it from the one before."""


def render_table(parts: Sequence[TableArea]) -> list[TableText]:
    """Return a table as Markdown, one text for each page; without columns, as the lines they are.

    The names of a header of several rows are joined by ` / `, and what spans several columns is
    part of the name of each; what spans several rows is a cell of each.

    Args:
        parts: at least one; a header that a later one repeats is left out.
    """
    first = parts[0]
    bodies = [first.rows, *(part.rows[_repeated(first, part) :] for part in parts[1:])]
    rows = [row for body in bodies for row in body]
    barred = _ruled_edges(first.rows, first.bars)
    edges = column_edges(rows, barred)
    if _MIN_COLUMNS <= len(edges) + 1 <= _MAX_COLUMNS and _stray_share(rows, edges) <= (
        _MAX_STRAY_SHARE
    ):
        grids = [
            _Grid(replace(part, rows=body), edges, barred)
            for part, body in zip(parts, bodies, strict=True)
        ]
        header = grids[0].header_length()
        records = [grid.records(0 if number else header) for number, grid in enumerate(grids)]
        if sum(map(len, records)) > 0:
            return [
                _markdown(own, None if number else grids[0].names(header))
                for number, own in enumerate(records)
            ]
    return [bare_lines([row.lines for row in body]) for body in bodies]


class _Grid:
    """A part of a table with its columns.

    Args:
        area: of the part.
        edges: where columns part, ascending; `barred` are those with a vertical rule.
    """

    def __init__(self, area: TableArea, edges: Sequence[float], barred: Sequence[float]) -> None:
        self._area = area
        self._edges = edges
        self._barred = set(barred)
        self._centres = _centres(area, edges)
        self._all = range(len(self._centres))
        self._merged = self._find_merged()
        taken = {id(line) for _, _, _, lines in self._merged for line in lines}
        rest = [line for line in area.lines if id(line) not in taken]
        self.rows = group_rows(rest, area.bars)
        self._parted = self._separators()

    def header_length(self) -> int:
        """Return how many rows at the top name the columns; 0 where the first row is a record."""
        limit = min(len(self.rows), _MAX_HEADER_ROWS + 1)
        drawn = [
            any(self._drawn_span(line, at, at + 2) for line in row.lines)
            for at, row in enumerate(self.rows[:limit])
        ]
        end = next((at for at in range(1, limit) if self._is_parted(at, self._all)), 0)
        if not end or (self._holds_values(1, end) and not any(drawn[: end - 1])):
            end = self._header_by_content()
        # What spans columns names groups of them, which the next row names.
        while 0 < end < limit - 1 and (
            drawn[end - 1]
            or (
                any(map(self._crossed, self.rows[end - 1].lines))
                and not self._holds_values(end, end + 1)
            )
        ):
            end += 1
        return end

    def _holds_values(self, start: int, end: int) -> bool:
        texts = [cell_text(cell) for row in self.rows[start:end] for cell in row.cells]
        return 2 * sum(map(_is_value, texts)) > len(texts)

    def _header_by_content(self) -> int:
        texts = [
            [
                (column, " ".join(line.text for line in cell))
                for column, cell in enumerate(record)
                if cell
            ]
            for record in map(self.into_columns, self.rows)
        ]
        if not texts:
            return 0
        layout = find_layout(texts, {}, single_column=False)
        length = layout.titles + layout.headers
        if layout.headers and 2 * length <= len(self.rows):
            return length
        values = [text for column, text in texts[0] if column]
        return 0 if 2 * sum(map(_is_value, values)) >= max(1, len(values)) else 1

    def names(self, length: int) -> list[Name]:
        """Return the names of the columns: of what is in the first rows, from the top down."""
        names: list[Name] = [[] for _ in self._centres]
        if not length:
            return names
        bottom = self.rows[length - 1].box[3]
        pieces = [
            (at, *self._span(line, at, length), line)
            for at, row in enumerate(self.rows[:length])
            for line in row.lines
        ]
        pieces += [
            (bisect_left([row.box[1] for row in self.rows[:length]], top), column, column, line)
            for column, top, _, lines in self._merged
            if top < bottom
            for line in lines
        ]
        pieces.sort(key=lambda piece: (piece[0], piece[3].box[1], piece[3].box[0]))
        for column, name in enumerate(names):
            before: tuple[int, int, int] | None = None
            for at, first, last, line in pieces:
                if not first <= column <= last:
                    continue
                is_same = before is not None and before[1:] == (first, last)
                is_level = (
                    is_same
                    and before is not None
                    and not any(
                        self._is_parted(row, [column]) for row in range(before[0] + 1, at + 1)
                    )
                )
                name.append((" " if is_level else " / ", line))
                before = at, first, last
        return names

    def records(self, header: int) -> list[Record]:
        """Return the rows below the header, wrapped lines joined and merged cells repeated."""
        rows = self.rows[header:]
        records = list(map(self.into_columns, rows))
        # Sideways labels leave the first column empty; then the next one names the records.
        filled = (any(cells) for cells in zip(*records, strict=True))
        lead = next((column for column, is_filled in enumerate(filled) if is_filled), 0)
        parted = self._parted[header:]
        is_ruled = sum(map(bool, parted[1:])) >= max(3, 0.2 * len(rows)) or all(
            bool(rules) == bool(record[lead])
            for rules, record in zip(parted[1:], records[1:], strict=True)
        )
        wraps = _wrapping_pitch(rows, records)
        ends = [
            max((line.box[2] for record in records for line in record[column]), default=0.0)
            for column in self._all
        ]
        merged: list[Record] = []
        tops: list[float] = []
        for at, (row, record) in enumerate(zip(rows, records, strict=True)):
            before = rows[at - 1]
            is_rest = (
                at > 0
                and not parted[at]
                and (
                    row.box[3] - before.box[3] <= wraps
                    or _goes_on(before, row, records[at - 1], record, lead, is_ruled, ends)
                )
            )
            if is_rest:
                for target, cell in zip(merged[-1], record, strict=True):
                    target.extend(cell)
            else:
                merged.append([list(cell) for cell in record])
                tops.append((row.box[1] + row.box[3]) / 2)
        for column, top, bottom, lines in self._merged:
            for height, record in zip(tops, merged, strict=True):
                if top < height < bottom:
                    record[column] = list(lines)
        return merged

    def _find_merged(self) -> list[tuple[int, float, float, list[Line]]]:
        """Return the cells of several rows: their column, top, bottom and lines.

        The rules of other columns end at such a cell; without them it is set between two rows.
        """
        found = []
        rows = self._area.rows
        top, bottom = self._area.box[1] - 6, self._area.box[3] + 6
        between = {
            id(row.lines[0])
            for before, row, after in zip(rows, rows[1:], rows[2:], strict=False)
            if len(row.lines) == 1
            and row.box[1] < before.box[3] - 1
            and after.box[1] < row.box[3] - 1
        }
        in_rows = {id(line) for row in rows if len(row.lines) > 1 for line in row.lines}
        for column, centre in enumerate(self._centres):
            levels = sorted({_height(rule) for rule in self._area.rules if _covers(rule, centre)})
            others = [_height(rule) for rule in self._area.rules if not _covers(rule, centre)]
            lines = [
                line
                for line in self._area.lines
                if self._column(line) == column and not self._crossed(line)
            ]
            for start, end in pairwise([top, *levels, bottom]):
                own = [line for line in lines if start < _middle(line) < end]
                if not own:
                    continue
                is_parted = any(start + 2 < level < end - 2 for level in others)
                is_between = len(own) == 1 and id(own[0]) in between
                is_block = all(
                    after.box[1] - before.box[3] < _MAX_WRAP_GAP * before.size
                    for before, after in pairwise(own)
                )
                # Names of rows, one each, and that of a sum below a rule are cells of one row.
                is_of_rows = len(own) > 1 and all(id(line) in in_rows for line in own)
                is_low = _middle(own[0]) > (start + end) / 2 + own[0].size
                if is_block and (is_parted or is_between) and not (is_of_rows or is_low):
                    found.append((column, start, end, own))
        return found

    def _separators(self) -> list[list[Box]]:
        """Return for each row the rules between it and the row above it."""
        middles = [(row.box[1] + row.box[3]) / 2 for row in self.rows]
        parted: list[list[Box]] = [[] for _ in range(len(middles) + 1)]
        for rule in self._area.rules:
            parted[bisect_left(middles, _height(rule))].append(rule)
        parted[0] = []
        return parted[: len(middles)]

    def _is_parted(self, at: int, columns: Iterable[int]) -> bool:
        """Tell whether rules above a row cover all of these columns."""
        rules = self._parted[at]
        return bool(rules) and all(
            any(_covers(rule, self._centres[column]) for rule in rules) for column in columns
        )

    def _span(self, line: Line, at: int, length: int) -> tuple[int, int]:
        """Return the first and last column that a line of the header names."""
        return self._drawn_span(line, at, length) or self._reach(line)

    def _drawn_span(self, line: Line, at: int, length: int) -> tuple[int, int] | None:
        """Return the several columns over which rules or missing bars show a line to be alone."""
        middle = (line.box[0] + line.box[2]) / 2
        end = min(length, len(self.rows))
        below = next((self._parted[row] for row in range(at + 1, end) if self._parted[row]), [])
        spans = [self._reach(line, by_bars=True)]
        for rule in below:
            under = [column for column in self._all if _covers(rule, self._centres[column])]
            if _covers(rule, middle) and 1 < len(under) < len(self._all):
                spans.append((under[0], under[-1]))
        columns = [self._column(other) for other in self.rows[at].lines if other is not line]
        for first, last in spans:
            if first < last and not any(first <= column <= last for column in columns):
                return first, last
        return None

    def _reach(self, line: Line, *, by_bars: bool = False) -> tuple[int, int]:
        """Return the first and last column of the cell that a line is in.

        Args:
            line: of the table.
            by_bars: whether only missing bars open a cell, not also text that crosses an edge.
        """
        middle = _middle(line)
        here = [bar for bar in self._area.bars if bar[1] <= middle <= bar[3]]
        is_barred = any(_is_at(bar, edge) for bar in here for edge in self._barred)
        crossed = [] if by_bars else self._crossed(line)

        def is_open(edge: float) -> bool:
            has_bar = any(_is_at(bar, edge) for bar in here)
            return edge in crossed or (is_barred and edge in self._barred and not has_bar)

        first = last = self._column(line)
        while first > 0 and is_open(self._edges[first - 1]):
            first -= 1
        while last < len(self._edges) and is_open(self._edges[last]):
            last += 1
        return first, last

    def _column(self, line: Line) -> int:
        middle = (line.box[0] + line.box[2]) / 2
        return sum(edge <= middle for edge in self._edges)

    def _crossed(self, line: Line) -> list[float]:
        return [edge for edge in self._edges if line.box[0] + 1 < edge < line.box[2] - 1]

    def into_columns(self, row: Row) -> Record:
        """Return a row's lines by column; what spans several is in the first of them."""
        record: Record = [[] for _ in self._centres]
        for line in row.lines:
            record[self._reach(line)[0]].append(line)
        own = [cell for cell in record if cell]
        is_heading = len(row.cells) == 1 and self._crossed(row.lines[0])
        if is_heading and len(own) == 1 and not _is_number(row.lines[0].text):
            return [own[0], *([] for _ in record[1:])]
        return record


def _centres(area: TableArea, edges: Sequence[float]) -> list[float]:
    bounds = [area.box[0], *edges, area.box[2]]
    return [(left + right) / 2 for left, right in pairwise(bounds)]


def _height(rule: Box) -> float:
    return round((rule[1] + rule[3]) / 2, 1)


def _covers(rule: Box, place: float) -> bool:
    return rule[0] - 1 <= place <= rule[2] + 1


def _is_at(bar: Box, edge: float) -> bool:
    return abs((bar[0] + bar[2]) / 2 - edge) <= 2 * SAME_BAR_POINTS


def _goes_on(
    before: Row,
    row: Row,
    above: Record,
    record: Record,
    lead: int,
    is_ruled: bool,
    ends: Sequence[float],
) -> bool:
    """Tell whether a row without rule above it goes on with the cells of the row before."""
    if is_ruled:
        return not _are_records(above, record)
    gap = row.box[1] - before.box[3]
    if gap < -_MIN_STACKED * row.size:
        return True
    # What is wrapped has filled its column.
    is_full = all(
        any(end - line.box[2] < _MAX_FREE_EMS * line.size for line in over)
        for over, cell, end in zip(above, record, ends, strict=True)
        if cell
    )
    if gap >= (_MAX_WIDE_WRAP_GAP if is_full else _MAX_WRAP_GAP) * row.size:
        return False
    if record[lead]:
        # The second line of a name that was too long for its column.
        is_alone = not any(cell for cell in record if cell is not record[lead])
        return is_alone and bool(above[lead]) and record[lead][0].text[0].islower()
    return not any(_is_number(line.text) for cell in record for line in cell)


def _wrapping_pitch(rows: Sequence[Row], records: Sequence[Record]) -> float:
    """Return how near the lines of one record are, 0 where the distances of rows do not tell.

    They do where there are two of them, and rows at the smaller one fill some of the columns that
    the first row of their record fills.
    """
    pitches = [after.box[3] - before.box[3] for before, after in pairwise(rows)]
    ordered = sorted(pitches)
    jumps = [after / max(before, 1.0) for before, after in pairwise(ordered)]
    if not jumps or max(jumps) < _MIN_PITCH_JUMP:
        return 0.0
    small = ordered[jumps.index(max(jumps))]
    filled = [{column for column, cell in enumerate(record) if cell} for record in records]
    first, parts = filled[0], []
    for pitch, own in zip(pitches, filled[1:], strict=True):
        if pitch > small:
            first = own
        else:
            parts.append(own < first)
    return small if sum(parts) >= _MIN_WRAPPING_SHARE * len(parts) else 0.0


def _is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None


def _is_value(text: str) -> bool:
    """Tell whether a cell holds a number; years may name columns."""
    return _is_number(text) and not _YEAR.fullmatch(text)


def _are_records(above: Sequence[Sequence[Line]], record: Sequence[Sequence[Line]]) -> bool:
    """Tell whether two rows between the same rules are two records: alike, with numbers.

    The first cell may be one that several records share; errors in brackets belong to what is
    above them.
    """
    if [bool(cell) for cell in above[1:]] != [bool(cell) for cell in record[1:]]:
        return False
    return any(
        _is_number(before[0].text)
        and _is_number(cell[0].text)
        and (bool(record[0]) or before[0].text[0] == "(" or cell[0].text[0] != "(")
        for before, cell in zip(above[1:], record[1:], strict=True)
        if before and cell
    )


def _markdown(records: Sequence[Record], names: Sequence[Name] | None) -> TableText:
    """Return records as Markdown, below a header with the names of the columns if there are."""
    parts: list[str] = []
    lines: list[Line] = []
    spans: list[tuple[int, int]] = []
    position = 0

    def add(piece: str) -> None:
        nonlocal position
        parts.append(piece)
        position += len(piece)

    def add_row(cells: Iterable[Name]) -> None:
        add("|")
        for cell in cells:
            add(" ")
            for order, (_, line) in enumerate(cell):
                text, joint = line.text, ""
                if order + 1 < len(cell):
                    joint, after = cell[order + 1]
                    if joint == " " and not line.shares_row(after):
                        text, joint = join_texts(text, after.text)
                text = close_line(text).replace("|", "\\|")
                spans.append((position, position + len(text)))
                lines.append(line)
                add(text + joint)
            add(" |" if cell else "|")

    if names is not None:
        add_row(names)
        add("\n|" + " --- |" * len(names))
    for number, record in enumerate(records):
        if number or names is not None:
            add("\n")
        add_row([(" ", line) for line in cell] for cell in record)
    return TableText("".join(parts), lines, spans, True)


def _repeated(first: TableArea, part: TableArea) -> int:
    """Return how many rows at the top of a part are those of the first one: its header."""
    texts = [
        [[cell_text(cell) for cell in row.cells] for row in area.rows] for area in (first, part)
    ]
    same = takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False))
    return min(sum(1 for _ in same), len(part.rows) - 1)


# The next page's table goes on with this one where so many of its lines are set to the left, the
# right or the middle of a cell above them, and this one ends so far down its page.
_MIN_ALIGNED_SHARE, _MAX_ALIGNED_POINTS, _MIN_END_SHARE = 0.8, 2.0, 0.7
# Rows of a running head that may be above the repeated header.
_MAX_HEAD_ROWS = 2


def continuation(first: TableArea, part: TableArea, height: float) -> TableArea | None:
    """Return the part of a table that stands on top of the next page, None where it is no part.

    Args:
        first: its beginning.
        part: the rows on top of the next page.
        height: of the first page, in points.
    """
    header = [cell_text(cell) for cell in first.rows[0].cells]
    for number, row in enumerate(part.rows[: _MAX_HEAD_ROWS + 1]):
        if len(header) > 1 and [cell_text(cell) for cell in row.cells] == header:
            rows = part.rows[number:]
            box = surrounding_box([row.box for row in rows])
            return replace(part, rows=rows, box=box) if len(rows) > 1 else None
    if first.box[3] < _MIN_END_SHARE * height or len(part.rows[0].cells) < 2:
        return None
    barred = _ruled_edges(first.rows, first.bars)
    edges = column_edges(first.rows, barred)
    if not edges or _stray_share(part.rows, edges) > 0:
        return None
    above, below = (
        list(map(_Grid(area, edges, barred).into_columns, area.rows)) for area in (first, part)
    )
    aligned = [
        any(_is_aligned(line, other) for record in above for other in record[column])
        for record in below
        for column, cell in enumerate(record)
        for line in cell
    ]
    is_full = all(any(record[column] for record in below) for column in range(len(edges) + 1))
    return part if is_full and sum(aligned) >= _MIN_ALIGNED_SHARE * len(aligned) else None


def _is_aligned(line: Line, other: Line) -> bool:
    left, _, right, _ = (abs(a - b) for a, b in zip(line.box, other.box, strict=True))
    middle = abs(line.box[0] + line.box[2] - other.box[0] - other.box[2]) / 2
    return abs(line.size - other.size) < 0.5 and min(left, right, middle) <= _MAX_ALIGNED_POINTS


def _full_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with most cells: headings of rows and columns cross edges by their nature."""
    most = max(len(row.cells) for row in rows)
    return [row for row in rows if len(row.cells) > _MIN_FULL_SHARE * most]


def _stray_share(rows: Sequence[Row], edges: Sequence[float]) -> float:
    """Return the share of cells that cross a border of the columns."""
    cells = [cell_box(cell) for row in _full_rows(rows) for cell in row.cells]
    stray = sum(any(start + 1 < edge < end - 1 for edge in edges) for start, end in cells)
    return stray / len(cells)


def column_edges(rows: Sequence[Row], ruled: Sequence[float]) -> list[float]:
    """Return where columns part: at vertical rules, and at white bands between two of them."""
    if not ruled:
        return _white_edges(rows, len(rows))
    edges = list(ruled)
    for left, right in pairwise([-math.inf, *ruled, math.inf]):
        held = [
            [line for line in row.lines if left <= line.box[0] + 1 and line.box[2] - 1 <= right]
            for row in rows
        ]
        inside = [_make_row(lines, ()) for lines in held if lines]
        if sum(len(row.cells) > 1 for row in inside) >= _MIN_PARTED_IN_BARS * len(inside):
            edges += _white_edges(inside, len(rows))
    return sorted(edges)


def _ruled_edges(rows: Sequence[Row], bars: Sequence[Box]) -> list[float]:
    """Return the places of the vertical rules that run between the lines of a table."""
    _, top, _, bottom = surrounding_box([row.box for row in rows])
    lengths: dict[float, float] = {}
    for bar in bars:
        place = (bar[0] + bar[2]) / 2
        last = next(reversed(lengths), -math.inf)
        if place - last > SAME_BAR_POINTS:
            lengths[last := place] = 0.0
        lengths[last] += max(0.0, min(bar[3], bottom) - max(bar[1], top))
    middles = sorted((line.box[0] + line.box[2]) / 2 for row in rows for line in row.lines)
    places = [
        place for place, length in lengths.items() if length >= _MIN_BAR_SHARE * (bottom - top)
    ]
    # Where no text stands between two rules, they are the borders of two neighbouring cells.
    edges: dict[int, float] = {}
    for place in places:
        edges.setdefault(bisect_left(middles, place), place)
    return [place for before, place in edges.items() if 0 < before < len(middles)]


def _white_edges(rows: Sequence[Row], height: int) -> list[float]:
    """Return where columns part: the middles of white bands that hardly a cell crosses.

    Args:
        rows: a table's, or what stands of them between two vertical rules.
        height: of the table, in rows.
    """
    cells = [cell_box(cell) for row in rows for cell in row.cells]
    wide_rows = [row for row in rows if len(row.cells) > 1]
    if not wide_rows:
        return []
    full = [cell_box(cell) for row in _full_rows(rows) for cell in row.cells]
    left = int(min(start for start, _ in cells))
    right = int(max(end for _, end in cells)) + 2
    crossing = _coverage(full, left, right)
    gaps = [
        (cell_box(before)[1], cell_box(after)[0])
        for row in wide_rows
        for before, after in zip(row.cells, row.cells[1:], strict=False)
    ]
    parted = _coverage(gaps, left, right)
    most = _MAX_CROSSING_SHARE * height
    least = max(2.0, _MIN_PARTED_SHARE * len(wide_rows)) if len(wide_rows) > 1 else 1.0
    edges: list[float] = []
    start: int | None = None
    for place in range(left, right + 1):
        is_band = place < right and crossing[place - left] <= most and parted[place - left] >= least
        if is_band and start is None:
            start = place
        elif not is_band and start is not None:
            edges.append(_quietest(crossing, start - left, place - left) + left)
            start = None
    return edges


def _quietest(crossing: Sequence[int], start: int, end: int) -> float:
    """Return the middle of the stretch that the fewest cells cross."""
    least = min(crossing[start:end])
    quiet = [place for place in range(start, end) if crossing[place] == least]
    return quiet[len(quiet) // 2] + 0.5


def _coverage(spans: Sequence[tuple[float, float]], left: int, right: int) -> list[int]:
    """Count for each whole point from `left` to `right` the spans that cover it."""
    steps = [0] * (right - left + 2)
    for start, end in spans:
        first = max(0, min(int(start) - left + 1, right - left))
        last = max(first, min(int(end) - left, right - left))
        steps[first] += 1
        steps[last] -= 1
    counts = []
    running = 0
    for step in steps:
        running += step
        counts.append(running)
    return counts


def bare_lines(rows: Sequence[Sequence[Line]]) -> TableText:
    """Return rows as they are, one line each."""
    parts: list[str] = []
    lines: list[Line] = []
    spans: list[tuple[int, int]] = []
    position = 0
    for number, row in enumerate(rows):
        for order, line in enumerate(row):
            separator = " " if order else "\n" if number else ""
            text = close_line(line.text)
            parts += [separator, text]
            position += len(separator)
            spans.append((position, position + len(text)))
            position += len(text)
            lines.append(line)
    return TableText("".join(parts), lines, spans, False)
