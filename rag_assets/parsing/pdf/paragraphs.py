"""Printed lines become paragraphs: runs of lines that belong together, on one page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

from rag_assets.model import BlockKind, Box
from rag_assets.parsing.cleaning import ends_sentence, join_texts
from rag_assets.parsing.pdf.headings.numbers import parse_number
from rag_assets.parsing.pdf.lines import Line, Page, surrounding_box
from rag_assets.parsing.pdf.styles import BodyStyle, style_of

# Between a heading and its text; sub- and superscripts change lines by less or are short.
_HEADING_SIZE_STEP = 1.4
# An indent is about one to two ems; more is a centred line or another column.
_MIN_INDENT_EMS, _MAX_INDENT_EMS = 0.7, 4.0
# Edges are compared in buckets of so many points, neighbours included.
_EDGE_BUCKET = 3.0
_MIN_EDGE_LINES, _MIN_EDGE_SHARE = 4, 0.15
_OPENERS = "\"'“‘«([（【《"
_SAME_SIZE_POINTS = 0.4
# White space above a heading inside of a block widens the distance of the lines by so much.
_SPACED_PITCH = 1.25
# A numbered heading in the body's own font has no more lines.
_MAX_PLAIN_ROWS = 2
# Drop capitals are two to four lines high.
_DROP_CAP_RATIO = 1.7


@dataclass(slots=True)
class Paragraph:
    """A run of lines that belong together, on one page.

    Args:
        text: clean text of the lines, joined.
        spans: for each line its characters in `text`, half-open.
        page: number, from 1.
        size: of the font that most of its characters have, in points.
        kind: what later passes find it to be.
        level: of a heading, from 1.
        attachment_id: of the figure or table that it captions or renders.
        is_continuation: True where it goes on with the paragraph before, over the end of a column
            or page: both become one block.
    """

    lines: list[Line]
    text: str
    spans: list[tuple[int, int]]
    page: int
    box: Box
    size: float
    bold: bool
    upright: bool
    fills_last_line: bool = False
    starts_at_edge: bool = False
    kind: BlockKind = "paragraph"
    level: int | None = None
    attachment_id: str | None = None
    is_continuation: bool = False


def page_paragraphs(page: Page, body: BodyStyle) -> list[Paragraph]:
    """Return the paragraphs of a page in the order of its blocks.

    Args:
        body: of the whole document.
    """
    upright = [line for block in page.blocks for line in block if line.upright]
    left = _common_edges([line.box[0] for line in upright])
    right = _common_edges([line.box[2] for line in upright])
    column_ends = sorted(bucket * _EDGE_BUCKET for bucket in right)
    paragraphs = []
    for block in page.blocks:
        for lines in _split_block(block, _Column(body, column_ends)):
            paragraph = make_paragraph(lines, page.number)
            paragraph.fills_last_line = _bucket(lines[-1].box[2]) in right
            paragraph.starts_at_edge = _bucket(lines[0].box[0]) in left
            paragraphs.append(paragraph)
    return paragraphs


def make_paragraph(lines: Sequence[Line], page: int) -> Paragraph:
    """Return the paragraph that `lines` make: divided words joined, sizes and weight by majority.

    Args:
        lines: at least one, in reading order.
        page: their page's number.
    """
    text, spans = _join_lines(lines)
    sizes: dict[float, int] = {}
    bold = total = 0
    for line in lines:
        length = len(line.text)
        total += length
        sizes[line.size] = sizes.get(line.size, 0) + length
        bold += length if line.bold else 0
    return Paragraph(
        lines=list(lines),
        text=text,
        spans=spans,
        page=page,
        box=surrounding_box([line.box for line in lines]),
        size=max(sizes, key=lambda size: sizes[size]),
        bold=2 * bold > total,
        upright=lines[0].upright,
    )


def _bucket(edge: float) -> int:
    return round(edge / _EDGE_BUCKET)


def _common_edges(edges: Sequence[float]) -> set[int]:
    """Return the buckets at which columns begin or end: many lines share them."""
    counts = Counter(_bucket(edge) for edge in edges)
    enough = max(_MIN_EDGE_LINES, _MIN_EDGE_SHARE * len(edges))
    return {
        near
        for bucket in counts
        if counts[bucket - 1] + counts[bucket] + counts[bucket + 1] >= enough
        for near in (bucket - 1, bucket, bucket + 1)
    }


@dataclass(frozen=True, slots=True)
class _Column:
    """What decides where a paragraph ends.

    Args:
        ends: right edges of the page's columns in points, ascending.
    """

    body: BodyStyle
    ends: Sequence[float]

    def has_room(self, row: Sequence[Line], word_length: int) -> bool:
        """Tell whether a word of so many letters would have fitted at the end of `row`."""
        first, last = row[0], row[-1]
        end = next((edge for edge in self.ends if edge >= last.box[2] - _EDGE_BUCKET), None)
        if end is None:
            return False
        letters = sum(len(line.text) for line in row)
        width = (last.box[2] - first.box[0]) / max(1, letters)
        return end - last.box[2] > width * (word_length + 1) + _EDGE_BUCKET


def _split_block(block: Sequence[Line], column: _Column) -> list[list[Line]]:
    """Split a block where its font changes or a new paragraph begins."""
    left = min(line.box[0] for line in block)
    pitch = _pitch(block)
    groups = [[block[0]]]
    row = [block[0]]
    for before, line in pairwise(block):
        if is_drop_cap(line, before):
            groups.append([line])
            row = [line]
        elif is_drop_cap(before, line) or before.shares_row(line):
            groups[-1].append(line)
            row.append(line)
        else:
            is_spaced = line.box[1] - before.box[1] > _SPACED_PITCH * pitch
            if _starts_paragraph(before, line, left) or _is_border(
                groups[-1], row, line, column, is_spaced
            ):
                groups.append([line])
            else:
                groups[-1].append(line)
            row = [line]
    return groups


def _starts_paragraph(before: Line, line: Line, left: float) -> bool:
    if before.upright != line.upright:
        return True
    if abs(before.size - line.size) >= _HEADING_SIZE_STEP:
        return min(len(before.text), len(line.text)) > 3
    indent = line.box[0] - left
    return (
        _MIN_INDENT_EMS * line.size <= indent <= _MAX_INDENT_EMS * line.size
        and before.box[0] - left < _MIN_INDENT_EMS * line.size
        and ends_sentence(before.text)
    )


def _pitch(block: Sequence[Line]) -> float:
    """Return the usual distance of a block's base lines in points, of two lines or more."""
    steps = [
        line.box[1] - before.box[1]
        for before, line in pairwise(block)
        if line.box[1] - before.box[1] > 0.5 * line.size
    ]
    return median_low(steps) if steps else 0.0


