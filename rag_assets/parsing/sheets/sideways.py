"""Tables beside each other on a sheet, parted so that no row mixes two of them."""

from collections.abc import Iterable, Iterator, Sequence

from rag_assets.parsing.sheets.layout import Row

# Only what is held whole can be parted; tables beside each other are looked at, thus small.
_MAX_HELD_ROWS = 1000
_MAX_HELD_CELLS = 20_000
_MIN_COLUMNS = 2
_MIN_ROWS = 2


def part_sideways(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows of a sheet, tables that stand beside each other one after the other.

    Where runs of columns, empty columns between them, begin their tables in different rows, they
    are tables of their own. Where they begin in the same row they may be one table with empty
    columns for looks, and stay together.

    Args:
        rows: an empty one where the sheet has blank rows.
    """
    held: list[Row] = []
    cells = 0
    is_long = False
    for row in rows:
        if not row:
            yield from _part(held)
            yield []
            held, cells, is_long = [], 0, False
        elif is_long:
            yield row
        else:
            held.append(row)
            cells += len(row)
            if len(held) > _MAX_HELD_ROWS or cells > _MAX_HELD_CELLS:
                yield from held
                held, is_long = [], True
    yield from _part(held)


def _part(rows: Sequence[Row]) -> Iterator[Row]:
    bounds = _table_bounds(rows)
    if len(bounds) < 2:
        yield from rows
        return
    for first, last in bounds:
        is_parted = True
        for row in rows:
            own = [(column, text) for column, text in row if first <= column < last]
            if own:
                yield own
            elif not is_parted:
                yield []
            is_parted = not own
        yield []


def _table_bounds(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Return (first column, column behind the last) of each table; they cover all columns."""
    columns = sorted({column for row in rows for column, _ in row})
    runs: list[list[int]] = []
    for column in columns:
        if runs and column == runs[-1][1]:
            runs[-1][1] = column + 1
        else:
            runs.append([column, column + 1])
    bounds: list[tuple[int, int]] = []
    starts: list[int | None] = []
    for first, last in runs:
        start = _start_of_table(rows, first, last)
        if bounds and (start is None or start == starts[-1]):
            bounds[-1] = bounds[-1][0], last
        elif bounds and starts[-1] is None:
            bounds[-1], starts[-1] = (bounds[-1][0], last), start
        else:
            bounds.append((first, last))
            starts.append(start)
    return bounds


def _start_of_table(rows: Sequence[Row], first: int, last: int) -> int | None:
    """Return the index of the first row with several cells of a run, None where it is no table."""
    filled = [
        index
        for index, row in enumerate(rows)
        if sum(first <= column < last for column, _ in row) >= _MIN_COLUMNS
    ]
    return filled[0] if len(filled) >= _MIN_ROWS else None
