"""Where the table of a caption is on its page."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from rag_assets.model import Box
from rag_assets.parsing.pdf.drawn import MAX_RULE_POINTS, SAME_BAR_POINTS
from rag_assets.parsing.pdf.grids import Row, TableArea, cell_text, group_rows
from rag_assets.parsing.pdf.lines import Line, Page, surrounding_box
from rag_assets.parsing.pdf.order import column_bounds

# Where the table of a caption stands: rows of cells with common edges, and ruling lines.

Direction = Literal["below", "above"]

# From the caption to its table: a few lines of notes or white space.
_MAX_FIRST_GAP_POINTS = 40.0
# Between rows without rules around them, in the size of their font.
_MAX_ROW_GAP_EMS = 2.6
# One cell that fills so much of the width with so many characters is running text.
_MIN_PROSE_SHARE, _MIN_PROSE_CHARACTERS = 0.72, 40
# Rules that end within so many points of each other belong to one table.
_EDGE_SLACK_POINTS = 8.0
_MIN_TABULAR_ROWS = 2
_MAX_CAPTION_RULE_POINTS = 12.0
# Rows of one cell that may stand between two rows of several (group headings, wrapped cells).
_MAX_SINGLE_ROWS = 4
_MAX_PROSE_IN_RULES = 0.5
_MAX_HEADER_RULES = 2
# Of the cells of a ruled table without caption so many hold text; pages with more bars are plots.
_MIN_FILLED, _MAX_BARS = 0.5, 100


def find_table(
    caption: Box,
    page: Page,
    lines: Sequence[Line],
    obstacles: Sequence[Box],
    direction: Direction,
) -> TableArea | None:
    """Return the table that stands above or below a caption, None where no rows show.

    Args:
        caption: box of the caption.
        page: with its graphics.
        lines: of the page that may belong to a table.
        obstacles: boxes of the other captions on the page, which no table crosses.
        direction: where to look.
    """
    left, right = _reach(caption, page, direction)
    inside = [
        line
        for line in lines
        if line.upright
        and left <= (line.box[0] + line.box[2]) / 2 <= right
        and _distance(caption, line.box, direction) > -3
    ]
    limit = _limit(caption, obstacles, left, right, direction)
    inside = [line for line in inside if _distance(caption, line.box, direction) < limit]
    rows = group_rows(inside, page.bars)
    if direction == "above":
        rows.reverse()
    matching = _matching_rules(caption, page, left, right, direction, limit)
    taken = _walk(rows, caption, matching, right - left, direction)
    if sum(len(row.cells) > 1 for row in taken) < _MIN_TABULAR_ROWS:
        return None
    first_gap = _distance(caption, taken[0].box, direction)
    taken.sort(key=lambda row: row.box[1])
    box = surrounding_box([row.box for row in taken])
    return TableArea(taken, _rules_in(box, page), page.bars, box, first_gap)


def _rules_in(box: Box, page: Page) -> list[Box]:
    """Return the horizontal rules of a table, in the pieces in which they are drawn."""
    return [
        graphic.box
        for graphic in page.graphics
        if graphic.kind in ("rule", "path")
        and graphic.box[3] - graphic.box[1] <= MAX_RULE_POINTS < graphic.box[2] - graphic.box[0]
        and box[1] - 6 <= graphic.box[1] <= box[3] + 6
        and graphic.box[2] > box[0]
        and graphic.box[0] < box[2]
    ]


def ruled_tables(page: Page, bars: Sequence[Box], lines: Sequence[Line]) -> list[TableArea]:
    """Return the tables of a page that vertical and horizontal rules show without a caption.

    Args:
        page: with its graphics.
        bars: vertical rules that belong neither to another table nor to a figure.
        lines: upright ones, likewise.
    """
    groups: list[list[Box]] = []
    rules = _rules_within(page, 0.0, page.width) if len(bars) > 1 else []
    for bar in bars[:_MAX_BARS]:
        near = [group for group in groups if any(_are_tied(bar, other, rules) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([bar, *(other for group in near for other in group)])
    found = []
    for group in groups:
        box = surrounding_box(group)
        inside = [
            line
            for line in lines
            if box[0] < (line.box[0] + line.box[2]) / 2 < box[2]
            and box[1] < (line.box[1] + line.box[3]) / 2 < box[3]
        ]
        rows = group_rows(inside, page.bars)
        cells = sum(len(row.cells) for row in rows)
        prose = sum(is_prose(row, box[2] - box[0]) for row in rows)
        # Between the lines of a plot is hardly a word, in a framed abstract nothing else.
        if (
            len(rows) >= _MIN_TABULAR_ROWS
            and cells >= _MIN_FILLED * len(rows) * (len(group) - 1)
            and prose <= _MAX_PROSE_IN_RULES * len(rows)
        ):
            text_box = surrounding_box([row.box for row in rows])
            found.append(TableArea(rows, _rules_in(box, page), sorted(group), text_box, 0.0))
    return found


def _are_tied(bar: Box, other: Box, rules: Sequence[Box]) -> bool:
    """Tell whether a horizontal rule runs from one vertical rule to another at their height."""
    left, right = sorted(((bar[0] + bar[2]) / 2, (other[0] + other[2]) / 2))
    top, bottom = max(bar[1], other[1]), min(bar[3], other[3])
    return top < bottom and any(
        rule[0] <= left + SAME_BAR_POINTS
        and right - SAME_BAR_POINTS <= rule[2]
        and top - _EDGE_SLACK_POINTS <= rule[1] <= bottom + _EDGE_SLACK_POINTS
        for rule in rules
    )


def ruled_box(caption: Box, page: Page) -> Box | None:
    """Return the box between a caption and the next rule but one below it, as wide as they are.

    Algorithms and listings are set so: rule, caption, rule, lines, rule.
    """
    left, right = _reach(caption, page, "below")
    rules = _matching_rules(caption, page, left, right, "below", page.height)
    if len(rules) < 2 or rules[0] > _MAX_CAPTION_RULE_POINTS:
        return None
    return (left, caption[3] + rules[0], right, caption[3] + rules[1])


def _distance(caption: Box, box: Box, direction: Direction) -> float:
    """Return how far `box` lies from the caption, in points; negative where they overlap."""
    return box[1] - caption[3] if direction == "below" else caption[1] - box[3]


def _limit(
    caption: Box, obstacles: Sequence[Box], left: float, right: float, direction: Direction
) -> float:
    """Return how far a table may reach: to the next caption in its way."""
    distances = [
        _distance(caption, box, direction)
        for box in obstacles
        if min(box[2], right) - max(box[0], left) > 5
    ]
    return min((distance for distance in distances if distance > -3), default=1e9)


def _reach(caption: Box, page: Page, direction: Direction) -> tuple[float, float]:
    """Return the left and right bound of the table: of its columns, or of the rules beside it."""
    left, right = column_bounds(page, caption[0], caption[2])
    left, right = left - _EDGE_SLACK_POINTS, right + _EDGE_SLACK_POINTS
    near = [
        rule
        for rule in _rules_within(page, caption[0] - 400, caption[2] + 400)
        if -3 <= _distance(caption, rule, direction) <= _MAX_FIRST_GAP_POINTS
        and min(rule[2], caption[2]) - max(rule[0], caption[0]) > 0.3 * (caption[2] - caption[0])
    ]
    if near:
        nearest = min(near, key=lambda rule: _distance(caption, rule, direction))
        return min(left, nearest[0] - 3), max(right, nearest[2] + 3)
    return left, right


def _rules_within(page: Page, left: float, right: float) -> list[Box]:
    """Return the horizontal rules between two edges, pieces on one height joined."""
    joined: list[Box] = []
    for box in page.rules:
        if box[2] <= left or box[0] >= right:
            continue
        if joined and abs(joined[-1][1] - box[1]) < 1.5 and box[0] <= joined[-1][2] + 12:
            before = joined[-1]
            joined[-1] = (before[0], before[1], max(before[2], box[2]), max(before[3], box[3]))
        else:
            joined.append(box)
    return joined


def _matching_rules(
    caption: Box, page: Page, left: float, right: float, direction: Direction, limit: float
) -> list[float]:
    """Return the distances of the rules that have the width of the first one, ascending."""
    near = sorted(
        (
            (_distance(caption, rule, direction), rule)
            for rule in _rules_within(page, left, right)
            if rule[2] - rule[0] > 0.3 * min(right - left, max(100.0, caption[2] - caption[0]))
        ),
        key=lambda item: item[0],
    )
    near = [item for item in near if -3 <= item[0] < limit]
    if not near or near[0][0] > _MAX_FIRST_GAP_POINTS + 20:
        return []
    first = near[0][1]
    return [
        distance
        for distance, rule in near
        if abs(rule[0] - first[0]) <= _EDGE_SLACK_POINTS
        and abs(rule[2] - first[2]) <= _EDGE_SLACK_POINTS
    ]


def _walk(
    rows: Sequence[Row],
    caption: Box,
    rules: Sequence[float],
    width: float,
    direction: Direction,
) -> list[Row]:
    """Return the rows of the table, from the caption on."""
    ruled_end = _ruled_end(rows, caption, rules, width, direction)
    taken: list[Row] = []
    pending: list[Row] = []
    reached = 0.0
    for row in rows:
        distance = _distance(caption, row.box, direction)
        far = distance + (row.box[3] - row.box[1])
        if far <= ruled_end + 4:
            taken += [*pending, row]
            pending = []
            reached = far
            continue
        gap = distance - reached
        limit = _MAX_ROW_GAP_EMS * row.size if taken or pending else _MAX_FIRST_GAP_POINTS
        # Below its last rule is no row, unless the only rules are those of its header: such a table
        # goes on over pages.
        is_closed = ruled_end > 0 and direction == "below" and len(rules) > _MAX_HEADER_RULES
        if gap > limit or is_closed:
            break
        if len(row.cells) > 1 and not _is_two_columns_of_prose(row):
            taken += [*pending, row]
            pending = []
        elif is_prose(row, width) or len(pending) >= _MAX_SINGLE_ROWS:
            break
        else:
            pending.append(row)
        reached = far
    return taken


def _ruled_end(
    rows: Sequence[Row],
    caption: Box,
    rules: Sequence[float],
    width: float,
    direction: Direction,
) -> float:
    """Return the distance of the last rule that encloses rows of a table, 0 without."""
    end = 0.0
    for before, rule in pairwise(rules):
        between = [
            row for row in rows if before - 2 <= _distance(caption, row.box, direction) < rule - 2
        ]
        prose = sum(is_prose(row, width) for row in between)
        if between and prose > _MAX_PROSE_IN_RULES * len(between) and len(between) > 1:
            break
        end = rule
    return end


def is_prose(row: Row, width: float) -> bool:
    """Tell whether a row is a line of running text: one cell that fills the width."""
    if len(row.cells) > 1:
        return _is_two_columns_of_prose(row)
    text = cell_text(row.cells[0])
    filled = row.box[2] - row.box[0]
    return len(text) >= _MIN_PROSE_CHARACTERS and filled >= _MIN_PROSE_SHARE * width


def _is_two_columns_of_prose(row: Row) -> bool:
    return len(row.cells) == 2 and all(
        len(cell_text(cell)) >= _MIN_PROSE_CHARACTERS for cell in row.cells
    )
