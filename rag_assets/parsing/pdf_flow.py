"""From printed lines to running text: paragraphs, divided words, sentences over a page end."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.model import Block, PageSpan
from rag_assets.parsing.cleaning import ends_sentence, is_unspaced, join_texts
from rag_assets.parsing.pdf_lines import Box, Line, Page, surrounding_box

PARAGRAPH_BREAK = "\n\n"

# Fonts closer than this are one size: hinting and scaling move sizes by a few tenths of a point.
_SAME_SIZE_POINTS = 0.6
# Between a heading and its text; sub- and superscripts change lines by less or are short.
_HEADING_SIZE_STEP = 1.4
# An indent is about one to two ems; more is a centred line or another column.
_MIN_INDENT_EMS, _MAX_INDENT_EMS = 0.7, 4.0
# Edges are compared in buckets of so many points, neighbours included.
_EDGE_BUCKET = 3.0
_MIN_EDGE_LINES, _MIN_EDGE_SHARE = 4, 0.15
# Notes, captions and labels of figures that may stand between the halves of a sentence.
_MAX_INTERRUPTIONS = 60
# Shorter runs are labels and headings, not the first half of an interrupted sentence.
_MIN_SENTENCE_PART = 40

# Characters of a line that is no heading and no cell of a table.
_MIN_FULL_LINE = 20
# Drop capitals are two to four lines high.
_DROP_CAP_RATIO = 1.7
# A short run that ends otherwise (a number, a dash) is a row of a table.
_PROSE_ENDS = ",;:)]-\u2010\"'\u2019\u201d"
_LIST_MARK = re.compile(
    r"(?:[•●▪◦‣∙■□◆➢*–—-]\s|[(\[]?\w{1,3}[)\].、]|\d+(?:\.\d+)*\s|(?:Fig|Tab|图|表)\w*\.?\s*\d)"
)
_LOWER_CASE_WORD = re.compile(r"[^\W\d_]{2,}|[a-zà-ÿ]\s")


@dataclass(slots=True)
class Paragraph:
    """A run of lines that belong together, on one page."""

    text: str
    page: int
    box: Box
    size: float
    upright: bool
    fills_last_line: bool
    starts_at_edge: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """The clean text with its blocks and its pages."""

    text: str
    blocks: tuple[Block, ...]
    pages: tuple[PageSpan, ...]


def flow_text(pages: Sequence[Page]) -> Flow:
    """Return the running text of `pages`.

    Paragraphs stand apart by an empty line. A sentence that runs on in the next block, column or
    page is joined; notes and captions that interrupt it stand before or after it, on their page.
    """
    paragraphs = [paragraph for page in pages for paragraph in _page_paragraphs(page)]
    _move_interruptions(paragraphs, _main_size(paragraphs))
    return _assemble(paragraphs, [page.number for page in pages])


def _page_paragraphs(page: Page) -> list[Paragraph]:
    upright = [line for block in page.blocks for line in block if line.upright]
    left = _common_edges([line.box[0] for line in upright])
    right = _common_edges([line.box[2] for line in upright])
    paragraphs = []
    for block in page.blocks:
        for lines in _split_block(block):
            first, last = lines[0], lines[-1]
            paragraphs.append(
                Paragraph(
                    text=_join_lines(lines),
                    page=page.number,
                    box=surrounding_box([line.box for line in lines]),
                    size=_line_sizes(lines).most_common(1)[0][0],
                    upright=first.upright,
                    fills_last_line=_bucket(last.box[2]) in right,
                    starts_at_edge=_bucket(first.box[0]) in left,
                )
            )
    return paragraphs


def _line_sizes(lines: Sequence[Line]) -> Counter[float]:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes


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
        if _is_drop_cap(line, before):
            groups.append([line])
        elif _is_drop_cap(before, line) or before.shares_row(line):
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


def _join_lines(lines: Sequence[Line]) -> str:
    if len(lines) == 1:
        return lines[0].text
    parts = [lines[0].text]
    for before, line in pairwise(lines):
        if _is_drop_cap(before, line):
            parts.append(line.text)
        elif before.shares_row(line):
            parts += [" ", line.text]
        else:
            parts[-1], separator = join_texts(parts[-1], line.text)
            parts += [separator, line.text]
    return "".join(parts)


def _is_drop_cap(before: Line | Paragraph, after: Line | Paragraph) -> bool:
    """Tell whether `before` is the large first letter of the word that `after` goes on with."""
    return (
        len(before.text) == 1
        and before.text.isupper()
        and after.text[0].isalpha()
        and before.size >= _DROP_CAP_RATIO * after.size
    )


def _main_size(paragraphs: Sequence[Paragraph]) -> float:
    sizes: Counter[float] = Counter()
    for paragraph in paragraphs:
        sizes[round(paragraph.size * 2) / 2] += len(paragraph.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _continues(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether the sentence that `before` leaves open goes on in `after`."""
    if not (before.upright and after.upright) or ends_sentence(before.text):
        return False
    if abs(before.size - after.size) > _SAME_SIZE_POINTS:
        return False
    if after.text[0].islower():
        is_prose = before.text[-1].isalpha() or before.text[-1] in _PROSE_ENDS
        return bool(
            (is_prose or len(before.text) >= _MIN_SENTENCE_PART)
            and _LOWER_CASE_WORD.match(after.text)
        )
    if _LIST_MARK.match(after.text):
        return False
    if not (before.fills_last_line and after.starts_at_edge) and not _is_next_line(before, after):
        return False
    return is_unspaced(before.text[-1]) == is_unspaced(after.text[0])


