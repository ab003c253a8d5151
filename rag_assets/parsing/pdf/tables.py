"""Tables of a page, and their Markdown."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import Literal

from rag_assets.model import Box
from rag_assets.parsing.cleaning import close_line
from rag_assets.parsing.pdf.drawn import SAME_BAR_POINTS
from rag_assets.parsing.pdf.lines import Line, Page, surrounding_box
from rag_assets.parsing.pdf.order import column_bounds

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
# … and so many rows have cells on both of its sides.
_MIN_PARTED_SHARE = 0.25
# Vertical rules decide the columns where they are as long as this share of the table; between two
# of them gaps do only where so many rows have one.
_MIN_BAR_SHARE, _MIN_PARTED_IN_BARS = 0.5, 0.35
# Cells whose text runs into the next column; beyond this share the columns are wrong.
_MAX_STRAY_SHARE = 0.15
# Rows of one record, in line heights: what is set closer is a cell's second line.
_MAX_WRAP_GAP = 0.45
_NUMBER = re.compile(r"[<>≤≥~≈±+\-−–(]?\s?[$€£¥]?[.,]?\d")


@dataclass(slots=True)
class TableText:
    """The text of a table and where each of its lines stands in it.

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
        rules: heights of the horizontal rules within it, ascending.
        bars: the vertical rules of its page.
        first_gap: from the caption to the nearest row, in points.
    """

    rows: list[Row]
    rules: list[float]
    bars: list[Box]
    box: Box
    first_gap: float

    @property
    def lines(self) -> list[Line]:
        """All lines of the table."""
        return [line for row in self.rows for line in row.lines]


def render_table(parts: Sequence[TableArea]) -> list[TableText]:
    """Return a table as Markdown, one text for each page; without columns, as the lines they are.

    Args:
        parts: at least one; a header that a later one repeats is left out.
    """
    first = parts[0]
    bodies = [first.rows, *(part.rows[_repeated(first, part) :] for part in parts[1:])]
    rows = [row for body in bodies for row in body]
    edges = column_edges(rows, _ruled_edges(first.rows, first.bars))
    if _MIN_COLUMNS <= len(edges) + 1 <= _MAX_COLUMNS and _stray_share(rows, edges) <= (
        _MAX_STRAY_SHARE
    ):
        merged = [
            _merge_wrapped(body, [_into_columns(row, edges) for row in body], part)
            for part, body in zip(parts, bodies, strict=True)
        ]
        if sum(map(len, merged)) > 1:
            return [_markdown(records, number == 0) for number, records in enumerate(merged)]
    return [bare_lines([row.lines for row in body]) for body in bodies]


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
    edges = column_edges(first.rows, _ruled_edges(first.rows, first.bars))
    if not edges or _stray_share(part.rows, edges) > 0:
        return None
    above, below = ([_into_columns(row, edges) for row in area.rows] for area in (first, part))
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


def _stray_share(rows: Sequence[Row], edges: Sequence[float]) -> float:
    """Return the share of cells that cross a border of the columns."""
    cells = [cell_box(cell) for row in rows for cell in row.cells]
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
    left = int(min(start for start, _ in cells))
    right = int(max(end for _, end in cells)) + 2
    crossing = _coverage(cells, left, right)
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


def _into_columns(row: Row, edges: Sequence[float]) -> list[list[Line]]:
    """Return the row's lines by column; what spans several stands in the first of them."""
    record: list[list[Line]] = [[] for _ in range(len(edges) + 1)]
    for cell in row.cells:
        for line in cell:
            middle = (line.box[0] + line.box[2]) / 2
            crossed = [edge for edge in edges if line.box[0] + 1 < edge < line.box[2] - 1]
            place = line.box[0] + 1 if crossed else middle
            record[sum(edge <= place for edge in edges)].append(line)
    return record


