"""Rows and cells: what stands beside each other on a page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_assets.model import Box
from rag_assets.parsing.pdf.lines import Line, surrounding_box

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


def group_rows(lines: Iterable[Line]) -> list[Row]:
    """Return upright lines as rows, from the top down.

    A line joins the row whose height its middle lies in; sub- and superscripts so join theirs.
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
    return [_make_row(row) for row in rows]


def _middle(line: Line) -> float:
    return (line.box[1] + line.box[3]) / 2


def _make_row(lines: list[Line]) -> Row:
    lines.sort(key=lambda line: line.box[0])
    cells = [[lines[0]]]
    reach = lines[0].box[2]
    for line in lines[1:]:
        if line.box[0] - reach >= MIN_CELL_GAP_EMS * max(line.size, cells[-1][-1].size):
            cells.append([])
        cells[-1].append(line)
        reach = max(reach, line.box[2])
    return Row(cells, surrounding_box([line.box for line in lines]))
