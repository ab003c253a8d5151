"""Lines of a page that text recognition read across its columns, put back into them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from rag_assets.parsing.pdf.lines import Line, surrounding_box

# A white space of so many font sizes parts two blocks of a column.
_BLOCK_GAP_IN_SIZES = 1.0


def read_by_column(
    lines: Sequence[Line], column_of: Callable[[Line], int | None]
) -> list[list[Line]]:
    """Return the lines in blocks: each column from top to bottom, the left one first.

    A line that crosses the columns ends what stands above it and is a block of its own. Pieces
    of one printed line, which recognition gives apart, become one again.

    Args:
        lines: of one page, in any order.
        column_of: the number of a line's column, from 0; None where it crosses a gutter.
    """
    blocks: list[list[Line]] = []
    band: dict[int, list[Line]] = {}
    for line in sorted(lines, key=lambda line: (_middle(line), line.box[0])):
        column = column_of(line)
        if column is not None:
            band.setdefault(column, []).append(line)
            continue
        blocks += _blocks_of(band)
        blocks.append([line])
        band = {}
    return blocks + _blocks_of(band)


def _blocks_of(band: dict[int, list[Line]]) -> list[list[Line]]:
    blocks: list[list[Line]] = []
    for column in sorted(band):
        rows = _join_rows(band[column])
        blocks.append([rows[0]])
        for before, line in pairwise(rows):
            if line.box[1] - before.box[3] > _BLOCK_GAP_IN_SIZES * line.size:
                blocks.append([])
            blocks[-1].append(line)
    return blocks


def _join_rows(lines: Sequence[Line]) -> list[Line]:
    """Join the pieces of each printed line; `lines` are sorted by their middle."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and line.upright and rows[-1][0].upright and _middle(line) < rows[-1][0].box[3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    joined = []
    for row in rows:
        row.sort(key=lambda line: line.box[0])
        if len(row) == 1:
            joined.append(row[0])
            continue
        joined.append(
            replace(
                max(row, key=lambda line: len(line.text)),
                text=" ".join(line.text for line in row),
                printed=" ".join(line.printed for line in row),
                box=surrounding_box([line.box for line in row]),
            )
        )
    return joined


def _middle(line: Line) -> float:
    return (line.box[1] + line.box[3]) / 2