def _merge_wrapped(
    rows: Sequence[Row], records: Sequence[list[list[Line]]], part: TableArea
) -> list[list[list[Line]]]:
    """Join lines that one record wraps over, and the lines of the header above its rule."""
    rules = part.rules
    merged: list[list[list[Line]]] = []
    is_ruled = _is_fully_ruled(rows, rules)
    # Sideways labels leave the first column empty; then the next one names the records.
    filled = (any(cells) for cells in zip(*records[1:], strict=True))
    lead = next((column for column, is_filled in enumerate(filled) if is_filled), 0)
    header_end = _header_end(rows, rules) if rows is part.rows else 0.0
    previous: Row | None = None
    above: Sequence[Sequence[Line]] = []
    for row, record in zip(rows, records, strict=True):
        if previous is not None and _belongs(
            previous, row, above, lead, record, rules, is_ruled, header_end
        ):
            for target, cell in zip(merged[-1], record, strict=True):
                target.extend(cell)
        else:
            merged.append([list(cell) for cell in record])
        previous, above = row, record
    return merged


def _is_fully_ruled(rows: Sequence[Row], rules: Sequence[float]) -> bool:
    """Tell whether rules part the records: many, and more than the three of a plain table."""
    inner = [rule for rule in rules if rows[0].box[3] - 2 < rule < rows[-1].box[1] + 2]
    return len(inner) >= 3 and len(inner) >= 0.2 * len(rows)


def _header_end(rows: Sequence[Row], rules: Sequence[float]) -> float:
    """Return the height of the rule under the header, 0 where there is none near the top."""
    top = rows[0].box[1]
    limit = rows[min(len(rows) - 1, 4)].box[1]
    inner = [rule for rule in rules if top + 2 < rule <= limit + 2]
    return inner[0] if len(inner) == 1 else 0.0


def _belongs(
    before: Row,
    row: Row,
    above: Sequence[Sequence[Line]],
    lead: int,
    record: Sequence[Sequence[Line]],
    rules: Sequence[float],
    is_ruled: bool,
    header_end: float,
) -> bool:
    middle_before = (before.box[1] + before.box[3]) / 2
    middle = (row.box[1] + row.box[3]) / 2
    is_parted = any(middle_before < rule < middle for rule in rules)
    if is_parted:
        return False
    if row.box[3] <= header_end + 2:
        return True
    if is_ruled:
        return not _are_records(above, record)
    gap = row.box[1] - before.box[3]
    is_rest = not record[lead] and any(record) and gap < _MAX_WRAP_GAP * row.size
    return is_rest and not any(_is_number(line.text) for cell in record for line in cell)


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


def _is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None


def _markdown(records: Sequence[Sequence[Sequence[Line]]], has_header: bool) -> TableText:
    parts: list[str] = []
    lines: list[Line] = []
    spans: list[tuple[int, int]] = []
    position = 0

    def add(piece: str) -> None:
        nonlocal position
        parts.append(piece)
        position += len(piece)

    for number, record in enumerate(records):
        if number:
            add("\n")
        add("|")
        for cell in record:
            add(" ")
            for order, line in enumerate(cell):
                text = close_line(line.text).replace("|", "\\|")
                if order:
                    add(" ")
                spans.append((position, position + len(text)))
                lines.append(line)
                add(text)
            add(" |" if cell else "|")
        if number == 0 and has_header:
            add("\n|" + " --- |" * len(record))
    return TableText("".join(parts), lines, spans, True)


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


# Where the table of a caption stands: rows of cells with common edges, and ruling lines.

Direction = Literal["below", "above"]

# From the caption to its table: a few lines of notes or white space.
_MAX_FIRST_GAP_POINTS = 40.0
# Between rows without rules around them, in the size of their font.
_MAX_ROW_GAP_EMS = 2.6
# One cell that fills so much of the width with so many characters is running text.
_MIN_PROSE_SHARE, _MIN_PROSE_CHARACTERS = 0.72, 40
# Rules that end within so many points of each other belong to one table.
_EDGE_SLACK_POINTS = 8.0
_MIN_TABULAR_ROWS = 2
_MAX_CAPTION_RULE_POINTS = 12.0
# Rows of one cell that may stand between two rows of several (group headings, wrapped cells).
_MAX_SINGLE_ROWS = 4
_MAX_PROSE_IN_RULES = 0.5


