"""Reading order of a page: native where it is right, by geometry where the print shows another."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rag_assets.model import Box
from rag_assets.parsing.cleaning import is_unspaced
from rag_assets.parsing.pdf.lines import Line, Page, surrounding_box
from rag_assets.parsing.pdf.recognised_columns import read_by_column

# Lines that show a column: shorter ones are cells, labels, ends of paragraphs.
_MIN_COLUMN_CHARACTERS, _MIN_COLUMN_EMS = 20, 12.0
# Edges are compared in buckets of so many points, the next bucket included.
_EDGE_BUCKET = 4.0
_MIN_EDGE_LINES, _MIN_EDGE_SHARE = 5, 0.12
# Columns closer than this share of the page's width are indents of one.
_MIN_COLUMN_SHARE = 0.2
# Blocks with fewer characters (labels of figures, cells) say nothing of the order of the text.
_MIN_BODY_CHARACTERS = 25
# An order by geometry must save so many jumps: below, the native order knows better.
_MIN_SAVED_JUMPS = 2
# Steps between columns are right once a column; alternating lines make dozens.
_MIN_SAVED_CROSSINGS = 6
# Boxes of neighbouring blocks overlap by up to half a line.
_SLACK_POINTS = 4.0
# Without a bound, a page of thousands of scattered blocks would take seconds.
_MAX_BLOCKS = 400
_MAX_DEPTH = 40

_Block = list[Line]


def order_page(page: Page) -> bool:
    """Put the blocks of a page in reading order, in place.

    The order in which a file draws its text is nearly always that of reading. It is replaced by
    recursive cuts of the page along its white space (XY-cut; Nagy and Seth 1984) where it jumps
    between columns, or upwards in one, at least twice more often than theirs. The lines of a
    recognised page come in no order that could be trusted: they are read column by column.

    Returns:
        Whether the order was changed.
    """
    lines = [line for block in page.blocks for line in block if line.upright and _is_long(line)]
    starts = page.columns = _column_starts(lines, page.width)
    page.text_bounds = _text_bounds(lines, page.width)
    changed = False
    if len(starts) > 1 and page.is_recognised:
        page.blocks = read_by_column(
            [line for block in page.blocks for line in block],
            lambda line: _column(line, starts),
        )
        return True
    if len(starts) > 1:
        parted = [part for block in page.blocks for part in _split_at(block, starts)]
        changed = len(parted) > len(page.blocks)
        page.blocks = parted
    if not 1 < len(page.blocks) <= _MAX_BLOCKS:
        return changed
    boxes = [surrounding_box([line.box for line in block]) for block in page.blocks]
    native = list(range(len(boxes)))
    telling = [
        block[0].upright and sum(len(line.text) for line in block) >= _MIN_BODY_CHARACTERS
        for block in page.blocks
    ]
    jumps, crossings = _count_jumps(native, boxes, telling)
    if jumps < _MIN_SAVED_JUMPS and crossings < _MIN_SAVED_CROSSINGS:
        return changed
    ordered = _cut(native, boxes, 0)
    jumps_left, crossings_left = _count_jumps(ordered, boxes, telling)
    saves_crossings = crossings - crossings_left >= _MIN_SAVED_CROSSINGS and jumps_left <= jumps
    if jumps - jumps_left < _MIN_SAVED_JUMPS and not saves_crossings:
        return changed
    page.blocks = [page.blocks[index] for index in ordered]
    return True


def _column_starts(lines: Sequence[Line], width: float) -> list[float]:
    """Return the left edges of text columns, from left to right; [] where none shows."""
    counts = Counter(int(line.box[0] / _EDGE_BUCKET) for line in lines)
    enough = max(_MIN_EDGE_LINES, _MIN_EDGE_SHARE * len(lines))
    starts: list[float] = []
    for bucket in sorted(counts):
        if counts[bucket] + counts[bucket + 1] < enough:
            continue
        start = bucket * _EDGE_BUCKET
        if not starts or start - starts[-1] > _MIN_COLUMN_SHARE * width:
            starts.append(start)
    return [
        start
        for number, start in enumerate(starts)
        if number == 0 or _is_gutter(start, starts[number - 1], lines)
    ]


def _is_long(line: Line) -> bool:
    wide = line.box[2] - line.box[0] >= _MIN_COLUMN_EMS * line.size
    return wide and (len(line.text) >= _MIN_COLUMN_CHARACTERS or is_unspaced(line.text[-1]))


def _text_bounds(lines: Sequence[Line], width: float) -> tuple[float, float]:
    """Return the left and right bound of long lines, in points."""
    if not lines:
        return 0.0, width
    ends = sorted(line.box[2] for line in lines)
    # One line in twenty may stick out.
    return min(line.box[0] for line in lines), ends[int(0.95 * (len(ends) - 1))]


def column_bounds(page: Page, left: float, right: float) -> tuple[float, float]:
    """Return the bounds of the column that holds what lies from `left` to `right`.

    What crosses a gutter, or a page in one column, has the bounds of all text.

    Args:
        page: put in order by `order_page`.
        left: in points; `right` likewise.
    """
    first, last = page.text_bounds
    starts = page.columns
    for number, start in enumerate(starts if len(starts) > 1 else []):
        end = starts[number + 1] if number + 1 < len(starts) else last
        if left >= start - 6 and right <= end + 3:
            return start, min(end - _EDGE_BUCKET, last + 1)
    return min(first, left), max(last, right)


def _is_gutter(start: float, before: float, lines: Sequence[Line]) -> bool:
    """Tell whether most lines of the column that starts at `before` end left of `start`."""
    inside = [line for line in lines if before - _SLACK_POINTS <= line.box[0] < start - 1]
    ending = sum(line.box[2] <= start + 1 for line in inside)
    return ending >= _MIN_EDGE_LINES and 2 * ending >= len(inside)


def _split_at(block: _Block, starts: Sequence[float]) -> list[_Block]:
    """Split a block whose lines jump between columns that stand side by side."""
    parts: list[_Block] = [[block[0]]]
    for line in block[1:]:
        before = parts[-1][-1]
        side, side_before = _column(line, starts), _column(before, starts)
        is_jump = side != side_before and side is not None and side_before is not None
        if is_jump and _is_long(line) and _is_long(before):
            parts.append([line])
        else:
            parts[-1].append(line)
    return parts


def _column(line: Line, starts: Sequence[float]) -> int | None:
    """Return the number of the column that holds a line, None where it crosses a gutter."""
    column = None
    for number, start in enumerate(starts):
        if line.box[0] >= start - _SLACK_POINTS:
            column = number
    if column is None:
        return None
    crosses = column + 1 < len(starts) and line.box[2] > starts[column + 1] + _SLACK_POINTS
    return None if crosses else column


def _count_jumps(
    order: Sequence[int], boxes: Sequence[Box], telling: Sequence[bool]
) -> tuple[int, int]:
    """Count the steps that no reader takes, and those between columns.

    The first go up within a column, or to one on the left beside what was read. The second are
    few on a page that is read column by column, many where its lines alternate.
    """
    seen = [boxes[index] for index in order if telling[index]]
    jumps = crossings = 0
    for before, after in pairwise(seen):
        overlap = min(before[2], after[2]) - max(before[0], after[0])
        if overlap > _SLACK_POINTS:
            jumps += after[3] < before[1] + _SLACK_POINTS
            continue
        crossings += 1
        if after[2] <= before[0] + _SLACK_POINTS:
            # Leftwards is right only below everything that was read beside it.
            jumps += after[1] < before[3] - _SLACK_POINTS
        elif after[0] >= before[2] - _SLACK_POINTS:
            # Rightwards and down: the column was left before its end.
            jumps += after[1] > before[3] + _SLACK_POINTS
    return jumps, crossings


def _cut(indices: Sequence[int], boxes: Sequence[Box], depth: int) -> list[int]:
    """Order blocks by cutting their area along its widest white bands, columns before rows."""
    if len(indices) < 2 or depth > _MAX_DEPTH:
        return list(indices)
    for parts in (_columns(indices, boxes), _rows(indices, boxes)):
        if len(parts) > 1:
            return [index for part in parts for index in _cut(part, boxes, depth + 1)]
    return sorted(indices, key=lambda index: (boxes[index][1], boxes[index][0]))


def _columns(indices: Sequence[int], boxes: Sequence[Box]) -> list[list[int]]:
    return _bands(indices, boxes, 0)


def _rows(indices: Sequence[int], boxes: Sequence[Box]) -> list[list[int]]:
    """Cut along rows of white: first around what spans the columns, else everywhere."""
    left = min(boxes[index][0] for index in indices)
    right = max(boxes[index][2] for index in indices)
    middle = (left + right) / 2
    bands = _bands(indices, boxes, 1)
    if len(bands) < 2:
        return bands
    merged: list[list[int]] = []
    spanning_before = True
    for band in bands:
        spanning = any(
            boxes[index][0] < middle - _SLACK_POINTS and boxes[index][2] > middle + _SLACK_POINTS
            for index in band
        )
        if merged and not spanning and not spanning_before:
            merged[-1] += band
        else:
            merged.append(band)
        spanning_before = spanning
    return merged


def _bands(indices: Iterable[int], boxes: Sequence[Box], axis: int) -> list[list[int]]:
    """Return the groups into which white bands across `axis` (0: columns, 1: rows) part blocks."""
    ordered = sorted(indices, key=lambda index: (boxes[index][axis], index))
    groups = [[ordered[0]]]
    reach = boxes[ordered[0]][axis + 2]
    for index in ordered[1:]:
        if boxes[index][axis] >= reach - _SLACK_POINTS / 2:
            groups.append([])
        groups[-1].append(index)
        reach = max(reach, boxes[index][axis + 2])
    return [sorted(group) for group in groups]
