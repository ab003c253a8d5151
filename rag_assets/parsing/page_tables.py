"""Tables and listings of web pages: rows under joined names of columns, code line by line."""

import re
from collections.abc import Sequence
from typing import Any  # Any: elements of lxml

from rag_assets.parsing.flow import markdown_table
from rag_assets.parsing.page_tree import BLOCKS
from rag_assets.parsing.seen import settle_raised
from rag_assets.parsing.sheets import SAMPLE_ROWS, Layout, find_layout

_LAYOUT_CONTENT = ("h1", "h2", "h3", "h4", "h5", "h6", "form", "article", "nav")
# A cell of data holds a value or a sentence or two; a column of a layout holds the page.
_MAX_CELL_CHARACTERS = 1500
_MAX_SPAN, _MAX_CELLS = 1000, 2_000_000
_SECTIONS = {"thead": 0, "tfoot": 2}


def is_data_table(table: Any) -> bool:
    """Tell whether a table holds data rather than arranging the page.

    After the WAI-ARIA notes on layout tables and Firefox' own rule: a caption or header cells say
    data; a role, a heading inside, a table inside one without header cells, one row or one column,
    or a cell as long as an article say layout.
    """
    if table.get("role") in {"presentation", "none"}:
        return False
    if any(next(table.iterdescendants(tag), None) is not None for tag in _LAYOUT_CONTENT):
        return False
    rows = rows_of(table)
    is_named = any(cell.tag == "th" for row in rows for cell in row)
    if max((len(row) for row in rows), default=0) < 2:
        return is_named and len(rows) > 2
    if is_named or table.find("caption") is not None:
        return True
    if len(rows) < 2 or next(table.iterdescendants("table"), None) is not None:
        return False
    return all(len(cell.text_content()) <= _MAX_CELL_CHARACTERS for row in rows for cell in row)


def render_table(table: Any) -> str:
    """Return a table as a Markdown pipe table, "" where no cell has text."""
    title, grid = named_grid(table)
    return markdown_table([[title], *grid] if title else grid)


def named_grid(table: Any) -> tuple[str, list[list[str]]]:
    """Return (title, rows) of a table; the first row names the columns.

    Several rows of names are joined as those of a sheet are: `Red lamp / 2001`, `Height (cm)`. A
    cell that spans gives its text once and leaves the places empty that it covers, so that columns
    stay in line and a quotation is found once. The title is a first row of one cell over all.
    """
    grid: list[list[tuple[str, str]]] = []  # own text, and the name that it gives to what it covers
    below: dict[int, tuple[int, str]] = {}
    is_head: list[bool] = []
    title, cells = "", 0
    for row in rows_of(table):
        line: list[tuple[str, str]] = []
        texts = iter([*row, None])
        cell = next(texts)
        while cell is not None or below.get(len(line), (0, ""))[0]:
            left, name = below.get(len(line), (0, ""))
            if left:
                below[len(line)] = left - 1, name
                line.append(("", name))
                continue
            columns, rows = _spans(cell)
            text = cell_text(cell)
            below.update(
                {len(line) + i: (rows - 1, text) for i in range(columns if rows > 1 else 0)}
            )
            line += [(text, text), *[("", text)] * (columns - 1)]
            cells += columns
            cell = next(texts)
        if cells > _MAX_CELLS:
            break
        if any(own for own, _ in line):
            grid.append(line)
            is_named = all(cell.tag == "th" for cell in row)
            is_head.append(is_named or row[0].getparent().getparent().tag == "thead")
    # A row that is one cell over all columns is the title at the top, and parts the rows below.
    wide = [len(line) > 1 and len({name for _, name in line}) == 1 for line in grid]
    if len(grid) > 2 and wide[0] and sum(bool(own) for own, _ in grid[1]) > 1:
        title, grid, is_head, wide = grid[0][0][0], grid[1:], is_head[1:], wide[1:]
    ends = (i for i, head in enumerate(is_head) if not head or (i and wide[i]))
    heads = next(ends, 0)
    names, heads = _names(grid, heads)
    return title, [names, *([own for own, _ in line] for line in grid[heads:])]


