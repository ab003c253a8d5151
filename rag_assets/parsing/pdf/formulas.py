"""Displayed formulas: lines of symbols set apart from the text, whole and with their number."""

import re
from collections.abc import Sequence

from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph

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
    """Return the share of its characters, blanks left out, that stand in words of a language."""
    words = [word for word in _WORD.findall(text) if not _FORMULA_WORDS.fullmatch(word.lower())]
    return sum(map(len, words)) / max(1, len(text) - text.count(" "))


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
