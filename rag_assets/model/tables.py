"""Tables that other programs open."""

import csv
import io
from collections.abc import Sequence

Cell = str | float | None
# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(rows: Sequence[Sequence[Cell]], line_end: str = "\n") -> str:
    """Return rows as CSV; a text that a spreadsheet would run begins with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=line_end)
    for row in rows:
        writer.writerow([_plain(cell) for cell in row])
    return out.getvalue()


def _plain(cell: Cell) -> str:
    if isinstance(cell, str):
        # A lone carriage return is not quoted, and would begin a row: `a\\r=1+1`.
        text = cell.replace("\r\n", "\n").replace("\r", "\n")
        return f"'{text}" if cell.startswith(_FORMULA) else text
    return "" if cell is None else repr(cell)
