"""Headings that lie in several blocks: a number beside or above its title, broken lines."""

import re
from collections.abc import Sequence

from rag_assets.parsing.pdf.headings.numbers import parse_number
from rag_assets.parsing.pdf.headings.words import is_top_title
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph
from rag_assets.parsing.pdf.styles import BodyStyle, style_of

_MAX_CHARACTERS = 200
_BARE_NUMBER = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*|[IVX]{1,5}|[A-Z](?:\.\d{1,2})*)\.?")
_BARE_PART = re.compile(
    r"(?:(?:chapter|chapitre|kapitel|cap[íi]tulo|глава|appendix|annexe?|anhang|part|partie)"
    r"\s+(?:\d+|[IVX]+|[A-Z]|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"|第\s*[一二三四五六七八九十\d]+\s*章|附录\s*[A-Z\d]?|APPENDIX)\s*[.:：]?",
    re.IGNORECASE,
)
# A line that ends so goes on.
_OPEN_END = re.compile(
    r"(?:[-‐–—,:&/(]|\b(?:of|and|the|for|in|on|to|with|a|an|by|or|from|at|via|under|between|using"
    r"|de|des|du|la|le|les|et|pour|und|der|die|das|von|für|e|do|da|em|y|del|el|и|в|на))$",
    re.IGNORECASE,
)
# Between the lines of one heading there is hardly more than their own leading.
_MAX_GAP_EMS = 0.7
# Between a chapter's number and its title there may be some lines' white space.
_MAX_PART_GAP_EMS = 3.0
_MIN_HANGING_EMS = 0.8
_CENTRED_POINTS = 6.0


def join_heading_parts(paragraphs: Sequence[Paragraph], body: BodyStyle) -> list[Paragraph]:
    """Return the paragraphs, the parts of one heading joined.

    Args:
        paragraphs: of the whole document, in reading order.
        body: the document's style of running text.
    """
    joined: list[Paragraph] = []
    for paragraph in paragraphs:
        before = joined[-1] if joined else None
        if before is not None and _belong_together(before, paragraph, body):
            joined[-1] = _join(before, paragraph)
        else:
            joined.append(paragraph)
    return joined


def _belong_together(before: Paragraph, after: Paragraph, body: BodyStyle) -> bool:
    if len(before.text) + len(after.text) > _MAX_CHARACTERS or before.page != after.page:
        return False
    # `Chapter 1` on a first page stands among the lines of its front matter.
    is_part = _BARE_PART.fullmatch(before.text) is not None
    is_open = before.kind == "paragraph" or (is_part and before.kind == "front")
    if not (is_open and after.kind == "paragraph" and before.upright and after.upright):
        return False
    line, next_line = before.lines[-1], after.lines[0]
    is_row = line.shares_row(next_line) and line.box[2] <= next_line.box[0]
    if _BARE_NUMBER.fullmatch(before.text):
        return is_row and body.is_emphasised(next_line) and next_line.text[0].isalpha()
    gap = next_line.box[1] - line.box[3]
    if is_part:
        return (
            gap <= _MAX_PART_GAP_EMS * max(before.size, after.size)
            and body.is_emphasised(next_line)
            and next_line.run_in is None
            and after.size >= before.size - 1
            and parse_number(after.text) is None
        )
    return -after.size < gap <= _MAX_GAP_EMS * after.size and _goes_on(before, after, body)


def _goes_on(before: Paragraph, after: Paragraph, body: BodyStyle) -> bool:
    """Tell whether `after`, right below, is the next line of the heading `before`."""
    line, next_line = before.lines[-1], after.lines[0]
    number = parse_number(before.text)
    title = before.text[number.end :] if number else before.text
    is_one_style = (
        body.is_emphasised(line)
        and style_of(line) == style_of(next_line)
        and not (line.run_in or next_line.run_in)
    )
    is_end = before.text[-1] in ".。" or is_top_title(title)
    begins = parse_number(after.text) is not None or is_top_title(after.text)
    if not is_one_style or is_end or begins:
        return False
    return (
        next_line.text[0].islower()
        or _OPEN_END.search(before.text) is not None
        or (number is not None and _is_hanging(before, after))
        or _is_centred(before, after)
    )


def _is_hanging(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether `after` stands below the title of `before`, not below its number."""
    return after.box[0] - before.box[0] >= _MIN_HANGING_EMS * after.size


def _is_centred(before: Paragraph, after: Paragraph) -> bool:
    return (
        abs(_middle(before) - _middle(after)) <= _CENTRED_POINTS
        and abs(before.box[0] - after.box[0]) > _CENTRED_POINTS
    )


def _middle(paragraph: Paragraph) -> float:
    return (paragraph.box[0] + paragraph.box[2]) / 2


def _join(before: Paragraph, after: Paragraph) -> Paragraph:
    joined = make_paragraph([*before.lines, *after.lines], before.page)
    joined.fills_last_line = after.fills_last_line
    joined.starts_at_edge = before.starts_at_edge
    return joined
