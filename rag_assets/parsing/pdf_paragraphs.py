"""Printed lines become paragraphs: runs of lines that belong together, on one page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.model import BlockKind, Box
from rag_assets.parsing.cleaning import ends_sentence, join_texts
from rag_assets.parsing.pdf_lines import Line, Page, surrounding_box

# Between a heading and its text; sub- and superscripts change lines by less or are short.
_HEADING_SIZE_STEP = 1.4
# An indent is about one to two ems; more is a centred line or another column.
_MIN_INDENT_EMS, _MAX_INDENT_EMS = 0.7, 4.0
# Edges are compared in buckets of so many points, neighbours included.
_EDGE_BUCKET = 3.0
_MIN_EDGE_LINES, _MIN_EDGE_SHARE = 4, 0.15
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


def page_paragraphs(page: Page) -> list[Paragraph]:
    """Return the paragraphs of a page in the order of its blocks."""
    upright = [line for block in page.blocks for line in block if line.upright]
    left = _common_edges([line.box[0] for line in upright])
    right = _common_edges([line.box[2] for line in upright])
    paragraphs = []
    for block in page.blocks:
        for lines in _split_block(block):
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
    sizes: Counter[float] = Counter()
    bold = 0
    for line in lines:
        sizes[line.size] += len(line.text)
        bold += len(line.text) if line.bold else 0
    return Paragraph(
        lines=list(lines),
        text=text,
        spans=spans,
        page=page,
        box=surrounding_box([line.box for line in lines]),
        size=sizes.most_common(1)[0][0],
        bold=2 * bold > sizes.total(),
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


def _split_block(block: Sequence[Line]) -> list[list[Line]]:
    """Split a block where the font's size jumps or a new paragraph is indented."""
    left = min(line.box[0] for line in block)
    groups = [[block[0]]]
    for before, line in pairwise(block):
        if is_drop_cap(line, before):
            groups.append([line])
        elif is_drop_cap(before, line) or before.shares_row(line):
            groups[-1].append(line)
        elif _starts_paragraph(before, line, left):
            groups.append([line])
        else:
            groups[-1].append(line)
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
