"""Printed lines of a PDF page, as PyMuPDF finds them, in native order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import Any  # Any: pages of PyMuPDF and its dictionaries

from rag_assets.model import Box
from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.pdf.drawn import DrawnPage
from rag_assets.parsing.pdf.floats.graphics import Graphic, read_graphics
from rag_assets.parsing.pdf.hidden import drop_hidden
from rag_assets.parsing.pdf.library import load_pymupdf

# Bit of PyMuPDF's span flags; fonts without it say so in their name (CMBX is TeX's bold).
_BOLD_FLAG = 16
_ITALIC_FLAG = 2
_RAISED_FLAG = 1
# An exponent, or the mark of a note behind a number: either way no digits of that number.
_RAISED_NUMBER = re.compile(r"\s*[+\-−–]?\d{1,3}(?:[,–-]\d{1,3})*[\s.,;:)\]]*")
_RAISED_MARK = re.compile(r"[\w*∗†‡§¶#,]")
# Small capitals are set at 70 to 85 % of the size of the capitals.
_MAX_SMALL_CAPS_RATIO = 1.45
# Fewer characters in a font of their own are a symbol or a number, not a heading.
_MIN_RUN_IN = 3
# A formula or a name of a species inside of a heading.
_MAX_INSERTION = 16
# The number of a heading is often set in another font than its words.
_IS_NUMBER = re.compile(r"\s*(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)*|[IVX]+)[.)]?\s*")
_BOLD_NAME = re.compile(
    r"bold|black|heavy|demi|cmbx|-bd|medi\b|\.B$|[.-]BI?$|TimesB|simhei|heiti|黑", re.IGNORECASE
)
_ITALIC_NAME = re.compile(
    r"ital|obli|slanted|[.-]B?I$|-It$|LtIt$|CondIt$|TimesB?I$|cmti|cmsl", re.IGNORECASE
)

# Of recognised text: the gutter of two columns is wider than any space of a justified line.
_GUTTER_IN_SIZES = 1.5
# What stands in it to the eyes of a text recognition that takes its shadow for a sign.
_GUTTER_MARKS = {"", "|", "_"}


@dataclass(slots=True)
class Line:
    """One printed line, empty ones and those of white space left out.

    Args:
        text: cleaned.
        printed: the same characters as the file has them.
        box: on the page as shown.
        size: of its main font in points; `bold`, `italic` and `font` are that font's too. Small
            capitals have the size of the capitals that begin their words.
        upright: False for sideways and vertical lines.
        run_in: the beginning that is set in another font, and the rest: a heading that its
            paragraph follows on the same line looks so. None for a line in one font.
        level_parts: the text between its raised characters (marks of notes and affiliations);
            None where nothing is raised.
    """

    text: str
    printed: str
    box: Box
    size: float
    bold: bool
    italic: bool
    font: str
    upright: bool
    run_in: "tuple[Line, Line] | None" = None
    level_parts: tuple[str, ...] | None = None

    def shares_row(self, other: "Line") -> bool:
        """Tell whether both stand on one base line (cells of a row, a number and its heading)."""
        middle = (other.box[1] + other.box[3]) / 2
        return self.box[1] < middle < self.box[3]


@dataclass(slots=True)
class Page:
    """The blocks of a page, each a list of lines. `number` counts from 1.

    Args:
        graphics: images, drawings and rules; empty where neither a caption nor an image of the
            file asked for them.
        is_recognised: its text was read from its picture.
        hidden: texts of the file that nobody sees on the page; no line has them.
    """

    number: int
    width: float
    height: float
    blocks: list[list[Line]]
    graphics: list[Graphic] = field(default_factory=list)
    columns: list[float] = field(default_factory=list)
    text_bounds: tuple[float, float] = (0.0, 0.0)
    is_recognised: bool = False
    hidden: tuple[str, ...] = ()


def read_page(page: Any, recognised: Any = None) -> Page:
    """Return the text lines of a pymupdf page, empty ones left out.

    Args:
        page: a `pymupdf.Page`.
        recognised: a `pymupdf.TextPage` of its picture, read instead of its own text.

    Raises:
        RuntimeError: MuPDF cannot read the page.
    """
    pymupdf = load_pymupdf()
    # No images: reading them takes as long again. No CID for unknown characters: a glyph number
    # is not what is printed; U+FFFD is counted and reported.
    flags = (
        pymupdf.TEXT_PRESERVE_WHITESPACE
        | pymupdf.TEXT_PRESERVE_LIGATURES
        | pymupdf.TEXT_MEDIABOX_CLIP
        | pymupdf.TEXT_CLIP
    )
    content = page.get_text("dict", flags=flags, sort=False, textpage=recognised)
    drawn = DrawnPage(page, flags)
    hidden = [] if recognised else drop_hidden(content, drawn)
    matrix = page.rotation_matrix if page.rotation else None
    blocks = [
        lines
        for block in content["blocks"]
        if (
            lines := [
                line
                for raw in block["lines"]
                for piece in ([raw] if recognised is None else _split_at_gutters(raw))
                if (line := _read_line(piece, matrix))
            ]
        )
    ]
    graphics = read_graphics(page, [line.text for block in blocks for line in block], drawn)
    return Page(
        page.number + 1,
        page.rect.width,
        page.rect.height,
        blocks,
        graphics,
        is_recognised=recognised is not None,
        hidden=tuple(map(clean_line, hidden)),
    )


def _split_at_gutters(raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a recognised line in pieces, cut where it runs on from one column into the next.

    Tesseract gives each word, and the space between two, a span of its own; a gutter is a wide
    space, or a space with the bar that it took the gutter's edge for.
    """
    pieces: list[list[dict[str, Any]]] = [[]]
    gap = 0.0
    for span in raw["spans"]:
        text = span["text"].strip()
        if text in _GUTTER_MARKS:
            gap += span["bbox"][2] - span["bbox"][0]
            pieces[-1].append(span)
            continue
        if gap > _GUTTER_IN_SIZES * span["size"] and any(s["text"].strip() for s in pieces[-1]):
            pieces.append([])
        pieces[-1].append(span)
        gap = 0.0
    if len(pieces) == 1:
        return [raw]
    cut = []
    for spans in pieces:
        while spans[-1]["text"].strip() in _GUTTER_MARKS:
            spans.pop()
        left, top, right, bottom = zip(*(span["bbox"] for span in spans), strict=True)
        box = (min(left), min(top), max(right), max(bottom))
        cut.append(raw | {"spans": spans, "bbox": box})
    return cut


