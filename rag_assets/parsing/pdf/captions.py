"""Captions of figures and tables."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_assets.model import Box
from rag_assets.parsing.cleaning import ends_sentence, is_unspaced
from rag_assets.parsing.pdf.drawn import (
    CAPTION_START,
    FIGURE_WORDS,
    NUMBER,
    OTHER_WORDS,
    TABLE_WORDS,
)
from rag_assets.parsing.pdf.lines import Line
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph

CaptionKind = Literal["figure", "table", "other"]

_LABEL = re.compile(
    rf"(?:(?P<figure>{FIGURE_WORDS})|(?P<table>{TABLE_WORDS})|(?P<other>{OTHER_WORDS}))"
    rf"\s{{0,2}}(?P<number>{NUMBER})(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_DELIMITER = re.compile(r"\s?(?:[.:|：。．–—•]|-\s)(?=$|\s|[^\W\d_]|[（(\"“—–-])")
# After a number without delimiter these go on with a sentence of the text.
_SENTENCE_WORDS = re.compile(
    r"\s*(?:\([^)]*\)\s*)?(?:[,;)\]、，；]|(?:shows?|presents?|depicts?|illustrates?|gives?|lists?|is|are|was|were|"
    r"displays?|reports?|contains?|summari[sz]es?|provides?|describes?|compares?|and|or|in|on|also|"
    r"demonstrates?|indicates?|reveals?|plots?|we|that|which|has|have|can|to|for|from|as|by|with|"
    r"will|above|below|addresses|respectively|makes?|suggests?|includes?|outlines?|shown|montre|présente|"
    r"mostra|apresenta|ilustra|illustre|donne|показ\w+|представл\w+|привед\w+|und|zeigt)\b"
    r"|[给所中展列为是可示的显对和与及])",
    re.IGNORECASE,
)
_SAME_SIZE_POINTS = 0.6
# Lines of a caption stand closer than this, in their font's size, beyond solid setting.
_MAX_LINE_GAP_EMS = 0.75
# A label alone is followed by its title at up to so many sizes.
_MAX_TITLE_GAP_EMS = 1.6
# Cells of a row stand further apart than words.
_MIN_CELL_GAP_EMS = 1.2
_MAX_CAPTION_CHARACTERS = 3000


@dataclass(slots=True)
class Caption:
    """A caption with what it names.

    Args:
        paragraph: of kind `caption`.
        name: as printed, `Figure 3`.
        has_delimiter: whether a point, colon or dash follows the name.
    """

    paragraph: Paragraph
    kind: CaptionKind
    name: str
    has_delimiter: bool


def find_captions(
    paragraphs: Sequence[Paragraph], main_size: float, rules: Mapping[int, Sequence[Box]]
) -> tuple[list[Paragraph], list[Caption]]:
    """Cut captions out of the paragraphs.

    Args:
        paragraphs: of the whole document, in reading order.
        main_size: of the body's font, in points.
        rules: horizontal ones by page number; no caption goes on below one.

    Returns:
        All paragraphs, those that are captions of kind `caption`; and the captions, in order.
    """
    result: list[Paragraph] = []
    captions: list[Caption] = []
    index = 0
    while index < len(paragraphs):
        paragraph = paragraphs[index]
        index += 1
        if paragraph.kind != "paragraph" or not paragraph.upright:
            result.append(paragraph)
            continue
        at, label = _find_label(paragraph, result[-1] if result else None, main_size)
        if label is None:
            result.append(paragraph)
            continue
        before, own, rest = _cut(paragraph, at, rules.get(paragraph.page, ()))
        if before is not None:
            result.append(before)
        if rest is None:
            own, rest, index = _gather(own, paragraphs, index, label, rules.get(own.page, ()))
        own.kind = "caption"
        result.append(own)
        captions.append(_caption(own, label))
        if rest is not None:
            # A second caption may follow in the same block.
            more, later = find_captions([rest], main_size, rules)
            result += more
            captions += later
    return result, _without_sentences(captions)


def _without_sentences(captions: Sequence[Caption]) -> list[Caption]:
    """Drop `Figure 3 clearly …` where a `Figure 3:` stands elsewhere; it is a sentence."""
    delimited = {caption.name.lower() for caption in captions if caption.has_delimiter}
    kept = []
    for caption in captions:
        if caption.has_delimiter or caption.name.lower() not in delimited:
            kept.append(caption)
        else:
            caption.paragraph.kind = "paragraph"
    return kept


def _caption(paragraph: Paragraph, label: re.Match[str]) -> Caption:
    kind: CaptionKind = "other"
    if label["figure"]:
        kind = "figure"
    elif label["table"]:
        kind = "table"
    word = label["figure"] or label["table"] or label["other"]
    separator = "" if is_unspaced(word[-1]) else " "
    name = f"{word}{separator}{label['number'].rstrip('.')}"
    return Caption(paragraph, kind, name, _DELIMITER.match(label["rest"]) is not None)


def _find_label(
    paragraph: Paragraph, previous: Paragraph | None, main_size: float
) -> tuple[int, re.Match[str] | None]:
    """Return the first line that begins a caption, with the match of its label."""
    lines = paragraph.lines
    for at, line in enumerate(lines):
        if not CAPTION_START.match(line.text):
            continue
        label = _LABEL.match(line.text)
        if label is None or not line.upright:
            continue
        before = lines[at - 1] if at else _line_above(previous, paragraph)
        if _is_label(label, line, lines[at + 1 : at + 2], before, main_size):
            return at, label
    return 0, None


def _line_above(previous: Paragraph | None, paragraph: Paragraph) -> Line | None:
    """Return the last line before a paragraph in its own column, None where it stands apart."""
    if previous is None or previous.page != paragraph.page or not previous.lines:
        return None
    if previous.kind != "paragraph":
        return None
    line = previous.lines[-1]
    beside = min(line.box[2], paragraph.box[2]) <= max(line.box[0], paragraph.box[0])
    return None if beside else line


def _is_label(
    label: re.Match[str],
    line: Line,
    following: Sequence[Line],
    before: Line | None,
    main_size: float,
) -> bool:
    word = label["figure"] or label["table"] or label["other"]
    if word[0].islower():
        return False
    stands_out = line.bold or line.size < main_size - _SAME_SIZE_POINTS or _has_bold_lead(line)
    rest = label["rest"]
    if not _DELIMITER.match(rest):
        if not rest.strip() and following and not stands_out:
            return _stands_over(line, following[0], before)
        if not _goes_on_as_title(rest, stands_out):
            return False
    return before is None or _stands_apart(line, before, stands_out)


def _stands_over(line: Line, title: Line, before: Line | None) -> bool:
    """Tell whether a label on a line of its own stands over its title, in no sentence."""
    if before is None or ends_sentence(before.text) or line.shares_row(title):
        return True
    return line.box[1] - before.box[3] > line.size


def _goes_on_as_title(rest: str, stands_out: bool) -> bool:
    """Tell whether what follows a name without delimiter is a title, not the rest of a sentence."""
    first = rest.lstrip()[:1]
    if _SENTENCE_WORDS.match(rest) or (first.islower() and not stands_out):
        return False
    return not rest or rest[0].isspace() or is_unspaced(first)


def _has_bold_lead(line: Line) -> bool:
    return line.run_in is not None and line.run_in[0].bold and not line.run_in[1].bold


def _stands_apart(line: Line, before: Line, stands_out: bool) -> bool:
    """Tell whether a caption may begin below `before`: that is not a line of its sentence."""
    gap = line.box[1] - before.box[3]
    if gap > 0.6 * line.size or gap < -2 * line.size:
        return True
    if abs(before.size - line.size) > _SAME_SIZE_POINTS or before.bold != line.bold:
        return True
    if _has_bold_lead(line) and not _has_bold_lead(before):
        return True
    open_prose = len(before.text) > 25 and not ends_sentence(before.text)
    if open_prose:
        return False
    return stands_out or before.box[2] < line.box[2] - 3 * line.size or len(before.text) <= 25


def _cut(
    paragraph: Paragraph, at: int, rules: Sequence[Box]
) -> tuple[Paragraph | None, Paragraph, Paragraph | None]:
    """Return what stands before the caption that begins at a line, the caption, and the rest."""
    lines = paragraph.lines
    end = at + 1
    while (
        end < len(lines)
        and _goes_on(lines[at], lines[end - 1], lines[end], lines[end + 1 :])
        and not _is_parted(lines[end - 1], lines[end], rules)
    ):
        end += 1
    if at == 0 and end == len(lines):
        return None, paragraph, None
    before = _part(paragraph, lines[:at]) if at else None
    rest = _part(paragraph, lines[end:]) if end < len(lines) else None
    return before, _part(paragraph, lines[at:end]), rest


def _is_parted(before: Line, line: Line, rules: Sequence[Box]) -> bool:
    """Tell whether a rule runs between two lines."""
    top = (before.box[1] + before.box[3]) / 2
    bottom = (line.box[1] + line.box[3]) / 2
    return any(
        top < rule[1] < bottom and rule[0] < line.box[2] and rule[2] > line.box[0] for rule in rules
    )


def _part(paragraph: Paragraph, lines: Sequence[Line]) -> Paragraph:
    part = make_paragraph(lines, paragraph.page)
    part.fills_last_line = paragraph.fills_last_line and lines[-1] is paragraph.lines[-1]
    part.starts_at_edge = paragraph.starts_at_edge
    return part


def _goes_on(first: Line, before: Line, line: Line, later: Sequence[Line]) -> bool:
    if CAPTION_START.match(line.text) and ends_sentence(before.text):
        return False
    if before.shares_row(line):
        gap = line.box[0] - before.box[2]
        # `Table 2   Title` on one row is a caption, cells are not.
        return before is first or gap < _MIN_CELL_GAP_EMS * line.size
    if abs(line.size - first.size) > 1.2 and min(len(line.text), len(before.text)) > 3:
        return False
    if line.box[1] - before.box[3] > _MAX_LINE_GAP_EMS * line.size:
        return False
    in_row = bool(later) and line.shares_row(later[0])
    return not (in_row and later[0].box[0] - line.box[2] > _MIN_CELL_GAP_EMS * line.size)


def _gather(
    own: Paragraph,
    paragraphs: Sequence[Paragraph],
    index: int,
    label: re.Match[str],
    rules: Sequence[Box],
) -> tuple[Paragraph, Paragraph | None, int]:
    """Add the paragraphs below that go on with a caption."""
    rest: Paragraph | None = None
    lines = list(own.lines)
    while index < len(paragraphs) and rest is None:
        after = paragraphs[index]
        if after.kind != "paragraph" or not after.upright or after.page != own.page:
            break
        if not _continues(lines, after, not label["rest"].strip(" .:|-–—：")):
            break
        if _is_parted(lines[-1], after.lines[0], rules):
            break
        _, part, rest = _cut(after, 0, rules)
        lines += part.lines
        index += 1
        if sum(len(line.text) for line in lines) > _MAX_CAPTION_CHARACTERS:
            break
    if len(lines) == len(own.lines):
        return own, None, index
    return make_paragraph(lines, own.page), rest, index


def _continues(lines: Sequence[Line], after: Paragraph, is_bare: bool) -> bool:
    last, line = lines[-1], after.lines[0]
    if CAPTION_START.match(line.text):
        return False
    overlap = min(last.box[2], line.box[2]) - max(last.box[0], line.box[0])
    if last.shares_row(line):
        return is_bare and len(lines) == 1 and 0 <= line.box[0] - last.box[2] < 4 * line.size
    if overlap <= 0 or _is_row(after):
        return False
    gap = line.box[1] - last.box[3]
    if is_bare and len(lines) == 1:
        return -line.size < gap < _MAX_TITLE_GAP_EMS * line.size
    return (
        not ends_sentence(last.text)
        and abs(last.size - line.size) < _SAME_SIZE_POINTS
        and last.bold == line.bold
        and -line.size < gap < _MAX_LINE_GAP_EMS * line.size
        and line.text[0].islower()
    )


def _is_row(paragraph: Paragraph) -> bool:
    """Tell whether a paragraph begins with the cells of a table's row."""
    if len(paragraph.lines) < 2:
        return False
    first, second = paragraph.lines[:2]
    return (
        first.shares_row(second) and second.box[0] - first.box[2] > _MIN_CELL_GAP_EMS * second.size
    )
