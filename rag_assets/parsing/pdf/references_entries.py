"""Where the entries of a list of references begin: by number, by label, by indent, by space."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.pdf.lines import Line

_BRACKET = re.compile(r"[\[［【〔]\s?(\d{1,4})\s?[\]］】〕]")
_DOT = re.compile(r"(\d{1,3})\s?[.)．、](?!\d)")
_PAREN = re.compile(r"[(（](\d{1,3})[)）]")
_BARE = re.compile(r"(\d{1,3})(?=\s+[^\W\d_]|\s+[“\"‘'«]|\s*$|[A-ZÀ-Þ][a-zà-ÿ]+)")
_NUMBERED = (_BRACKET, _DOT, _PAREN, _BARE)
_LABEL = re.compile(r"\[[^\W_][\w+*’'’,.& -]{1,40}\]")
_MARKED = re.compile(
    rf"\W?(?:{_BRACKET.pattern}|{_DOT.pattern}|{_PAREN.pattern}|\[[A-Z][\w+]{{1,12}}\])"
)
_FIRST = re.compile(r"\W?(?:[\[［]\s?1\s?[\]］]|1\s?[.)．、](?!\d)|[(（]1[)）])")
_LONE_MARK = re.compile(r"[\[(（［【]?\d{1,3}[\])）］】.．、]?\.?")
_MAX_MARK_DISTANCE = 40.0
# Numbers may be lost in print or reading; more in a row are not.
_MAX_LOST = 3
# Of a list of references at least every twelfth row begins an entry.
_MIN_START_SHARE = 1 / 12
# Rows of one edge differ by hinting and by the width of their numbers (`9.` and `10.`).
_EDGE_POINTS, _NUMBER_EDGE_POINTS = 2.5, 14.0
_MIN_INDENT_POINTS, _MAX_INDENT_POINTS = 3.5, 60.0
# In a list with hanging indents so many rows are set in, at least.
_MIN_INDENTED_SHARE = 0.12
# Entries stand apart by more than lines do.
_GAP_RATIO = 1.2
_MIN_GAP_STARTS = 2
# Wider space stands between sentences' ends and names: else it is that of sub- and superscripts.
_MIN_GAP_PRECISION = 0.7
# A row that ends so far before the column's end is the last of its entry.
_SHORT_ROW_SHARE = 0.93
_TINY_RATIO = 0.65
# Rows behind a full stop or a short row are set in so much oftener where entries are indented.
_PLAIN_DIFFERENCE = 0.3
_DASHES = "-–—"


@dataclass(slots=True)
class Row:
    """Lines of one page that share a base line, from left to right.

    Args:
        column: number of the column within the list, from 0.
        indent: distance from the column's left edge in points.
        column_end: right edge of the column's longest row.
    """

    page: int
    lines: list[Line]
    text: str
    left: float
    right: float
    top: float
    bottom: float
    column: int = 0
    indent: float = 0.0
    column_end: float = 0.0


def make_rows(pieces: Sequence[tuple[int, Sequence[Line]]]) -> list[Row]:
    """Return the rows of (page, lines), with column and indent.

    Args:
        pieces: in reading order.
    """
    sizes = Counter(round(line.size, 1) for _, lines in pieces for line in lines)
    usual = sizes.most_common(1)[0][0] if sizes else 0.0
    rows: list[Row] = []
    for page, lines in pieces:
        for line in lines:
            last = rows[-1] if rows else None
            if last is not None and last.page == page and _is_beside(last, line):
                last.lines.append(line)
            else:
                rows.append(Row(page, [line], "", 0.0, 0.0, 0.0, 0.0))
    rows = _with_marks_attached(rows)
    for row in rows:
        _measure(row, usual)
    _set_columns(rows)
    return rows


def _with_marks_attached(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with numbers that the file keeps apart put before the text beside them."""
    marks = [row for row in rows if _LONE_MARK.fullmatch(row.lines[0].text) and len(row.lines) == 1]
    if not marks:
        return list(rows)
    lone = {id(row) for row in marks}
    texts = [row for row in rows if id(row) not in lone]
    attached: set[int] = set()
    for mark in marks:
        line = mark.lines[0]
        beside = [
            row
            for row in texts
            if row.page == mark.page
            and row.lines[0].shares_row(line)
            and -1 <= row.lines[0].box[0] - line.box[2] <= _MAX_MARK_DISTANCE
        ]
        if beside:
            host = min(beside, key=lambda row: row.lines[0].box[0])
            host.lines.insert(0, line)
            attached.add(id(mark))
    return [row for row in rows if id(row) not in attached]