def _is_border(
    group: Sequence[Line], row: Sequence[Line], line: Line, column: _Column, is_spaced: bool
) -> bool:
    """Tell whether a heading ends or begins between `row`, the last of `group`, and `line`.

    A line of another font is not enough: sentences hold whole lines of italics and formulas. So
    the words must allow it too: a heading begins where a sentence ends or a line stops short, and
    a line that stops short although the next word would have fitted ends what it belongs to.
    """
    if not line.upright or not _may_begin(line.text):
        return False
    body = column.body
    leads = group[0].run_in is None and body.is_emphasised(group[0])
    stands_out = body.is_emphasised(line)
    if not (leads or stands_out or line.text[0].isdigit() or group[0].text[0].isdigit()):
        return False
    is_heading = leads and all(
        item.run_in is None and body.is_emphasised(item) for item in group[1:]
    )
    if is_heading and not stands_out:
        return True
    is_short = column.has_room(row, len(line.text.split(" ", 1)[0]))
    is_end = is_short or is_spaced or ends_sentence(row[-1].text)
    if stands_out and line.run_in is None:
        main = max(row, key=_text_length)
        if style_of(main) == style_of(line):
            return is_heading and is_short
        return is_end or (is_heading and abs(main.size - line.size) > _SAME_SIZE_POINTS)
    return (is_end and _has_inner_number(line)) or (
        is_short and len(group) <= _MAX_PLAIN_ROWS and _has_inner_number(group[0])
    )


def _has_inner_number(line: Line) -> bool:
    """Tell whether a line begins with a number of several parts (`2.1`), as lists seldom have."""
    number = parse_number(line.text)
    return number is not None and number.depth > 1


def _text_length(line: Line) -> int:
    return len(line.text)


def _may_begin(text: str) -> bool:
    """Tell whether a paragraph or heading may begin so: no small letter, no mark of a sentence."""
    first = text[0]
    return not first.islower() and (first.isalnum() or first in _OPENERS)


def _join_lines(lines: Sequence[Line]) -> tuple[str, list[tuple[int, int]]]:
    """Return the lines as one text and the span of each line in it."""
    parts = [lines[0].text]
    position = len(lines[0].text)
    spans = [(0, position)]
    for before, line in pairwise(lines):
        separator = ""
        if _is_same_row(before, line):
            separator = " "
        elif not is_drop_cap(before, line):
            kept, separator = join_texts(parts[-1], line.text)
            if len(kept) < len(parts[-1]):
                position -= len(parts[-1]) - len(kept)
                parts[-1] = kept
                spans[-1] = (spans[-1][0], position)
        start = position + len(separator)
        position = start + len(line.text)
        parts += [separator, line.text]
        spans.append((start, position))
    return "".join(parts), spans


def _is_same_row(before: Line, line: Line) -> bool:
    return not is_drop_cap(before, line) and before.shares_row(line)


def is_drop_cap(before: "Line | Paragraph", after: "Line | Paragraph") -> bool:
    """Tell whether `before` is the large first letter of the word that `after` goes on with."""
    return (
        len(before.text) == 1
        and before.text.isupper()
        and after.text[0].isalpha()
        and before.size >= _DROP_CAP_RATIO * after.size
    )