def _read_line(raw: dict[str, Any], matrix: Any) -> Line | None:
    spans = raw["spans"]
    main = spans[0] if len(spans) == 1 else _main_span(spans)
    printed, text = _read_spans(spans)
    if not text:
        return None
    box, direction = raw["bbox"], raw["dir"]
    if matrix is not None:
        box, direction = _turn(box, direction, matrix)
    upright = raw["wmode"] == 0 and direction[0] > 0.9
    line = _make_line(main, text, printed, box, upright)
    if len(spans) > 1 and upright:
        if any(span["flags"] & _RAISED_FLAG for span in spans):
            line.level_parts = _level_parts(spans)
        if text.isupper():
            line.size = _capitals_size(spans, main)
        elif matrix is None:
            line.run_in = _read_run_in(spans)
    return line


def _read_spans(spans: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return the characters of some spans, as printed and cleaned: 10⁵ is 10^5 and not 105."""
    if len(spans) == 1:
        printed = spans[0]["text"]
        return printed, clean_line(printed)
    printed = "".join([span["text"] for span in spans])
    if not any(span["flags"] & _RAISED_FLAG for span in spans):
        return printed, clean_line(printed)
    text = ""
    for is_raised, run in groupby(spans, key=lambda span: bool(span["flags"] & _RAISED_FLAG)):
        part = "".join([span["text"] for span in run])
        base = text.rstrip()
        if (
            is_raised
            and base[-1:].isdecimal()
            and len(text) - len(base) <= 1
            and _RAISED_NUMBER.fullmatch(part)
        ):
            text, part = f"{base}^", part.lstrip()
        text += part
    return printed, clean_line(text)


def _make_line(
    main: dict[str, Any], text: str, printed: str, box: Sequence[float], upright: bool
) -> Line:
    font, flags = main["font"], main["flags"]
    return Line(
        text=text,
        printed=printed,
        box=(box[0], box[1], box[2], box[3]),
        size=main["size"],
        bold=bool(flags & _BOLD_FLAG) or is_bold_name(font),
        italic=bool(flags & _ITALIC_FLAG) or is_italic_name(font),
        font=font,
        upright=upright,
    )


def _capitals_size(spans: Sequence[dict[str, Any]], main: dict[str, Any]) -> float:
    """Return the size of the first letters where the other letters are small capitals."""
    size: float = main["size"]
    largest = max(
        (span["size"] for span in spans if span["font"] == main["font"] and span["text"].strip()),
        default=size,
    )
    return largest if size < largest <= _MAX_SMALL_CAPS_RATIO * size else size


def _read_run_in(spans: Sequence[dict[str, Any]]) -> tuple[Line, Line] | None:
    """Return a line's beginning in one font and its rest, None where that is not one change."""
    first = next((span for span in spans if span["text"].strip()), spans[0])
    font = first["font"]
    if font == spans[-1]["font"] and len({span["font"] for span in spans}) == 1:
        return None
    end = _end_of_font(spans, 0, font)
    if end < len(spans) and _IS_NUMBER.fullmatch("".join([span["text"] for span in spans[:end]])):
        end = _end_of_font(spans, end, spans[end]["font"])
    end = _past_insertions(spans, end)
    lead, rest = spans[:end], spans[end:]
    if not rest:
        return None
    (lead_printed, lead_text), (rest_printed, rest_text) = _read_spans(lead), _read_spans(rest)
    if len(lead_text) < _MIN_RUN_IN or not rest_text:
        return None
    return (
        _make_line(_main_span(lead), lead_text, lead_printed, _box_of(lead), True),
        _make_line(_main_span(rest), rest_text, rest_printed, _box_of(rest), True),
    )


def _past_insertions(spans: Sequence[dict[str, Any]], end: int) -> int:
    """Return the end of a beginning that goes on in its font after a symbol or a name."""
    while 0 < end < len(spans):
        before = "".join([span["text"] for span in spans[:end]]).rstrip()
        if before.endswith((".", ":")):
            break
        font = next(span["font"] for span in reversed(spans[:end]) if span["text"].strip())
        length = 0
        for index in range(end, len(spans)):
            if spans[index]["font"] == font and spans[index]["text"].strip():
                break
            length += len(spans[index]["text"])
        else:
            break
        if length > _MAX_INSERTION:
            break
        end = _end_of_font(spans, index, font)
    return end


def _end_of_font(spans: Sequence[dict[str, Any]], start: int, font: str) -> int:
    """Return the index of the first span from `start` on that is printed in another font."""
    for index in range(start, len(spans)):
        if spans[index]["font"] != font and spans[index]["text"].strip():
            return index
    return len(spans)


def _level_parts(spans: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return the text before, between and behind raised characters; accents belong to letters."""
    parts = [""]
    for span in spans:
        text = span["text"]
        if span["flags"] & _RAISED_FLAG and _RAISED_MARK.search(text):
            parts.append("")
        else:
            parts[-1] += text
    return tuple(part for part in map(clean_line, parts) if part)


def _box_of(spans: Sequence[dict[str, Any]]) -> Box:
    """Return the box around spans of one line, blanks at its ends left out."""
    boxes = [span["bbox"] for span in spans if span["text"].strip()]
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


@cache
def is_bold_name(font: str) -> bool:
    """Tell whether a font's name says that it is bold."""
    return _BOLD_NAME.search(font) is not None


@cache
def is_italic_name(font: str) -> bool:
    """Tell whether a font's name says that it is slanted."""
    return _ITALIC_NAME.search(font) is not None


def _main_span(spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a span in the font and size of most characters: words may be spans of their own."""
    lengths: dict[tuple[str, float], int] = {}
    for span in spans:
        key = span["font"], span["size"]
        lengths[key] = lengths.get(key, 0) + len(span["text"].strip())
    font, size = max(lengths, key=lambda key: lengths[key])
    return next(span for span in spans if span["font"] == font and span["size"] == size)


def _turn(box: Box, direction: tuple[float, float], matrix: Any) -> tuple[Box, tuple[float, float]]:
    pymupdf = load_pymupdf()
    turned = pymupdf.Rect(box) * matrix
    x, y = direction
    return (
        (turned.x0, turned.y0, turned.x1, turned.y1),
        (x * matrix.a + y * matrix.c, x * matrix.b + y * matrix.d),
    )


def surrounding_box(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around `boxes`, to a tenth of a point."""
    if len(boxes) == 1:
        left, top, right, bottom = boxes[0]
    else:
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        left, top, right, bottom = min(lefts), min(tops), max(rights), max(bottoms)
    return round(left, 1), round(top, 1), round(right, 1), round(bottom, 1)