def find_table(
    caption: Box,
    page: Page,
    lines: Sequence[Line],
    obstacles: Sequence[Box],
    direction: Direction,
) -> TableArea | None:
    """Return the table that stands above or below a caption, None where no rows show.

    Args:
        caption: box of the caption.
        page: with its graphics.
        lines: of the page that may belong to a table.
        obstacles: boxes of the other captions on the page, which no table crosses.
        direction: where to look.
    """
    left, right = _reach(caption, page, direction)
    inside = [
        line
        for line in lines
        if line.upright
        and left <= (line.box[0] + line.box[2]) / 2 <= right
        and _distance(caption, line.box, direction) > -3
    ]
    limit = _limit(caption, obstacles, left, right, direction)
    inside = [line for line in inside if _distance(caption, line.box, direction) < limit]
    rows = group_rows(inside, page.bars)
    if direction == "above":
        rows.reverse()
    rules = sorted(
        distance
        for rule in _rules_within(page, left, right)
        if -3 < (distance := _distance(caption, rule, direction)) < limit
    )
    matching = _matching_rules(caption, page, left, right, direction, limit)
    taken = _walk(rows, caption, matching, right - left, direction)
    if sum(len(row.cells) > 1 for row in taken) < _MIN_TABULAR_ROWS:
        return None
    first_gap = _distance(caption, taken[0].box, direction)
    taken.sort(key=lambda row: row.box[1])
    box = surrounding_box([row.box for row in taken])
    heights = [_height(caption, distance, direction) for distance in rules]
    heights = sorted(y for y in heights if box[1] - 6 <= y <= box[3] + 6)
    return TableArea(taken, heights, page.bars, box, first_gap)


def ruled_box(caption: Box, page: Page) -> Box | None:
    """Return the box between a caption and the next rule but one below it, as wide as they are.

    Algorithms and listings are set so: rule, caption, rule, lines, rule.
    """
    left, right = _reach(caption, page, "below")
    rules = _matching_rules(caption, page, left, right, "below", page.height)
    if len(rules) < 2 or rules[0] > _MAX_CAPTION_RULE_POINTS:
        return None
    return (left, caption[3] + rules[0], right, caption[3] + rules[1])


def _distance(caption: Box, box: Box, direction: Direction) -> float:
    """Return how far `box` lies from the caption, in points; negative where they overlap."""
    return box[1] - caption[3] if direction == "below" else caption[1] - box[3]


def _height(caption: Box, distance: float, direction: Direction) -> float:
    return caption[3] + distance if direction == "below" else caption[1] - distance


def _limit(
    caption: Box, obstacles: Sequence[Box], left: float, right: float, direction: Direction
) -> float:
    """Return how far a table may reach: to the next caption in its way."""
    distances = [
        _distance(caption, box, direction)
        for box in obstacles
        if min(box[2], right) - max(box[0], left) > 5
    ]
    return min((distance for distance in distances if distance > -3), default=1e9)


def _reach(caption: Box, page: Page, direction: Direction) -> tuple[float, float]:
    """Return the left and right bound of the table: of its columns, or of the rules beside it."""
    left, right = column_bounds(page, caption[0], caption[2])
    left, right = left - _EDGE_SLACK_POINTS, right + _EDGE_SLACK_POINTS
    near = [
        rule
        for rule in _rules_within(page, caption[0] - 400, caption[2] + 400)
        if -3 <= _distance(caption, rule, direction) <= _MAX_FIRST_GAP_POINTS
        and min(rule[2], caption[2]) - max(rule[0], caption[0]) > 0.3 * (caption[2] - caption[0])
    ]
    if near:
        nearest = min(near, key=lambda rule: _distance(caption, rule, direction))
        return min(left, nearest[0] - 3), max(right, nearest[2] + 3)
    return left, right


