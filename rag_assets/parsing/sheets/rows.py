"""Rows of a sheet become lines that can stand alone: `header: value; header: value`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from rag_assets.parsing.sheets.layout import Layout, Row, find_layout
from rag_assets.parsing.sheets.sideways import part_sideways
from rag_assets.parsing.sheets.text import TextBuilder

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
    source = iter(rows) if single_column else part_sideways(rows)
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
