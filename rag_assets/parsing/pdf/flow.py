"""From paragraphs to the clean text: sentences over a page end, blocks, lines, pages."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.model import Block, PageSpan, SourceLine
from rag_assets.parsing.cleaning import (
    close_line,
    ends_sentence,
    is_unspaced,
    is_unspaced_prose,
    join_texts,
)
from rag_assets.parsing.pdf.list_marks import begins_with_mark
from rag_assets.parsing.pdf.paragraphs import Paragraph, is_drop_cap

PARAGRAPH_BREAK = "\n\n"
ITEM_BREAK = "\n"

# Fonts closer than this are one size: hinting and scaling move sizes by a few tenths of a point.
_SAME_SIZE_POINTS = 0.6
# An indent is about one to two ems; more is a centred line or another column.
_MAX_INDENT_EMS = 4.0
# Notes, captions and labels of figures that may stand between the halves of a sentence.
_MAX_INTERRUPTIONS = 60
# Shorter runs are labels and headings, not the first half of an interrupted sentence.
_MIN_SENTENCE_PART = 40
# Kinds of blocks in which a sentence may run on over a column or a page.
_RUNNING = ("paragraph", "list", "footnote")
# A sentence runs through its displayed formulas: they stay where they are. A heading ends it.
_IN_SENTENCES = ("formula", "heading", "title", "list")
# Characters of a line that is no heading and no cell of a table.
_MIN_FULL_LINE = 20
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
    is_one_font = abs(before.size - after.size) <= _SAME_SIZE_POINTS
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
        and len(before.text) >= _MIN_FULL_LINE
        and is_unspaced_prose(before.text)
        and is_unspaced_prose(after.text)
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
                is_free = not any(item.kind in _IN_SENTENCES for item in between)
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
        and paragraph.size > main_size - _SAME_SIZE_POINTS
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