def _rules_within(page: Page, left: float, right: float) -> list[Box]:
    """Return the horizontal rules between two edges, pieces on one height joined."""
    boxes = sorted(
        (
            graphic.box
            for graphic in page.graphics
            if graphic.kind == "rule" and graphic.box[2] > left and graphic.box[0] < right
        ),
        key=lambda box: (round(box[1]), box[0]),
    )
    joined: list[Box] = []
    for box in boxes:
        if joined and abs(joined[-1][1] - box[1]) < 1.5 and box[0] <= joined[-1][2] + 12:
            before = joined[-1]
            joined[-1] = (before[0], before[1], max(before[2], box[2]), max(before[3], box[3]))
        else:
            joined.append(box)
    return joined


def _matching_rules(
    caption: Box, page: Page, left: float, right: float, direction: Direction, limit: float
) -> list[float]:
    """Return the distances of the rules that have the width of the first one, ascending."""
    near = sorted(
        (
            (_distance(caption, rule, direction), rule)
            for rule in _rules_within(page, left, right)
            if rule[2] - rule[0] > 0.3 * min(right - left, max(100.0, caption[2] - caption[0]))
        ),
        key=lambda item: item[0],
    )
    near = [item for item in near if -3 <= item[0] < limit]
    if not near or near[0][0] > _MAX_FIRST_GAP_POINTS + 20:
        return []
    first = near[0][1]
    return [
        distance
        for distance, rule in near
        if abs(rule[0] - first[0]) <= _EDGE_SLACK_POINTS
        and abs(rule[2] - first[2]) <= _EDGE_SLACK_POINTS
    ]


def _walk(
    rows: Sequence[Row],
    caption: Box,
    rules: Sequence[float],
    width: float,
    direction: Direction,
) -> list[Row]:
    """Return the rows of the table, from the caption on."""
    ruled_end = _ruled_end(rows, caption, rules, width, direction)
    taken: list[Row] = []
    pending: list[Row] = []
    reached = 0.0
    for row in rows:
        distance = _distance(caption, row.box, direction)
        far = distance + (row.box[3] - row.box[1])
        if far <= ruled_end + 4:
            taken += [*pending, row]
            pending = []
            reached = far
            continue
        gap = distance - reached
        limit = _MAX_ROW_GAP_EMS * row.size if taken or pending else _MAX_FIRST_GAP_POINTS
        if gap > limit or (ruled_end > 0 and direction == "below"):
            break
        if len(row.cells) > 1 and not _is_two_columns_of_prose(row):
            taken += [*pending, row]
            pending = []
        elif is_prose(row, width) or len(pending) >= _MAX_SINGLE_ROWS:
            break
        else:
            pending.append(row)
        reached = far
    return taken


def _ruled_end(
    rows: Sequence[Row],
    caption: Box,
    rules: Sequence[float],
    width: float,
    direction: Direction,
) -> float:
    """Return the distance of the last rule that encloses rows of a table, 0 without."""
    end = 0.0
    for before, rule in pairwise(rules):
        between = [
            row for row in rows if before - 2 <= _distance(caption, row.box, direction) < rule - 2
        ]
        prose = sum(is_prose(row, width) for row in between)
        if between and prose > _MAX_PROSE_IN_RULES * len(between) and len(between) > 1:
            break
        end = rule
    return end


def is_prose(row: Row, width: float) -> bool:
    """Tell whether a row is a line of running text: one cell that fills the width."""
    if len(row.cells) > 1:
        return _is_two_columns_of_prose(row)
    text = cell_text(row.cells[0])
    filled = row.box[2] - row.box[0]
    return len(text) >= _MIN_PROSE_CHARACTERS and filled >= _MIN_PROSE_SHARE * width


def _is_two_columns_of_prose(row: Row) -> bool:
    return len(row.cells) == 2 and all(
        len(cell_text(cell)) >= _MIN_PROSE_CHARACTERS for cell in row.cells
    )