def _is_beside(row: Row, line: Line) -> bool:
    last = row.lines[-1]
    height = max(last.size, line.size)
    return last.shares_row(line) and -3 * height <= line.box[0] - last.box[2] <= 6 * height


def _measure(row: Row, usual: float) -> None:
    main = [line for line in row.lines if line.size >= _TINY_RATIO * usual] or row.lines
    main = sorted(main, key=lambda line: line.box[0])
    row.text = " ".join([line.text for line in main])
    row.left = min(line.box[0] for line in main)
    row.right = max(line.box[2] for line in main)
    row.top = min(line.box[1] for line in main)
    row.bottom = max(line.box[3] for line in main)


def _set_columns(rows: Sequence[Row]) -> None:
    column = 0
    for before, row in pairwise(rows):
        moves_up = row.top < before.top - (before.bottom - before.top)
        moves_over = row.left > before.right
        if row.page != before.page or moves_up or moves_over:
            column += 1
        row.column = column
    columns = [[row for row in rows if row.column == number] for number in range(column + 1)]
    edges = [_left_edges(members) for members in columns]
    shared = [edge for edge, _ in edges]
    for members, (common, lowest) in zip(columns, edges, strict=True):
        # Where a column holds but one entry, its first row alone stands at the edge.
        is_alone = common - lowest > _EDGE_POINTS and any(
            abs(other - lowest) <= _EDGE_POINTS for other in shared
        )
        edge = lowest if is_alone else common
        end = max(row.right for row in members)
        for row in members:
            row.indent, row.column_end = row.left - edge, end


