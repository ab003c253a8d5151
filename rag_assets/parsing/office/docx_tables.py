"""The grid of a Word table: which cell covers which columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.parsing.office.docx_xml import W, number_of

if TYPE_CHECKING:
    from lxml.etree import _Element

# Word's own limit of columns.
_MAX_COLUMNS = 63


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell as it stands in its row.

    Args:
        element: `w:tc`.
        span: grid columns that it covers, at least 1.
        continues: True where it is the lower or right part of a merged cell.
    """

    element: "_Element"
    span: int
    continues: bool


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: the columns left empty before it, and its cells."""

    before: int
    cells: tuple[TableCell, ...]


def read_rows(table: "_Element") -> list[TableRow]:
    """Return the rows of a table that are not deleted by a tracked change."""
    rows = []
    for row in _contents(table, W + "tr"):
        properties = row.find(W + "trPr")
        if properties is not None and properties.find(W + "del") is not None:
            continue
        cells = tuple(
            _cell(cell)
            for cell in _contents(row, W + "tc")
            if cell.find(f"{W}tcPr/{W}cellDel") is None
        )
        rows.append(TableRow(_bounded(number_of(properties, "gridBefore") or 0, 0), cells))
    return rows


def _contents(container: "_Element", tag: str) -> "Iterator[_Element]":
    """Return the rows of a table or cells of a row, those inside content controls too."""
    for child in container:
        if child.tag == tag:
            yield child
        elif child.tag in _TRANSPARENT:
            yield from _contents(child, tag)


_TRANSPARENT = frozenset(
    W + name for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")
)


def _cell(cell: "_Element") -> TableCell:
    properties = cell.find(W + "tcPr")
    span = _bounded(number_of(properties, "gridSpan") or 1, 1)
    return TableCell(
        cell, span, _continues(properties, "vMerge") or _continues(properties, "hMerge")
    )


def _continues(properties: "_Element | None", name: str) -> bool:
    # The element without a value continues the cell before (ECMA-376 part 1, 17.4.84).
    merged = None if properties is None else properties.find(W + name)
    return merged is not None and merged.get(W + "val", "continue") != "restart"


def _bounded(count: int, least: int) -> int:
    return max(least, min(count, _MAX_COLUMNS))
