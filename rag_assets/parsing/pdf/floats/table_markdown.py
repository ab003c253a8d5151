"""A table's rows of cells as Markdown, each character of which knows the line it came from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.parsing.cleaning import close_line
from rag_assets.parsing.pdf.floats.table_rows import Row, cell_box
from rag_assets.parsing.pdf.lines import Line

# A table of one column is a list, one of more than this a misread figure.
_MIN_COLUMNS, _MAX_COLUMNS = 2, 40
# A white band parts two columns where so few cells (headings over several columns) cross it …
_MAX_CROSSING_SHARE = 0.12
# … and so many rows have cells on both of its sides.
_MIN_PARTED_SHARE = 0.25
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


def render_table(rows: Sequence[Row], rules: Sequence[float]) -> TableText:
    """Return rows of cells as a Markdown table; where no columns show, as the lines they are.

    Args:
        rows: from the top down, at least one.
        rules: heights of the horizontal rules that cross the table, in points, ascending.
    """
    edges = _column_edges(rows)
    if _MIN_COLUMNS <= len(edges) + 1 <= _MAX_COLUMNS and _stray_share(rows, edges) <= (
        _MAX_STRAY_SHARE
    ):
        records = [_into_columns(row, edges) for row in rows]
        merged = _merge_wrapped(rows, records, rules)
        if len(merged) > 1:
            return _markdown(merged)
    return bare_lines([row.lines for row in rows])


def _stray_share(rows: Sequence[Row], edges: Sequence[float]) -> float:
    """Return the share of cells that cross a border of the columns."""
    cells = [cell_box(cell) for row in rows for cell in row.cells]
    stray = sum(any(start + 1 < edge < end - 1 for edge in edges) for start, end in cells)
    return stray / len(cells)


def _column_edges(rows: Sequence[Row]) -> list[float]:
    """Return where columns part: the middles of white bands that hardly a cell crosses."""
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
    most = _MAX_CROSSING_SHARE * len(rows)
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
    rows: Sequence[Row], records: Sequence[list[list[Line]]], rules: Sequence[float]
) -> list[list[list[Line]]]:
    """Join lines that one record wraps over, and the lines of the header above its rule."""
    merged: list[list[list[Line]]] = []
    is_ruled = _is_fully_ruled(rows, rules)
    header_end = _header_end(rows, rules)
    previous: Row | None = None
    above: Sequence[Sequence[Line]] = []
    for row, record in zip(rows, records, strict=True):
        if previous is not None and _belongs(
            previous, row, above, record, rules, is_ruled, header_end
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
    is_rest = not record[0] and any(record) and gap < _MAX_WRAP_GAP * row.size
    return is_rest and not any(_is_number(line.text) for cell in record for line in cell)


def _are_records(above: Sequence[Sequence[Line]], record: Sequence[Sequence[Line]]) -> bool:
    """Tell whether two rows between the same rules are two records: alike, with numbers."""
    if [bool(cell) for cell in above] != [bool(cell) for cell in record]:
        return False
    return any(
        _is_number(before[0].text) and _is_number(cell[0].text)
        for before, cell in zip(above[1:], record[1:], strict=True)
        if before and cell
    )


def _is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None


def _markdown(records: Sequence[Sequence[Sequence[Line]]]) -> TableText:
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
        if number == 0:
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