def _is_next_line(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether `after` lies right below a full line of Chinese or Japanese.

    Widely set lines come as blocks of their own, and where few of them share an edge, as in an
    abstract over both columns, that edge is not known to the page.
    """
    left, _, right, bottom = before.box
    height = before.size
    return (
        before.page == after.page
        and len(before.text) >= _MIN_FULL_LINE
        and is_unspaced(before.text[-1])
        and left - _MAX_INDENT_EMS * height <= after.box[0] <= left + height / 2
        and right >= after.box[2] - height
        and -height <= after.box[1] - bottom <= height
    )


def _move_interruptions(paragraphs: list[Paragraph], main_size: float) -> None:
    """Put notes and captions that stand inside a sentence before or after it, in place."""
    index = 0
    while index < len(paragraphs):
        before = paragraphs[index]
        if (
            _is_body(before, main_size)
            and len(before.text) >= _MIN_SENTENCE_PART
            and not ends_sentence(before.text)
        ):
            follower = _next_body(paragraphs, index, main_size)
            if follower is not None and follower > index + 1:
                after = paragraphs[follower]
                between = paragraphs[index + 1 : follower]
                if after.page <= before.page + 1 and _continues(before, after):
                    earlier = [item for item in between if item.page == before.page]
                    later = [item for item in between if item.page != before.page]
                    paragraphs[index : follower + 1] = [*earlier, before, after, *later]
                    index += len(earlier)
        index += 1


def _is_body(paragraph: Paragraph, main_size: float) -> bool:
    return paragraph.upright and paragraph.size > main_size - _SAME_SIZE_POINTS


def _next_body(paragraphs: Sequence[Paragraph], index: int, main_size: float) -> int | None:
    for candidate in range(index + 1, min(index + 2 + _MAX_INTERRUPTIONS, len(paragraphs))):
        if _is_body(paragraphs[candidate], main_size):
            return candidate
    return None


def _assemble(paragraphs: Sequence[Paragraph], numbers: Sequence[int]) -> Flow:
    parts: list[str] = []
    blocks: list[Block] = []
    page_starts: dict[int, int] = {}
    position = 0
    for index, paragraph in enumerate(paragraphs):
        page_starts.setdefault(paragraph.page, position)
        text, separator = paragraph.text, ""
        if index + 1 < len(paragraphs):
            after = paragraphs[index + 1]
            separator = PARAGRAPH_BREAK
            if paragraph.page == after.page and _is_drop_cap(paragraph, after):
                separator = ""
            elif _continues(paragraph, after):
                text, separator = join_texts(text, after.text)
        end = position + len(text)
        blocks.append(Block("paragraph", position, end, paragraph.page, paragraph.box))
        parts += [text, separator]
        position = end + len(separator)
    return Flow("".join(parts), tuple(blocks), _page_spans(page_starts, numbers, position))


def _page_spans(
    page_starts: dict[int, int], numbers: Sequence[int], length: int
) -> tuple[PageSpan, ...]:
    """Return spans that partition the text; a page without text has an empty one."""
    spans: list[PageSpan] = []
    end = length
    for number in reversed(numbers):
        start = page_starts.get(number, end)
        spans.append(PageSpan(number, start, end))
        end = start
    return tuple(reversed(spans))
