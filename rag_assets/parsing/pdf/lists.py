"""Lists, footnotes and formulas among the paragraphs of a page."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.pdf.lines import Line
from rag_assets.parsing.pdf.paragraphs import Paragraph, main_size, make_paragraph
from rag_assets.parsing.sections import subtype_of_title

# Lists: runs of items that begin with a bullet, or with numbers or letters in sequence.

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


# Footnotes: small print at the foot of a column, below its text.

# Notes are set at 80 to 90 % of the body's size.
_SIZE_STEP = 0.7
_MARK = re.compile(r"(?:\d{1,3}(?![.\d)\]:]|\s?[%°])|[*∗†‡§¶#]+|[①-⑳]|[a-z](?=\s[A-Z]))\s?\S")
# Notes fill at most so much of a page and begin in its lower part.
_MAX_HEIGHT_SHARE, _MIN_TOP_SHARE = 0.35, 0.4
_MAX_NOTES = 12


def mark_footnotes(paragraphs: Sequence[Paragraph], heights: dict[int, float]) -> None:
    """Give footnotes their kind, in place.

    From the foot of each column upwards: paragraphs in small print, the first of which begins
    with a mark, below text in the body's size.

    Args:
        paragraphs: of the whole document; those whose kind is settled are left alone.
        heights: of the pages in points, by number.
    """
    size = main_size(paragraphs)
    pages: dict[int, list[Paragraph]] = defaultdict(list)
    for paragraph in paragraphs:
        if paragraph.upright and paragraph.kind in ("paragraph", "footnote", "formula"):
            pages[paragraph.page].append(paragraph)
    for number, on_page in pages.items():
        for paragraph in on_page:
            if not _is_lowest(paragraph, on_page):
                continue
            notes, above = _column_notes(paragraph, on_page, size)
            if _are_notes(notes, above, heights[number], is_first_page=number == 1):
                for note in notes:
                    note.kind = "footnote"


def _overlaps(first: Paragraph, second: Paragraph) -> bool:
    return min(first.box[2], second.box[2]) - max(first.box[0], second.box[0]) > 0


def _is_lowest(paragraph: Paragraph, others: Sequence[Paragraph]) -> bool:
    return not any(
        other.box[1] > paragraph.box[1] + 1 and _overlaps(paragraph, other) for other in others
    )


def _column_notes(
    lowest: Paragraph, on_page: Sequence[Paragraph], size: float
) -> tuple[list[Paragraph], Paragraph | None]:
    """Return the small print at the foot of a column, from the top, and what stands above it."""
    column = sorted(
        (other for other in on_page if _overlaps(lowest, other)), key=lambda other: -other.box[1]
    )
    notes: list[Paragraph] = []
    for paragraph in column:
        if paragraph.kind != "paragraph" or paragraph.size > size - _SIZE_STEP:
            return notes[::-1], paragraph
        notes.append(paragraph)
    return notes[::-1], None


def _are_notes(
    notes: Sequence[Paragraph], above: Paragraph | None, height: float, is_first_page: bool
) -> bool:
    if not notes or above is None or len(notes) > _MAX_NOTES:
        return False
    top = notes[0].box[1]
    if notes[-1].box[3] - top > _MAX_HEIGHT_SHARE * height or top < _MIN_TOP_SHARE * height:
        return False
    if subtype_of_title(above.text) == "references" and len(above.text) < 40:
        return False
    return _MARK.match(notes[0].text) is not None or is_first_page


# Displayed formulas: lines of symbols set apart from the text, whole and with their number.

_WORD = re.compile(r"[^\W\d_]{3,}")
# Names of functions and words of cases, which formulas hold.
_FORMULA_WORDS = re.compile(
    r"sin|cos|tan|cot|sec|exp|log|lim|max|min|sup|inf|arg|det|dim|ker|mod|gcd|div|rot"
    r"|grad|sgn|rank|diag|var|cov|prob|erf|sinh|cosh|tanh|argmin|argmax|trace|span|for"
    r"|all|and|otherwise|else|with|where|such|that|subject"
)
_OPERATOR = re.compile(
    r"[=<>≤≥≠≈≡∼∝∈∉⊂⊆∪∩∧∨¬∀∃∑∏∫∂∇√×÷±∓⊕⊗→←↔⇒⇔↦⟨⟩‖∥∞≔+−·]|[\u0391-\u03c9]|[\U0001d400-\U0001d7ff]"
)
_NUMBER = re.compile(r"[(（\[]\s?[A-Z]?\.?\d+(?:[.\-–]\d+)*[a-z]?['′]?\s?[)）\]]$")
_MATH_FONT = re.compile(
    r"CMMI|CMSY|CMEX|CMBSY|MSBM|MSAM|EUFM|Math|Symbol|MTMI|MTSY|MTEX|txsy|rtxmi"
)
# Letters in words: prose has eight in ten, a formula hardly any.
_MAX_WORD_SHARE = 0.4
# Pieces of one formula (limits, numerators, its number) touch or nearly so, in sizes.
_MAX_PIECE_GAP_EMS = 0.7
_MAX_PIECE_CHARACTERS = 60
_MAX_FORMULA_CHARACTERS = 600
_MIN_MATRIX_PIECES = 3


def merge_formulas(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs with each displayed formula whole, in one of kind `formula`.

    Args:
        paragraphs: of the whole document; those whose kind is settled are left alone.
    """
    result: list[Paragraph] = []
    run: list[Paragraph] = []
    for paragraph in paragraphs:
        is_piece = _may_be_piece(paragraph)
        if run and not (is_piece and _touches(run, paragraph)):
            # Fractions and limits of a line of text are blocks of their own, between its halves.
            is_inline = _shares_row(run, paragraph) or bool(result and _shares_row(run, result[-1]))
            result += run if is_inline else _closed(run)
            run = []
        if is_piece:
            run.append(paragraph)
        else:
            result.append(paragraph)
    return [*result, *_closed(run)]


