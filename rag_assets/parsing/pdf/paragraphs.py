"""Lines become paragraphs, which go on over columns and pages."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median_low

from rag_assets.model import Block, BlockKind, Box, PageSpan, SourceLine
from rag_assets.parsing.cleaning import (
    DIVISION,
    REAL_HYPHEN,
    close_line,
    ends_sentence,
    is_unspaced,
    is_unspaced_prose,
    join_texts,
)
from rag_assets.parsing.pdf.heading_words import parse_number
from rag_assets.parsing.pdf.lines import BodyStyle, Line, Page, style_of, surrounding_box

# Marks that begin an item, a label or a numbered line, and the numbers that only look so.

_MARK = re.compile(
    r"[•●▪◦‣∙■□◆➢*–—-]\s"
    # A number, a letter, a Chinese number: `1.`, `(a)`, `iv)`, `[3]`, `一、`, `（一）`; not `1.8`.
    r"|[(\[（]?(?:\d{1,3}|[ivxlIVXL]{1,5}|[A-Za-z]|[一二三四五六七八九十]{1,3})[)\]）.．、]"
    r"(?=\s|$|[^\W\d_]|[“\"《（(])"
    r"|[\u2460-\u2473]"
    # A section's number or a row of figures; not a quantity with its unit (`1.8 °C`, `20 cm`).
    r"|\d+(?:\.\d+)*\s(?![°%‰℃a-zµμ])"
    r"|(?:Fig|Tab)\w*\.?\s*\d|[图表]\s*\d"
)


def begins_with_mark(text: str) -> bool:
    """Tell whether a text begins as an item of a list, a numbered line or a caption does."""
    return _MARK.match(text) is not None


# Printed lines become paragraphs: runs of lines that belong together, on one page.

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
_MIN_ROWS_BESIDE = 2
_DROP_CAP = re.compile(r"[^\W\d_]")


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


def place_drop_caps(page: Page) -> None:
    """Move each drop cap of a page before the line that goes on with its word, in place.

    A file may draw it with the heading above or apart from all other text.
    """
    for source in page.blocks:
        for cap in [line for line in source if _DROP_CAP.fullmatch(line.text) and line.upright]:
            beside = [
                (line.box[1], index, block)
                for block in page.blocks
                for index, line in enumerate(block)
                if _is_beside(cap, line)
            ]
            if len(beside) < _MIN_ROWS_BESIDE:
                continue
            _, index, block = min(beside, key=lambda item: item[0])
            follower = block[index]
            if not is_drop_cap(cap, follower):
                continue
            source[:] = [line for line in source if line is not cap]
            block.insert(next(i for i, line in enumerate(block) if line is follower), cap)
    page.blocks = [block for block in page.blocks if block]


def _is_beside(cap: Line, line: Line) -> bool:
    """Tell whether a line begins right of a drop cap, at its height; labels are shorter."""
    return (
        line.upright
        and len(line.text) >= _MIN_FULL_LINE
        and cap.size >= _DROP_CAP_RATIO * line.size
        and abs(line.box[0] - cap.box[2]) <= line.size
        and cap.box[1] - line.size < line.box[1] < cap.box[3] - line.size / 2
    )


def is_drop_cap(before: "Line | Paragraph", after: "Line | Paragraph") -> bool:
    """Tell whether `before` is the large first letter of the word that `after` goes on with.

    A word with a capital and small letters is whole: the large letter is a label or a logo.
    """
    return (
        len(before.text) == 1
        and before.text.isupper()
        and (after.text[0].isalpha() or after.text[0] in "'’")
        and before.size >= _DROP_CAP_RATIO * after.size
        and not (after.text[0].isalpha() and after.text.split()[0].istitle())
    )


# Lines of one paragraph that a file gives as blocks of their own become one paragraph.
#
# PyMuPDF parts lines that are further apart than those of most print, as in Chinese texts and in
# double-spaced manuscripts, and below a line with a raised mark. What tells a paragraph from the
# next is then its indent, its last line that stops short, or more white space above it. In scripts
# with blanks between words a short line is a cell or a label more often than a part of a
# paragraph: at the usual distance only a sentence that goes on in small letters is joined.

_WIDE_LINES_SAME_SIZE_POINTS = 0.6
# Characters of a line that is no heading, label or cell of a table.
_MIN_FULL_LINE = 15
_MIN_WIDTH_EMS = 12.0
# Double spacing is about 2.4 sizes from base line to base line.
_MIN_PITCH_EMS, _MAX_PITCH_EMS = 0.8, 2.7
_MIN_WIDE_PITCH_EMS = 1.6
# Lines of prose have so many blanks at least.
_MIN_BLANKS = 4
# Base lines of one paragraph keep their distance, but fonts that mix have boxes of other heights.
_SAME_PITCH_EMS = 0.15
_SAME_EDGE_EMS = 0.5
# A first line is indented by one or two ems, seldom more.
_WIDE_LINES_MAX_INDENT_EMS = 4.0
# A line is full where less than so much is free: the next word or sign may not have fitted.
_FULL_EMS, _RAGGED_EMS = 1.0, 4.0


def merge_wide_lines(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs with those joined that are lines of one.

    Args:
        paragraphs: of the whole document in reading order, their kinds known.
    """
    result: list[Paragraph] = []
    for paragraph in paragraphs:
        if result and _is_same(result[-1], paragraph):
            result[-1] = _merged(result[-1], paragraph)
        else:
            result.append(paragraph)
    return result