def _left_edges(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the leftmost edge that two rows share, and the leftmost of all."""
    lefts = sorted(row.left for row in rows)
    for first, second in pairwise(lefts):
        if second - first <= _EDGE_POINTS:
            return first, lefts[0]
    return lefts[0], lefts[0]


def is_marked(text: str, first: bool = False) -> bool:
    """Tell whether a text begins like a numbered or labelled entry.

    Args:
        first: only number 1 counts.
    """
    return (_FIRST if first else _MARKED).match(text) is not None


def entry_starts(rows: Sequence[Row]) -> list[int]:
    """Return the indices of the rows that begin an entry, ascending."""
    if not rows:
        return []
    best: list[int] = []
    for mark in _NUMBERED:
        starts = _numbered_starts(rows, mark)
        if len(starts) > len(best):
            best = starts
    if _is_enough(best, rows):
        return best
    labels = [index for index, row in enumerate(rows) if _LABEL.match(row.text)]
    if _is_enough(labels, rows) and labels[0] <= 2:
        return labels
    return _unnumbered_starts(rows)


def _is_enough(starts: Sequence[int], rows: Sequence[Row]) -> bool:
    return len(starts) >= max(2, _MIN_START_SHARE * len(rows)) and starts[0] <= max(
        3, len(rows) // 4
    )


def _numbered_starts(rows: Sequence[Row], mark: re.Pattern[str]) -> list[int]:
    """Return the rows that continue the count 1, 2, 3 …; columns may come in the wrong order."""
    starts: list[int] = []
    seen: set[int] = set()
    last = 0
    edges: list[float] = []
    for index, row in enumerate(rows):
        match = mark.match(row.text)
        if match is None:
            continue
        number = int(match[1])
        begins_column = index == 0 or rows[index - 1].column != row.column
        follows = last < number <= last + _MAX_LOST
        is_jump = begins_column and number not in seen and bool(starts)
        is_restart = number == 1 and last > 2 and mark is not _BARE
        if not (follows or is_jump or is_restart or (not starts and number <= _MAX_LOST)):
            continue
        if edges and not is_restart and row.indent - median(edges) > _NUMBER_EDGE_POINTS:
            continue
        if number != last + 1 and not is_restart and _has_next(rows, index, mark, last + 1):
            continue
        starts.append(index)
        edges.append(row.indent)
        seen.add(number)
        last = number
    return starts


def _has_next(rows: Sequence[Row], index: int, mark: re.Pattern[str], wanted: int) -> bool:
    """Tell whether the number that is due comes soon after `index`."""
    for row in rows[index + 1 : index + 13]:
        match = mark.match(row.text)
        if match is not None and int(match[1]) == wanted:
            return True
    return False


def _unnumbered_starts(rows: Sequence[Row]) -> list[int]:
    hanging = _hanging_starts(rows)
    if hanging:
        return hanging
    spaced = _spaced_starts(rows)
    if spaced:
        return spaced
    return [
        index
        for index, row in enumerate(rows)
        if index == 0 or (_ends_entry(rows, index - 1) and _may_start(row.text))
    ]


def _hanging_starts(rows: Sequence[Row]) -> list[int]:
    """Return the rows at the edge where the others are set in, or those set in where few are."""
    indented = [row for row in rows if _MIN_INDENT_POINTS <= row.indent <= _MAX_INDENT_POINTS]
    if len(indented) < _MIN_INDENTED_SHARE * len(rows):
        return []
    after_end = [rows[index] for index in range(1, len(rows)) if _ends_entry(rows, index - 1)]
    others = [rows[index] for index in range(1, len(rows)) if not _ends_entry(rows, index - 1)]
    if _indented_share(after_end) > _indented_share(others) + _PLAIN_DIFFERENCE:
        return [
            index
            for index, row in enumerate(rows)
            if row.indent >= _MIN_INDENT_POINTS or index == 0
        ]
    return [
        index
        for index, row in enumerate(rows)
        if row.indent < _MIN_INDENT_POINTS
        and (index == 0 or _may_start(row.text) or _ends_entry(rows, index - 1))
        and row.text[0] not in _DASHES
    ]


def _indented_share(rows: Sequence[Row]) -> float:
    return sum(row.indent >= _MIN_INDENT_POINTS for row in rows) / max(1, len(rows))


def _spaced_starts(rows: Sequence[Row]) -> list[int]:
    gaps = [
        row.top - before.top
        for before, row in pairwise(rows)
        if row.column == before.column and row.top > before.top
    ]
    if not gaps:
        return []
    leading = sorted(gaps)[len(gaps) // 4]
    starts = [0]
    fitting = 0
    for index in range(1, len(rows)):
        before, row = rows[index - 1], rows[index]
        if row.column == before.column:
            if row.top - before.top > _GAP_RATIO * leading:
                starts.append(index)
                fitting += _may_start(row.text) and _ends_entry(rows, index - 1)
        elif ends_sentence(before.text) and _may_start(row.text):
            starts.append(index)
    return starts if len(starts) > _MIN_GAP_STARTS else []


def _ends_entry(rows: Sequence[Row], index: int) -> bool:
    row = rows[index]
    column_start = row.left - row.indent
    is_short = row.right - column_start < _SHORT_ROW_SHARE * (row.column_end - column_start)
    return ends_sentence(row.text) or is_short


def _may_start(text: str) -> bool:
    return text[0].isupper() or not text[0].isascii() or text[0] in "\"'“["
