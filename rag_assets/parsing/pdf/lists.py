"""Lists: runs of items that begin with a bullet, or with numbers or letters in sequence."""

import re
from collections.abc import Sequence
from itertools import pairwise

from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.pdf.lines import Line
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph

_BULLET = re.compile(r"([•●▪■□◦‣∙◆◇➢➤✓·⁃–—]|[-*](?=\s))(?:\s|$|(?=[^\W\d_]))")
_ENUMERATOR = re.compile(r"[(（]?(\d{1,2}|[a-z]|[ivx]{1,5})[.)）、](?=\s|$|[^\W\d_])")
# A longer one is a section that begins with a number.
_MAX_ITEM_CHARACTERS = 1500
_MAX_HANGING_GAP_EMS = 0.8
_INDENT_EMS = 1.0


def split_lists(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs with the items of lists as blocks of kind `list`, marks kept.

    Args:
        paragraphs: of the whole document, headings and references marked.
    """
    pieces: list[Paragraph] = []
    last_mark: str | None = None
    for paragraph in paragraphs:
        for piece in _split(paragraph, last_mark):
            pieces.append(piece)
            last_mark = _item_mark(piece) or last_mark
        if paragraph.kind == "heading":
            last_mark = None
    # Each item with the hanging lines below it, which may be blocks of their own.
    groups: list[list[Paragraph]] = []
    for piece in pieces:
        if groups and _hangs(groups[-1], piece):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    marks = [_item_mark(group[0]) for group in groups]
    result: list[Paragraph] = []
    for index, (group, mark) in enumerate(zip(groups, marks, strict=True)):
        neighbours = [marks[place] for place in (index - 1, index + 1) if 0 <= place < len(marks)]
        if mark is None or not (
            _is_bullet(mark) or any(_follow(mark, neighbour) for neighbour in neighbours)
        ):
            result += group
            continue
        item = group[0] if len(group) == 1 else _joined(group)
        item.kind = "list"
        result.append(item)
    _set_levels(result)
    return result


def _item_mark(piece: Paragraph) -> str | None:
    is_item = piece.kind == "paragraph" and len(piece.text) <= _MAX_ITEM_CHARACTERS
    return _mark_of(piece.text) if is_item else None


def _hangs(group: Sequence[Paragraph], piece: Paragraph) -> bool:
    """Tell whether a paragraph is what the lines of an item go on with, indented below it."""
    first, last = group[0], group[-1]
    if _item_mark(first) is None or piece.kind != "paragraph" or piece.page != first.page:
        return False
    gap = piece.box[1] - last.box[3]
    return (
        _mark_of(piece.text) is None
        and first.box[0] + 0.5 * first.size < piece.box[0] < first.box[0] + 4 * first.size
        and -piece.size < gap < _MAX_HANGING_GAP_EMS * piece.size
        and abs(piece.size - first.size) < 1
        and not ends_sentence(last.text)
    )


def _joined(group: Sequence[Paragraph]) -> Paragraph:
    item = make_paragraph([line for piece in group for line in piece.lines], group[0].page)
    item.starts_at_edge = group[0].starts_at_edge
    item.fills_last_line = group[-1].fills_last_line
    return item


def _split(paragraph: Paragraph, last_mark: str | None) -> list[Paragraph]:
    """Cut a paragraph before each line that begins an item; `last_mark` is that of the last."""
    if paragraph.kind != "paragraph" or len(paragraph.lines) < 2:
        return [paragraph]
    starts = _item_starts(paragraph.lines, last_mark)
    if not starts:
        return [paragraph]
    cuts = sorted({0, *starts, len(paragraph.lines)})
    if len(cuts) == 2:
        return [paragraph]
    parts = []
    for start, end in pairwise(cuts):
        part = make_paragraph(paragraph.lines[start:end], paragraph.page)
        part.starts_at_edge = paragraph.starts_at_edge
        part.fills_last_line = paragraph.fills_last_line and end == len(paragraph.lines)
        parts.append(part)
    return parts


def _item_starts(lines: Sequence[Line], last_mark: str | None) -> list[int]:
    """Return the lines that begin items: with one bullet, or with numbers that count on."""
    marks = [
        (index, mark)
        for index, line in enumerate(lines)
        if (index == 0 or not lines[index - 1].shares_row(line))
        and (mark := _mark_of(line.text)) is not None
    ]
    bullets = [index for index, mark in marks if _is_bullet(mark) and mark not in "–—-·*"]
    if bullets:
        return bullets
    dashes = [index for index, mark in marks if _is_bullet(mark)]
    # A dash within a sentence may begin a line: one that begins the paragraph says more.
    if len(dashes) > 1 and dashes[0] == 0:
        return dashes
    counted = [marks[0]] if marks else []
    for index, mark in marks[1:]:
        if _follow(counted[-1][1], mark):
            counted.append((index, mark))
    goes_on = bool(counted) and counted[0][0] > 0 and _follow(last_mark, counted[0][1])
    return [index for index, _ in counted] if len(counted) > 1 or goes_on else []


def _mark_of(text: str) -> str | None:
    match = _BULLET.match(text) or _ENUMERATOR.match(text)
    return match[1] if match else None


def _is_bullet(mark: str) -> bool:
    return not mark[0].isalnum()


def _follow(first: str | None, second: str | None) -> bool:
    """Tell whether two marks follow each other, in either order."""
    if first is None or second is None:
        return False
    if first.isdigit() and second.isdigit():
        return abs(int(first) - int(second)) == 1
    if len(first) == len(second) == 1 and first.isalpha() and second.isalpha():
        return abs(ord(first) - ord(second)) == 1
    romans = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"]
    if first in romans and second in romans:
        return abs(romans.index(first) - romans.index(second)) == 1
    return False


def _set_levels(paragraphs: Sequence[Paragraph]) -> None:
    """Give each item of a run its depth, by its indent."""
    indents: list[float] = []
    page = 0
    for paragraph in paragraphs:
        if paragraph.kind != "list":
            indents = []
            continue
        left = paragraph.box[0]
        if paragraph.page != page:
            indents, page = [], paragraph.page
        while indents and left < indents[-1] - _INDENT_EMS * paragraph.size:
            indents.pop()
        if not indents or left > indents[-1] + _INDENT_EMS * paragraph.size:
            # To the right of the whole column is another column, not a deeper item.
            if indents and left > indents[-1] + 12 * paragraph.size:
                indents = []
            indents.append(left)
        paragraph.level = len(indents)
