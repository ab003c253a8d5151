"""Lines of one paragraph that a file gives as blocks of their own become one paragraph.

PyMuPDF parts lines that stand further apart than those of most print, as Chinese text is set. What
tells a paragraph from the next is then its indent, its last line that stops short, or more white
space above it. Scripts with blanks between words are left as they are given: a short line of theirs
is a cell or a label more often than a part of a paragraph.
"""

from collections.abc import Sequence

from rag_assets.parsing.cleaning import ends_sentence, is_unspaced_prose
from rag_assets.parsing.pdf.list_marks import begins_with_mark
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph

_SAME_SIZE_POINTS = 0.6
# Characters of a line that is no heading, label or cell of a table.
_MIN_FULL_LINE = 15
_MIN_WIDTH_EMS = 12.0
# Double spacing is about 2.4 sizes from base line to base line.
_MIN_PITCH_EMS, _MAX_PITCH_EMS = 0.8, 2.7
# Base lines of one paragraph keep their distance, but fonts that mix have boxes of other heights.
_SAME_PITCH_EMS = 0.15
_SAME_EDGE_EMS = 0.5
# A first line is indented by one or two ems, seldom more.
_MAX_INDENT_EMS = 4.0
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
    if abs(before.size - after.size) > _SAME_SIZE_POINTS or before.bold != after.bold:
        return False
    if not (is_unspaced_prose(before.lines[-1].text) and is_unspaced_prose(after.lines[0].text)):
        return False
    if after.is_continuation or begins_with_mark(after.text):
        return False
    return _is_in_pitch(before, after) and _is_in_column(before, after)


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
    step = after.lines[0].box[3] - before.lines[-1].box[3]
    if not _MIN_PITCH_EMS * size <= step <= _MAX_PITCH_EMS * size:
        return False
    return all(
        abs(step - own) <= _SAME_PITCH_EMS * size
        for own in (_last_step(before), _first_step(after))
        if own is not None
    )


def _last_step(paragraph: Paragraph) -> float | None:
    if len(paragraph.lines) < 2:
        return None
    return paragraph.lines[-1].box[3] - paragraph.lines[-2].box[3]


def _first_step(paragraph: Paragraph) -> float | None:
    if len(paragraph.lines) < 2:
        return None
    return paragraph.lines[1].box[3] - paragraph.lines[0].box[3]


def _is_in_column(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether the last line of `before` is full and that of `after` is not indented."""
    size = before.size
    last, first = before.lines[-1], after.lines[0]
    if len(last.text) < _MIN_FULL_LINE or last.box[2] - last.box[0] < _MIN_WIDTH_EMS * size:
        return False
    left = last.box[0]
    indent = _MAX_INDENT_EMS if len(before.lines) == 1 else _SAME_EDGE_EMS
    if not left - indent * size <= first.box[0] <= left + _SAME_EDGE_EMS * size:
        return False
    right = max(line.box[2] for line in (*before.lines, *after.lines))
    is_open = not ends_sentence(last.text)
    return last.box[2] >= right - (_RAGGED_EMS if is_open else _FULL_EMS) * size and (
        is_open or before.fills_last_line
    )


def _merged(before: Paragraph, after: Paragraph) -> Paragraph:
    merged = make_paragraph([*before.lines, *after.lines], before.page)
    merged.starts_at_edge = before.starts_at_edge
    merged.fills_last_line = after.fills_last_line
    return merged
