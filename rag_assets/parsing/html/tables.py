"""Tables of a page: data or layout, and data as Markdown."""

import re
from typing import Any

from rag_assets.parsing.raised import settle_raised

_LAYOUT_CONTENT = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "form", "article", "nav")
# A cell of data holds a value or a sentence or two; a column of a layout holds the page.
_MAX_CELL_CHARACTERS = 1500
_MAX_SPAN = 1000
_MAX_CELLS = 2_000_000
_BLANKS = re.compile(r"\s+")


def is_data_table(table: Any) -> bool:
    """Tell whether a table holds data rather than arranging the page.

    After the WAI-ARIA notes on layout tables and Firefox' own rule: a caption or header cells say
    data; a role, a table inside, a heading inside, one row or one column, or a cell as long as an
    article say layout.
    """
    if table.get("role") in {"presentation", "none"}:
        return False
    if any(next(table.iterdescendants(tag), None) is not None for tag in _LAYOUT_CONTENT):
        return False
    rows = _rows_of(table)
    if max((len(row) for row in rows), default=0) < 2:
        return False
    if table.find("caption") is not None or next(table.iterdescendants("th"), None) is not None:
        return True
    if len(rows) < 2:
        return False
    return all(len(cell.text_content()) <= _MAX_CELL_CHARACTERS for row in rows for cell in row)


def render_table(table: Any) -> str:
    """Return a table as a Markdown pipe table, "" where no cell has text.

    The first row is the header. A cell that spans stands once and leaves the places empty that it
    covers, so that columns stay in line.
    """
    grid = _grid_of(table)
    width = max((len(row) for row in grid), default=0)
    lines = [
        "| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in grid if any(row)
    ]
    if not lines:
        return ""
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _rows_of(table: Any) -> list[list[Any]]:
    rows = ([cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr"))
    return [row for row in rows if row]


def _grid_of(table: Any) -> list[list[str]]:
    grid: list[list[str]] = []
    below: dict[int, int] = {}
    cells = 0
    for row in _rows_of(table):
        line: list[str] = []
        for cell in row:
            while below.get(len(line), 0):
                below[len(line)] -= 1
                line.append("")
            columns, rows = _span(cell, "colspan"), _span(cell, "rowspan")
            if rows > 1:
                below.update({len(line) + i: rows - 1 for i in range(columns)})
            line.extend([_text_of(cell), *[""] * (columns - 1)])
            cells += columns
            if cells > _MAX_CELLS:
                return grid
        while below.get(len(line), 0):
            below[len(line)] -= 1
            line.append("")
        grid.append(line)
    return grid


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return min(max(1, int(value)), _MAX_SPAN) if value.isdecimal() else 1


def _text_of(cell: Any) -> str:
    import lxml.html

    pieces: list[str] = []
    for element in cell.iter():
        if isinstance(element, lxml.html.HtmlElement) and element.tag not in {"script", "style"}:
            if element.tag in {"br", "p", "div", "li"}:
                pieces.append(" ")
            pieces.append(element.text or "")
        if element is not cell:
            pieces.append(element.tail or "")
    text = settle_raised(_BLANKS.sub(" ", "".join(pieces)).strip())
    return text.replace("|", r"\|")
