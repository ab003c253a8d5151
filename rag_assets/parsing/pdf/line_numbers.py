"""Numbers in the margin that count the lines of a manuscript."""

import re
from collections.abc import Sequence
from itertools import pairwise

from rag_assets.parsing.pdf.lines import Line, Page

TEMPLATE = "# (line numbers)"

_NUMBER = re.compile(r"\d{1,4}")
# Reviewers' numbers count every line or every fifth; fewer on a page are cells of a table.
_MIN_NUMBERS = 5
_STEPS = (1, 5)
_MIN_STEADY_SHARE = 0.8
_SAME_EDGE_POINTS = 12.0
# Formulas and two columns make some more rows than lines; an entry of a list has two or three.
_MAX_ROWS_A_NUMBER = 1.5


def remove_line_numbers(pages: Sequence[Page]) -> tuple[str, ...]:
    """Take line numbers out of the margins of `pages`, in place.

    On a page they stand outside of the text, below each other, and ascend by one or by five.
    Pages with little text have few: there the edge counts that the other pages have shown.

    Returns:
        The template that was removed, empty where there are none.
    """
    margins = [(page, *_margins(page)) for page in pages]
    edges = [
        edge
        for page, *sides in margins
        for side in sides
        if (edge := _edge_of_numbers(side)) is not None and _counts_rows(page, side)
    ]
    if not edges:
        return ()
    for page, *sides in margins:
        doomed = {
            id(line)
            for side in sides
            for line in side
            if any(abs(line.box[2] - edge) <= _SAME_EDGE_POINTS for edge in edges)
        }
        if doomed:
            kept = [[line for line in block if id(line) not in doomed] for block in page.blocks]
            page.blocks = [block for block in kept if block]
    return (TEMPLATE,)


def _margins(page: Page) -> tuple[list[Line], list[Line]]:
    """Return the numbers that stand left and right of a page's text, from the top."""
    numbers: list[Line] = []
    left, right = page.width, 0.0
    for block in page.blocks:
        for line in block:
            if len(line.text) <= 4 and _NUMBER.fullmatch(line.text):
                numbers.append(line)
            elif len(line.text) > 4 and line.upright:
                left, right = min(left, line.box[0]), max(right, line.box[2])
    numbers.sort(key=lambda line: line.box[1])
    return (
        [line for line in numbers if line.box[2] <= left + 1],
        [line for line in numbers if line.box[0] >= right - 1],
    )


def _counts_rows(page: Page, numbers: Sequence[Line]) -> bool:
    """Tell whether the numbers count rows; those of a list of references count entries."""
    first, last = numbers[0], numbers[-1]
    middles = sorted(
        (line.box[1] + line.box[3]) / 2
        for block in page.blocks
        for line in block
        if len(line.text) > 4
        and line.upright
        and first.box[1] <= (line.box[1] + line.box[3]) / 2 <= last.box[3]
    )
    rows = 1 + sum(after - before > first.size / 2 for before, after in pairwise(middles))
    counted = int(last.text) - int(first.text) + 1
    return rows <= _MAX_ROWS_A_NUMBER * counted


def _edge_of_numbers(lines: Sequence[Line]) -> float | None:
    """Return the right edge that line numbers share, None where `lines` are none."""
    if len(lines) < _MIN_NUMBERS:
        return None
    steps = [int(after.text) - int(line.text) for line, after in pairwise(lines)]
    edges = [line.box[2] for line in lines]
    if max(edges) - min(edges) > _SAME_EDGE_POINTS:
        return None
    if max(steps.count(step) for step in _STEPS) < _MIN_STEADY_SHARE * len(steps):
        return None
    return max(edges)