def _shares_row(run: Sequence[Paragraph], neighbour: Paragraph) -> bool:
    """Tell whether pieces stand in a line of the text before or after them."""
    if neighbour.kind != "paragraph" or neighbour.page != run[0].page:
        return False
    top = min(piece.box[1] for piece in run)
    bottom = max(piece.box[3] for piece in run)
    left = min(piece.box[0] for piece in run)
    right = max(piece.box[2] for piece in run)
    reach = 2 * neighbour.size
    for line in (neighbour.lines[0], neighbour.lines[-1]):
        middle = (line.box[1] + line.box[3]) / 2
        near = line.box[0] - reach <= right and left <= line.box[2] + reach
        is_centred = abs(middle - (top + bottom) / 2) < 0.3 * (bottom - top)
        if is_centred and near and len(line.text) > 3:
            return True
    return False


def _closed(run: Sequence[Paragraph]) -> Sequence[Paragraph]:
    """Return a run of pieces as one formula, or as they are where none of them is one."""
    if not any(_is_formula(piece) for piece in run):
        # A matrix: numbers in many pieces, and one sign.
        pieces = "".join(piece.text for piece in run)
        if len(run) < _MIN_MATRIX_PIECES or "=" not in pieces:
            return run
    lines = [line for piece in run for line in piece.lines]
    if sum(len(line.text) for line in lines) > _MAX_FORMULA_CHARACTERS:
        for piece in run:
            piece.kind = "formula" if _is_formula(piece) else piece.kind
        return run
    formula = run[0] if len(run) == 1 else make_paragraph(lines, run[0].page)
    formula.kind = "formula"
    return [formula]


def _may_be_piece(paragraph: Paragraph) -> bool:
    if paragraph.kind != "paragraph" or not paragraph.upright:
        return False
    if len(paragraph.text) > _MAX_FORMULA_CHARACTERS:
        return False
    return _word_share(paragraph.text) <= _MAX_WORD_SHARE and not (
        len(paragraph.text) > _MAX_PIECE_CHARACTERS and not _is_formula(paragraph)
    )


def _is_formula(paragraph: Paragraph) -> bool:
    text = paragraph.text
    if _word_share(text) > _MAX_WORD_SHARE:
        return False
    symbols = len(_OPERATOR.findall(text))
    if _NUMBER.search(text) and len(text) > 8 and symbols:
        return True
    has_font = any(_MATH_FONT.search(line.font) for line in paragraph.lines)
    return symbols >= 2 or (has_font and symbols >= 1 and len(text) >= 5)


def _word_share(text: str) -> float:
    """Return the share of its characters that stand in words of a language; no blanks or carets."""
    words = [word for word in _WORD.findall(text) if not _FORMULA_WORDS.fullmatch(word.lower())]
    return sum(map(len, words)) / max(1, len(text) - text.count(" ") - text.count("^"))


def _touches(run: Sequence[Paragraph], paragraph: Paragraph) -> bool:
    if run[0].page != paragraph.page:
        return False
    left = min(piece.box[0] for piece in run)
    right = max(piece.box[2] for piece in run)
    top = min(piece.box[1] for piece in run)
    bottom = max(piece.box[3] for piece in run)
    box = paragraph.box
    size = max(paragraph.size, run[-1].size)
    gap = max(box[1] - bottom, top - box[3])
    is_row = box[1] < bottom and box[3] > top
    overlap = min(box[2], right) - max(box[0], left)
    if is_row:
        # The number stands at the margin, pieces side by side; another column is further.
        return overlap > -20 * size
    return gap <= _MAX_PIECE_GAP_EMS * size and overlap > 0
