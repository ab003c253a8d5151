"""Running heads and feet of pages, and the order in which their lines are read."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median_low

from rag_assets.model import Box
from rag_assets.parsing.cleaning import is_unspaced
from rag_assets.parsing.pdf.lines import ANOTHER_PROGRAM, Line, Page, surrounding_box

# Running heads, feet and page numbers: what repeats from page to page beside the text.

# Two pages that share a line prove nothing.
MIN_PAGES = 3
# Heads and feet of the usual templates stand in the outer 4 to 14 % of the page.
_REGION_SHARE = 0.15
# A head keeps its height to within a line on all pages; a row of a table does not.
_MAX_DRIFT_POINTS = 10.0
# Heads of left and right pages differ: a template of one side is hardly ever on the other.
_MAX_OTHER_SIDE_SHARE = 0.1
# Heads that change by chapter or by side keep font and height; most of them occur again.
_SLOT_BUCKET_POINTS = 3.0
_MIN_REPEATED_SHARE = 0.7
# White space between a head and the text, in the size of the head's font.
_MIN_HEAD_GAP_EMS = 0.6

_DIGITS = re.compile(r"\d+")
_ROMAN_PAGE_NUMBER = re.compile(r"[\W_]*[ivxlc]{1,7}[\W_]*", re.IGNORECASE)
# The stamp of a preprint server on the first page's margin.
_STAMP = re.compile(r"arXiv:\s?(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})")

_Seen = dict[int, Line]


def line_template(text: str) -> str:
    """Return `text` with every run of digits (or a roman page number) folded to `#`."""
    if _ROMAN_PAGE_NUMBER.fullmatch(text):
        return "#"
    return _DIGITS.sub("#", text)


def remove_furniture(pages: Sequence[Page], repeated_line_share: float) -> tuple[str, ...]:
    """Take running heads, feet and page numbers out of `pages`, in place.

    A line goes when its template stands at the same height in the top or bottom region (sideways
    lines: anywhere) of at least the given share of the pages, or of the left or the right pages
    while the other side has hardly any (spec 000: threshold 0.6, templates recorded). So do the
    heads that change (by chapter, by side) where the outermost line of so many pages has one font
    and height and most of its templates occur again; and a preprint server's stamp.

    Args:
        pages: all pages of the document.
        repeated_line_share: from 0 to 1.

    Returns:
        The templates that were removed, sorted.
    """
    removed: set[str] = set()
    doomed: list[set[int]] = [set() for _ in pages]
    _mark_stamps(pages, removed, doomed)
    if len(pages) >= MIN_PAGES:
        _mark_templates(pages, repeated_line_share, removed, doomed)
        _mark_changing_heads(pages, repeated_line_share, removed, doomed)
        _mark_turned_heads(pages, removed, doomed)
    for page, ids in zip(pages, doomed, strict=True):
        if ids:
            kept = [[line for line in block if id(line) not in ids] for block in page.blocks]
            page.blocks = [block for block in kept if block]
    return tuple(sorted(removed))


def _mark_templates(
    pages: Sequence[Page], share: float, removed: set[str], doomed: Sequence[set[int]]
) -> None:
    found: dict[tuple[str, str], _Seen] = defaultdict(dict)
    for index, page in enumerate(pages):
        for region, line in _candidates(page):
            if id(line) in doomed[index]:
                continue
            seen = found[region, line_template(line.text)]
            other = seen.get(index)
            if other is None or _is_further_out(region, line, other):
                seen[index] = line
    for (_, template), seen in found.items():
        steady = _at_one_height(seen)
        if _repeats(steady, len(pages), share):
            removed.add(template)
            for index, line in steady.items():
                doomed[index].add(id(line))


def _is_further_out(region: str, line: Line, other: Line) -> bool:
    if region == "bottom":
        return line.box[1] > other.box[1]
    return region == "top" and line.box[1] < other.box[1]


def _candidates(page: Page) -> Iterator[tuple[str, Line]]:
    top = _REGION_SHARE * page.height
    bottom = page.height - top
    for block in page.blocks:
        for line in block:
            if not line.upright:
                yield "side", line
            elif line.box[3] <= top:
                yield "top", line
            elif line.box[1] >= bottom:
                yield "bottom", line


def _at_one_height(seen: _Seen) -> _Seen:
    height = median_low([line.box[1] for line in seen.values()])
    return {
        index: line
        for index, line in seen.items()
        if abs(line.box[1] - height) <= _MAX_DRIFT_POINTS
    }


def _repeats(seen: _Seen, page_count: int, share: float) -> bool:
    if len(seen) < MIN_PAGES:
        return False
    if len(seen) >= share * page_count:
        return True
    right_count, left_count = (page_count + 1) // 2, page_count // 2
    right = sum(index % 2 == 0 for index in seen)
    left = len(seen) - right
    for here, here_count, there, there_count in (
        (right, right_count, left, left_count),
        (left, left_count, right, right_count),
    ):
        if here >= max(MIN_PAGES, share * here_count):
            return there <= _MAX_OTHER_SIDE_SHARE * there_count
    return False


def _mark_changing_heads(
    pages: Sequence[Page], share: float, removed: set[str], doomed: Sequence[set[int]]
) -> None:
    """Mark heads and feet whose text changes, but neither their place nor their font."""
    slots: dict[tuple[str, str, float, int], _Seen] = defaultdict(dict)
    for index, page in enumerate(pages):
        for region, line in _outermost(page, doomed[index]):
            height = round(line.box[1] / _SLOT_BUCKET_POINTS)
            slots[region, line.font, round(line.size, 1), height][index] = line
    for key in sorted(slots):
        region, font, size, height = key
        seen = {**slots.get((region, font, size, height + 1), {}), **slots[key]}
        # The first page of many templates has no head.
        is_wide = len(seen) >= max(MIN_PAGES, share * (len(pages) - 1))
        if not is_wide and not _repeats(seen, len(pages), share):
            continue
        counts = Counter(line_template(line.text) for line in seen.values())
        repeated = sum(count for count in counts.values() if count > 1)
        if repeated < max(MIN_PAGES, _MIN_REPEATED_SHARE * len(seen)):
            continue
        for index, line in seen.items():
            removed.add(line_template(line.text))
            doomed[index].add(id(line))


def _outermost(page: Page, doomed: set[int]) -> Iterator[tuple[str, Line]]:
    """Yield the lines of the outermost rows that white space sets apart from the text."""
    lines = [
        line for block in page.blocks for line in block if line.upright and id(line) not in doomed
    ]
    if not lines:
        return
    first = min(lines, key=lambda line: line.box[1])
    last = max(lines, key=lambda line: line.box[3])
    for region, edge in (("top", first), ("bottom", last)):
        row = [line for line in lines if edge.shares_row(line)]
        rest = [line for line in lines if not edge.shares_row(line)]
        top = min(line.box[1] for line in row)
        bottom = max(line.box[3] for line in row)
        if region == "top":
            inside = bottom <= _REGION_SHARE * page.height
            gap = min((line.box[1] for line in rest), default=page.height) - bottom
        else:
            inside = top >= (1 - _REGION_SHARE) * page.height
            gap = top - max((line.box[3] for line in rest), default=0.0)
        if inside and gap >= _MIN_HEAD_GAP_EMS * edge.size:
            for line in row:
                yield region, line


def _mark_turned_heads(
    pages: Sequence[Page], removed: set[str], doomed: Sequence[set[int]]
) -> None:
    """Mark the heads of pages that are printed sideways: their text is known from the others."""
    known = {template for template in removed if template != "#"}
    for index, page in enumerate(pages):
        for block in page.blocks:
            for line in block:
                if not line.upright and line_template(line.text) in known:
                    doomed[index].add(id(line))


def _mark_stamps(pages: Sequence[Page], removed: set[str], doomed: Sequence[set[int]]) -> None:
    for block in pages[0].blocks if pages else []:
        for line in block:
            if not line.upright and _STAMP.search(line.text):
                removed.add(line_template(line.text))
                doomed[0].add(id(line))


# Lines of a page that text recognition read across its columns, put back into them.

# Two blocks of a column are so many of its usual steps from line to line apart; the last line of a
# paragraph is short, so that on a scan turned by 0.7 degrees its middle is a fifth of a step off.
_MIN_BLOCK_STEP = 1.25
# A line is full that leaves no more room than a long word takes.
_RAGGED_IN_SIZES = 5.0


def read_by_column(
    lines: Sequence[Line], column_of: Callable[[Line], int | None]
) -> list[list[Line]]:
    """Return the lines in blocks: each column from top to bottom, the left one first.

    A line that crosses the columns ends what stands above it and begins a block; what goes on below
    its full lines is of that block. Pieces of one printed line, which recognition gives apart,
    become one again.

    Args:
        lines: of one page, in any order.
        column_of: the number of a line's column, from 0; None where it crosses a gutter.
    """
    blocks: list[list[Line]] = []
    band: dict[int, list[Line]] = {}
    full: Line | None = None
    right = max(line.box[2] for line in lines)
    for line in sorted(lines, key=lambda line: (_middle(line), line.box[0])):
        column = column_of(line)
        if (
            full is not None
            and abs(line.box[0] - full.box[0]) <= line.size
            and line.box[1] - full.box[3] <= line.size
        ):
            blocks[-1].append(line)
        elif column is None:
            blocks += [*_blocks_of(band), [line]]
            band = {}
        else:
            band.setdefault(column, []).append(line)
        full = (
            line if column is None and line.box[2] >= right - _RAGGED_IN_SIZES * line.size else None
        )
    return blocks + _blocks_of(band)


def _blocks_of(band: dict[int, list[Line]]) -> list[list[Line]]:
    blocks: list[list[Line]] = []
    for column in sorted(band):
        rows = _join_rows(band[column])
        steps = [_middle(line) - _middle(before) for before, line in pairwise(rows)]
        usual = sorted(steps)[(len(steps) - 1) // 2] if steps else 0.0
        blocks.append([rows[0]])
        for line, step in zip(rows[1:], steps, strict=True):
            if step > _MIN_BLOCK_STEP * usual:
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


# Reading order of a page: native where it is right, by geometry where the print shows another.

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
    if page.blocks and page.recognised_by not in ("", ANOTHER_PROGRAM):
        page.blocks = read_by_column(
            [line for block in page.blocks for line in block],
            lambda line: _column(line, starts) if len(starts) > 1 else 0,
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
