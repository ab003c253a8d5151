"""Pages whose lines run from top to bottom, the first on the right, as Chinese may be set.

Such a page is turned: its lines become those of a page that runs from left to right, which the
rest of the reader knows, as are those of a page that is printed sideways. The places of what was
found are turned back at the end.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from rag_assets.model import Attachment, Box
from rag_assets.parsing.cleaning import is_unspaced
from rag_assets.parsing.pdf.lines import Line, Page, surrounding_box
from rag_assets.parsing.pdf.paragraphs import Flow

# Fewer characters one below the other are a label or the cells of a table.
_MIN_CHARACTERS = 20
_MIN_SHARE = 0.6
_MIN_COLUMN = 3
# Characters of a column share their left edge and touch or nearly so, in sizes.
_SAME_EDGE_EMS, _MAX_GAP_EMS = 0.35, 0.8


def turn_vertical(page: Page) -> Page:
    """Return a page with vertical lines turned, any other as it is."""
    blocks = [_columns(block) for block in page.blocks]
    columns = [line for block in blocks for line in block if _is_vertical(line)]
    total = sum(len(line.text) for block in blocks for line in block)
    vertical = sum(len(line.text) for line in columns)
    if vertical < _MIN_CHARACTERS or vertical < _MIN_SHARE * total:
        return page
    for block in blocks:
        for line in block:
            left, top, right, bottom = line.box
            line.box = (top, page.width - right, bottom, page.width - left)
            line.upright = True
    lines = [line for block in blocks for line in block]
    steps = [after.box[1] - before.box[1] for before, after in pairwise(lines)]
    if sum(step < 0 for step in steps) > sum(step > 0 for step in steps):
        # The file has the columns from left to right.
        blocks = [[line] for line in sorted(lines, key=lambda line: (line.box[1], line.box[0]))]
    # Pictures and rules have no turned place; text is what a quotation needs.
    return replace(
        page,
        blocks=blocks,
        graphics=[],
        width=page.height,
        height=page.width,
        turn=270,
    )


def turn_back(
    flow: Flow, attachments: Sequence[Attachment], pages: Sequence[Page]
) -> tuple[Flow, tuple[Attachment, ...]]:
    """Return what was found with its places on the pages as they are shown."""
    turned = {page.number: page for page in pages if page.turn}
    if not turned:
        return flow, tuple(attachments)

    def back(number: int | None, box: Box | None) -> Box | None:
        if box is None or number not in turned:
            return box
        page = turned[number]
        x0, y0, x1, y1 = box
        if page.turn == 90:
            return (y0, page.width - x1, y1, page.width - x0)
        return (page.height - y1, x0, page.height - y0, x1)

    blocks = tuple(replace(block, bbox=back(block.page, block.bbox)) for block in flow.blocks)
    lines = tuple(
        replace(line, bbox=back(line.page, line.bbox) or line.bbox) for line in flow.lines
    )
    found = tuple(replace(item, bbox=back(item.page, item.bbox)) for item in attachments)
    return replace(flow, blocks=blocks, lines=lines), found


def _columns(block: Sequence[Line]) -> list[Line]:
    """Return lines whose characters stand one below the other as one line each."""
    runs: list[list[Line]] = []
    for line in block:
        if runs and _is_below(runs[-1][-1], line):
            runs[-1].append(line)
        else:
            runs.append([line])
    return [line for run in runs for line in ([_joined(run)] if len(run) >= _MIN_COLUMN else run)]


def _joined(run: Sequence[Line]) -> Line:
    return replace(
        run[0],
        text="".join([line.text for line in run]),
        printed="".join([line.printed for line in run]),
        box=surrounding_box([line.box for line in run]),
        upright=False,
    )


def _is_below(before: Line, line: Line) -> bool:
    return (
        len(before.text) == len(line.text) == 1
        and (is_unspaced(before.text) or is_unspaced(line.text))
        and abs(before.box[0] - line.box[0]) <= _SAME_EDGE_EMS * line.size
        and abs(line.box[1] - before.box[3]) <= _MAX_GAP_EMS * line.size
    )


def _is_vertical(line: Line) -> bool:
    """Tell whether a line is a column of characters that are not turned with it."""
    left, top, right, bottom = line.box
    return not line.upright and is_unspaced(line.text[0]) and bottom - top > 2 * (right - left)