def _names(grid: Sequence[Sequence[tuple[str, str]]], heads: int) -> tuple[list[str], int]:
    """Return (names of the columns, how many rows give them).

    Args:
        grid: rows of (text, name that it gives).
        heads: rows of names by the table's own markup, 0 where it says nothing.
    """

    def joined(rows: int) -> list[str]:
        width = max((len(line) for line in grid[:rows]), default=0)
        columns = ([line[i][1] for line in grid[:rows] if i < len(line)] for i in range(width))
        return [" / ".join(dict.fromkeys(filter(None, column))) for column in columns]

    def filled(texts: Sequence[str]) -> list[tuple[int, str]]:
        return [(column, text) for column, text in enumerate(texts) if text]

    if not heads and len(grid) > 2:
        # Groups over the names of the second row, where a cell over both rows gives a name, too.
        groups, texts = [own for own, _ in grid[0]], [own for own, _ in grid[1]]
        for place, (own, name) in enumerate(grid[1][: len(groups)]):
            if not own and name and name == groups[place]:
                groups[place], texts[place] = "", name
        body = [filled([own for own, _ in line]) for line in grid[2:SAMPLE_ROWS]]
        top, rows = filled(groups), [filled(texts), *body]
        layout = find_layout([top, *rows], {}, single_column=False) if top else Layout(0, 0, {})
        if layout.titles + layout.headers == 2 and len(rows[0]) > len(top):
            return joined(2), 2
    for above in dict.fromkeys((max(1, heads - 1), max(1, heads))):
        top = filled(joined(above) if heads else [own for own, _ in grid[0]] if grid else [])
        rows = [filled([own for own, _ in line]) for line in grid[above : above + SAMPLE_ROWS]]
        if not top or not rows:
            break
        layout = find_layout([top, *rows], {}, single_column=False)
        is_unit = len(rows[0]) < len(top) and len({name for _, name in top}) == len(top)
        if (layout.titles, layout.headers) == (0, 2) and (is_unit or above >= heads):
            width = max(layout.names) + 1
            return [layout.names.get(column, "") for column in range(width)], above + 1
    return joined(max(1, heads)), max(1, heads)


def _spans(cell: Any) -> tuple[int, int]:
    """Return (columns, rows) that a cell covers; 0 rows are all below."""
    spans = []
    for name in ("colspan", "rowspan"):
        text = (cell.get(name) or "").strip()
        number = min(int(text), _MAX_SPAN) if text.isdecimal() else 1
        spans.append(number or (_MAX_SPAN if name == "rowspan" else 1))
    return spans[0], spans[1]


def rows_of(table: Any) -> list[list[Any]]:
    """Return the cells of a table's own rows: those of its head first, of its foot last."""
    own = (row for row in table.iter("tr") if next(row.iterancestors("table")) is table)
    ordered = sorted(own, key=lambda row: _SECTIONS.get(row.getparent().tag, 1))
    rows = ([cell for cell in row if cell.tag in {"td", "th"}] for row in ordered)
    return [row for row in rows if row]


def cell_text(cell: Any) -> str:
    """Return what a cell holds on one line; of a cell of signs, what they stand for."""
    pieces: list[str] = []
    for element in cell.iter():
        if isinstance(element.tag, str) and element.tag not in {"script", "style"}:
            if element.tag in BLOCKS or element.tag == "br":
                pieces.append(" ")
            pieces.append(element.text or "")
        if element is not cell:
            pieces.append(element.tail or "")
    text = settle_raised(" ".join("".join(pieces).split()))
    return text or " ".join(filter(None, (image.get("alt") for image in cell.iter("img"))))


def code_text(element: Any) -> str:
    """Return a listing as it stands: blanks kept, each block inside of it on a line."""
    import lxml.etree

    text = element.text or ""
    for event, inner in lxml.etree.iterwalk(element, events=("start", "end")):
        if inner is element:
            continue
        if event == "start":
            is_line = inner.tag in BLOCKS and text and not text.endswith("\n")
            text += "\n" if is_line or inner.tag == "br" else ""
            begin = len(text)
            text += inner.text or ""
        else:
            is_open = not text.endswith("\n") or (len(text) == begin and not len(inner))
            text += "\n" if inner.tag in BLOCKS and is_open else ""
            text += inner.tail or ""
    return settle_raised(re.sub(r"\r\n?", "\n", text).replace("\xa0", " "))
