"""Struck text of a page: the characters that a thin line is drawn through.

A page has no struck text as such. Programs draw a line or a low rectangle from the left edge of the
first struck character to the right edge of the last one, and so does the note `StrikeOut`.
"""

from collections.abc import Iterator, Sequence
from typing import Any  # Any: PyMuPDF's dictionaries

from rag_assets.model import Box
from rag_assets.parsing.pdf.drawn import (
    VECTOR_BLOCK,
    WHITE,
    DrawnPage,
    Span,
    is_same_colour,
    middle_of,
    paint_of,
)

# In sizes of the font: how thick the line may be, between which heights above the base line it is
# drawn, and how far from the edges of characters it may begin and end. Fraction bars, rules of
# tables and underlines are elsewhere; grid lines of plots reach further. On 109 papers nothing is
# found, and 69 pages have a rule somewhere in the middle of a line.
_MAX_THICKNESS = 0.2
_HEIGHTS = (0.12, 0.55)
_MAX_OFFSET = 0.35
_MIN_RULE_POINTS = 3.0

_Line = dict[str, Any]


def find_struck(lines: Sequence[_Line], drawn: DrawnPage) -> Iterator[tuple[Span, int]]:
    """Yield the struck characters of lines: the span, and the place in its text."""
    import numpy as np

    rules = [block for block in drawn.blocks if _is_rule(block)]
    if not rules or not lines:
        return
    middles = np.array([middle_of(rule) for rule in rules])
    boxes = np.array([line["bbox"] for line in lines])[:, None]
    held = ((boxes[..., :2] < middles) & (middles < boxes[..., 2:])).all(axis=2)
    near = [
        (lines[row], rules[number])
        for row, number in np.argwhere(held).tolist()
        if _is_within(lines[row], rules[number])
    ]
    if near:
        characters = drawn.characters([span for line, _ in near for span in line["spans"]])
        for line, rule in near:
            yield from _crossed(line, rule, characters)


def _is_rule(block: Sequence[Any]) -> bool:
    x0, y0, x1, y1, _, _, kind = block
    wide, high = x1 - x0, y1 - y0
    return bool(kind == VECTOR_BLOCK and min(wide, high) < _MIN_RULE_POINTS <= max(wide, high))


def _is_within(line: _Line, rule: Sequence[Any]) -> bool:
    """Tell whether a rule that is seen may be drawn through a part of a line, and not beyond it."""
    if is_same_colour(paint_of(rule)[0], WHITE):
        return False
    left, top, right, bottom = _levelled(rule, line)
    first, _, last, _ = _levelled(line["bbox"], line)
    for span in line["spans"]:
        start, _, end, _ = _levelled(span["bbox"], line)
        reach = _MAX_OFFSET * span["size"]
        if (
            bottom - top < _MAX_THICKNESS * span["size"]
            and first - reach < left < end
            and start < right < last + reach
            and _is_through(line, span["origin"], span["size"], (top + bottom) / 2)
        ):
            return True
    return False


def _crossed(
    line: _Line, rule: Sequence[Any], characters: dict[int, list[dict[str, Any]]]
) -> list[tuple[Span, int]]:
    """Return the characters of a line that a rule crosses: none where it fits to no word."""
    left, top, right, bottom = _levelled(rule, line)
    crossed = []
    for span in line["spans"]:
        for place, character in enumerate(characters[id(span)]):
            start, _, end, _ = _levelled(character["bbox"], line)
            if not character["c"].isspace() and left < (start + end) / 2 < right:
                crossed.append((start, end, character["origin"], span, place))
    if not crossed:
        return []
    size = max(span["size"] for *_, span, _ in crossed)
    reach = _MAX_OFFSET * size
    is_fitting = abs(crossed[0][0] - left) < reach and abs(crossed[-1][1] - right) < reach
    # The rule of a fraction passes by what is above it and what is below it.
    if not is_fitting or not all(
        _is_through(line, origin, size, (top + bottom) / 2)
        for _, _, origin, span, _ in crossed
        if span["size"] == size
    ):
        return []
    return [(span, place) for *_, span, place in crossed]


def _is_through(line: _Line, origin: tuple[float, float], size: float, height: float) -> bool:
    lowest, highest = (share * size for share in _HEIGHTS)
    return lowest < _levelled(origin * 2, line)[1] - height < highest


def _levelled(box: Sequence[Any], line: _Line) -> Box:
    """Return a box as if the text of a line ran to the right."""
    right, down = line["dir"]
    x0, y0, x1, y1 = box[:4]
    left, end = sorted((x0 * right + y0 * down, x1 * right + y1 * down))
    top, bottom = sorted((y0 * right - x0 * down, y1 * right - x1 * down))
    return left, top, end, bottom