def _is_same(before: Paragraph, after: Paragraph) -> bool:
    if not (_is_prose(before) and _is_prose(after)) or before.page != after.page:
        return False
    if abs(before.size - after.size) > _WIDE_LINES_SAME_SIZE_POINTS or before.bold != after.bold:
        return False
    if after.is_continuation or begins_with_mark(after.text):
        return False
    last, first = before.lines[-1], after.lines[0]
    is_wide = False
    if not (is_unspaced_prose(last.text) and is_unspaced_prose(first.text)):
        is_wide = first.box[3] - last.box[3] >= _MIN_WIDE_PITCH_EMS * before.size
        is_rest = after.text[0].islower() and not ends_sentence(last.text)
        is_line = is_wide and first.text.count(" ") >= _MIN_BLANKS
        if is_unspaced(first.text[0]) or last.text.count(" ") < _MIN_BLANKS:
            return False
        if not (is_rest or is_line):
            return False
    return _is_in_pitch(before, after) and _is_in_column(before, after, is_wide)


def _is_prose(paragraph: Paragraph) -> bool:
    return (
        paragraph.kind == "paragraph"
        and paragraph.upright
        and paragraph.attachment_id is None
        and paragraph.level is None
    )


def _is_in_pitch(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether `after` stands below `before` as the lines in both stand below each other."""
    size = before.size
    last, first = before.lines[-1], after.lines[0]
    # A line with a raised or a lowered character has the top or the bottom of the others.
    steps = (first.box[1] - last.box[1], first.box[3] - last.box[3])
    if not _MIN_PITCH_EMS * size <= steps[1] <= _MAX_PITCH_EMS * size:
        return False
    own = [
        below.box[3] - above.box[3]
        for lines in (before.lines[-2:], after.lines[:2])
        for above, below in pairwise(lines)
    ]
    return all(min(abs(step - one) for step in steps) <= _SAME_PITCH_EMS * size for one in own)


def _is_in_column(before: Paragraph, after: Paragraph, is_wide: bool) -> bool:
    """Tell whether the last line of `before` is full and that of `after` is not indented.

    Args:
        before: the paragraph above; `after` is the one below it.
        is_wide: whether the text is double-spaced, and so ragged on the right.
    """
    size = before.size
    last, first = before.lines[-1], after.lines[0]
    if len(last.text) < _MIN_FULL_LINE or last.box[2] - last.box[0] < _MIN_WIDTH_EMS * size:
        return False
    left = last.box[0]
    indent = _WIDE_LINES_MAX_INDENT_EMS if len(before.lines) == 1 else _SAME_EDGE_EMS
    if not left - indent * size <= first.box[0] <= left + _SAME_EDGE_EMS * size:
        return False
    right = max(line.box[2] for line in (*before.lines, *after.lines))
    is_open = is_wide or not ends_sentence(last.text)
    return last.box[2] >= right - (_RAGGED_EMS if is_open else _FULL_EMS) * size and (
        is_open or before.fills_last_line
    )


def _merged(before: Paragraph, after: Paragraph) -> Paragraph:
    merged = make_paragraph([*before.lines, *after.lines], before.page)
    merged.starts_at_edge = before.starts_at_edge
    merged.fills_last_line = after.fills_last_line
    return merged


# Hyphens at line ends: a division of the typesetter's, or one that the word has anyway.

_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_END = re.compile(r"((?:[^\W_]+[-\u2010])*[^\W_]+)[-\u2010]$")
_START = re.compile(r"[^\W_]+")
# First parts that English joins with a hyphen: what stands behind them is a word of its own.
_COMBINING = re.compile(
    r"self|non|well|cross|half|high|low|long|short|two|three|four|five|six|one|ill"
    r"|quasi|all|full|real|large|small|end|top|state|single|double|first|second|third"
    r"|open|closed|data|user|time|fine|hand|word|sentence|document|based"
)
_CONJUNCTIONS = re.compile(r"and|or|und|oder|bzw|et|ou|или")
# `right-to-left`, `state-of-the-art`: no syllable that a division leaves behind.
_PARTICLES = re.compile(r"to|of|the|in|by|on|up|off|out|with|based")
# Ends of words that are words as well.
_SUFFIXES = re.compile(
    r"ment|ments|tain|tains|over|fore|est|able|ible|less|ness|ship|book|base|form"
    r"|forms|ward|wards|tion|tions|sion|ings|fois|ture|tures|mente"
)
# Words of a document that stand alone often enough to be words, not pieces of formulas.
_MIN_COUNT = 2
_MIN_PART_LETTERS = 4


def settle_hyphens(pages: Sequence[Page]) -> None:
    """Mark for each hyphen at a line end whether it is a division, in place.

    The document's own words decide: the joined form or the hyphenated one occurs elsewhere in it;
    then whether both halves are words in it. A line's text then ends with `DIVISION` in place of
    the hyphen, or with `REAL_HYPHEN`; `join_texts` obeys both. Undecided ones are left to it.

    Args:
        pages: of the whole document, in reading order, heads and feet removed.
    """
    words = _count_words(pages)
    for line, after in _broken_lines(pages):
        first, second = _END.search(line.text), _START.match(after.text)
        if first is None or second is None:
            continue
        verdict = _is_division(first[1], second[0], words)
        if verdict is None:
            continue
        mark = DIVISION if verdict else REAL_HYPHEN
        line.text = line.text[:-1] + mark
        if line.run_in is not None:
            rest = line.run_in[1]
            rest.text = rest.text.rstrip("-\u2010") + mark


def _count_words(pages: Sequence[Page]) -> Counter[str]:
    words: Counter[str] = Counter()
    for page in pages:
        text = "\n".join(
            [
                # Half a word counts for nothing.
                line.text if line.text[-1] not in "-\u2010" else _END.sub("", line.text)
                for block in page.blocks
                for line in block
            ]
        )
        words.update(_WORD.findall(text.lower().replace("\u2010", "-")))
    return words


def _broken_lines(pages: Sequence[Page]) -> Iterator[tuple[Line, Line]]:
    """Yield each line that ends with a hyphen and the line that is read next."""
    before: Line | None = None
    for page in pages:
        for block in page.blocks:
            for line in block:
                if not line.upright:
                    continue
                if before is not None and not before.shares_row(line):
                    yield before, line
                before = line if line.text[-1] in "-\u2010" and len(line.text) > 1 else None


def _is_division(first: str, second: str, words: Counter[str]) -> bool | None:
    """Tell whether the hyphen between two halves goes; None where nothing speaks for either."""
    head, tail = first.lower().replace("\u2010", "-"), second.lower()
    joined, hyphenated = words[head + tail], words[f"{head}-{tail}"]
    if _CONJUNCTIONS.fullmatch(tail):
        return None
    if joined != hyphenated:
        return joined > hyphenated
    if head[-1].isdigit() or (tail[0].isdigit() and first[-1].isupper()):
        # `DP10-10`, `96-well`, `IL-6`.
        return False
    if second[0].islower():
        return _is_division_by_rule(first, head, tail, words)
    # `Rutgers-Newark`, `PHOTO-CATALYST`. What follows half a word so is another column's.
    if tail[0].isdigit() or not (first[0].isupper() or words[head]):
        return None
    return first.isupper() and second.isupper() and words[head] == 0


def _is_division_by_rule(first: str, head: str, tail: str, words: Counter[str]) -> bool | None:
    is_compound = "-" in head or _COMBINING.fullmatch(head) or _PARTICLES.fullmatch(tail)
    if is_compound or len(head) == 1:
        return False
    if _SUFFIXES.fullmatch(tail) or not first[-1].islower():
        return None
    are_words = words[head] >= _MIN_COUNT and words[tail] >= _MIN_COUNT
    return False if are_words and min(len(head), len(tail)) >= _MIN_PART_LETTERS else None


# From paragraphs to the clean text: sentences over a page end, blocks, lines, pages.

PARAGRAPH_BREAK = "\n\n"
ITEM_BREAK = "\n"

# Fonts closer than this are one size: hinting and scaling move sizes by a few tenths of a point.
_FLOW_SAME_SIZE_POINTS = 0.6
# An indent is about one to two ems; more is a centred line or another column.
_FLOW_MAX_INDENT_EMS = 4.0
# Notes, captions and labels of figures that may stand between the halves of a sentence.
_MAX_INTERRUPTIONS = 60
# Shorter runs are labels and headings, not the first half of an interrupted sentence.
_MIN_SENTENCE_PART = 40
# Kinds of blocks in which a sentence may run on over a column or a page.
_RUNNING = ("paragraph", "list", "footnote")
# A sentence runs through its displayed formulas: they stay where they are. A heading ends it.
_IN_SENTENCES = ("formula", "heading", "title", "list")
# Characters of a line that is no heading and no cell of a table.
_FLOW_MIN_FULL_LINE = 20
# A short run that ends otherwise (a number, a dash) is a row of a table.
_PROSE_ENDS = ",;:)]-\u2010\"'\u2019\u201d"
_LOWER_CASE_WORD = re.compile(r"[^\W\d_]{2,}|[a-zà-ÿ]\s")


@dataclass(frozen=True, slots=True)
class Flow:
    """The clean text with its blocks, printed lines and pages.

    Args:
        spans: for each paragraph, by `id`, its place in the text.
    """

    text: str
    blocks: tuple[Block, ...]
    lines: tuple[SourceLine, ...]
    pages: tuple[PageSpan, ...]
    spans: dict[int, tuple[int, int]]


def flow_text(paragraphs: list[Paragraph], numbers: Sequence[int]) -> Flow:
    """Return the running text of a document.

    Paragraphs stand apart by an empty line. A sentence that runs on in the next block, column or
    page is joined; notes and captions that interrupt it stand before or after it, on their page.

    Args:
        paragraphs: in reading order, their kinds known.
        numbers: of all pages, in order.
    """
    paragraphs = list(paragraphs)
    _move_interruptions(paragraphs, main_size(paragraphs))
    return _assemble(paragraphs, numbers)


def main_size(paragraphs: Sequence[Paragraph]) -> float:
    """Return the font size of most characters, to half a point; 0.0 without paragraphs."""
    sizes: Counter[float] = Counter()
    for paragraph in paragraphs:
        sizes[round(paragraph.size * 2) / 2] += len(paragraph.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _continues(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether the sentence that `before` leaves open goes on in `after`."""
    is_one_kind = before.kind == after.kind and before.kind in _RUNNING
    is_one_font = abs(before.size - after.size) <= _FLOW_SAME_SIZE_POINTS
    if not (is_one_kind and is_one_font and before.upright and after.upright):
        return False
    if ends_sentence(before.text):
        return False
    if after.text[0].islower():
        is_prose = before.text[-1].isalpha() or before.text[-1] in _PROSE_ENDS
        return bool(
            (is_prose or len(before.text) >= _MIN_SENTENCE_PART)
            and _LOWER_CASE_WORD.match(after.text)
        )
    if begins_with_mark(after.text):
        return False
    if not (before.fills_last_line and after.starts_at_edge) and not _is_next_line(before, after):
        return False
    # A line of Chinese may end or begin with a number or a Latin word.
    return is_unspaced(before.text[-1]) == is_unspaced(after.text[0]) or (
        is_unspaced_prose(before.text) and is_unspaced_prose(after.text)
    )


def _is_next_line(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether `after` lies right below a full line of Chinese or Japanese.

    Widely set lines come as blocks of their own, and where few of them share an edge, as in an
    abstract over both columns, that edge is not known to the page.
    """
    left, _, right, bottom = before.box
    height = before.size
    return (
        before.page == after.page
        and len(before.text) >= _FLOW_MIN_FULL_LINE
        and is_unspaced_prose(before.text)
        and is_unspaced_prose(after.text)
        and left - _FLOW_MAX_INDENT_EMS * height <= after.box[0] <= left + height / 2
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
                is_free = not any(
                    item.kind in _IN_SENTENCES or item.is_continuation for item in between
                )
                if is_free and after.page <= before.page + 1 and _continues(before, after):
                    earlier = [item for item in between if item.page == before.page]
                    later = [item for item in between if item.page != before.page]
                    paragraphs[index : follower + 1] = [*earlier, before, after, *later]
                    index += len(earlier)
        index += 1


def _is_body(paragraph: Paragraph, main_size: float) -> bool:
    return (
        paragraph.upright
        and (paragraph.kind in _RUNNING or paragraph.kind == "reference")
        and paragraph.size > main_size - _FLOW_SAME_SIZE_POINTS
    )


def _next_body(paragraphs: Sequence[Paragraph], index: int, main_size: float) -> int | None:
    for candidate in range(index + 1, min(index + 2 + _MAX_INTERRUPTIONS, len(paragraphs))):
        if _is_body(paragraphs[candidate], main_size):
            return candidate
    return None


def _assemble(paragraphs: Sequence[Paragraph], numbers: Sequence[int]) -> Flow:
    parts: list[str] = []
    blocks: list[Block] = []
    lines: list[SourceLine] = []
    page_starts: dict[int, int] = {}
    spans: dict[int, tuple[int, int]] = {}
    position = 0
    for index, paragraph in enumerate(paragraphs):
        page_starts.setdefault(paragraph.page, position)
        text, separator = paragraph.text, ""
        if index + 1 < len(paragraphs):
            after = paragraphs[index + 1]
            separator = PARAGRAPH_BREAK
            if paragraph.page == after.page and is_drop_cap(paragraph, after):
                separator = ""
            elif after.is_continuation and after.kind == "table":
                separator = "\n"
            elif after.is_continuation or _continues(paragraph, after):
                text, separator = join_texts(text, after.text)
            else:
                text = close_line(text)
                if paragraph.kind == after.kind == "list":
                    separator = ITEM_BREAK
        else:
            text = close_line(text)
        end = position + len(text)
        spans[id(paragraph)] = (position, end)
        if paragraph.is_continuation and blocks:
            blocks[-1] = replace(blocks[-1], end=end)
        else:
            blocks.append(
                Block(
                    paragraph.kind,
                    position,
                    end,
                    paragraph.page,
                    paragraph.box,
                    paragraph.level,
                    paragraph.attachment_id,
                )
            )
        lines += _source_lines(paragraph, text, position)
        parts += [text, separator]
        position = end + len(separator)
    pages = _page_spans(page_starts, numbers, position)
    return Flow("".join(parts), tuple(blocks), tuple(lines), pages, spans)


def _source_lines(paragraph: Paragraph, text: str, offset: int) -> Sequence[SourceLine]:
    return [
        SourceLine(
            offset + start,
            offset + min(end, len(text)),
            paragraph.page,
            line.box,
            None if line.printed == text[start:end] else line.printed,
        )
        for line, (start, end) in zip(paragraph.lines, paragraph.spans, strict=True)
        if start < min(end, len(text))
    ]


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
