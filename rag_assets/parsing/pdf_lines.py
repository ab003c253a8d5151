"""Printed lines of a PDF page, as PyMuPDF finds them, in native order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rag_assets.model import Box
from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.pdf_library import load_pymupdf

# Bit of PyMuPDF's span flags; fonts without it say so in their name (CMBX is TeX's bold).
_BOLD_FLAG = 16
_ITALIC_FLAG = 2
_BOLD_NAME = re.compile(r"bold|black|heavy|demi|semibold|cmbx|-bd|medi\b|黑", re.IGNORECASE)


@dataclass(slots=True)
class Line:
    """One printed line, empty ones and those of white space left out.

    Args:
        text: cleaned.
        printed: the same characters as the file has them.
        box: on the page as shown.
        size: of its main font in points; `bold`, `italic` and `font` are that font's too.
        upright: False for sideways and vertical lines.
    """

    text: str
    printed: str
    box: Box
    size: float
    bold: bool
    italic: bool
    font: str
    upright: bool

    def shares_row(self, other: "Line") -> bool:
        """Tell whether both stand on one base line (cells of a row, a number and its heading)."""
        middle = (other.box[1] + other.box[3]) / 2
        return self.box[1] < middle < self.box[3]


@dataclass(slots=True)
class Page:
    """The blocks of a page, each a list of lines. `number` counts from 1."""

    number: int
    width: float
    height: float
    blocks: list[list[Line]]


def read_page(page: Any) -> Page:
    """Return the text lines of a pymupdf page, empty ones left out.

    Args:
        page: a `pymupdf.Page`.

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
    )
    content = page.get_text("dict", flags=flags, sort=False)
    matrix = page.rotation_matrix if page.rotation else None
    blocks = [
        lines
        for block in content["blocks"]
        if (lines := [line for raw in block["lines"] if (line := _read_line(raw, matrix))])
    ]
    return Page(page.number + 1, page.rect.width, page.rect.height, blocks)


def _read_line(raw: dict[str, Any], matrix: Any) -> Line | None:
    spans = raw["spans"]
    main = spans[0] if len(spans) == 1 else max(spans, key=_span_length)
    printed = main["text"] if len(spans) == 1 else "".join([span["text"] for span in spans])
    text = clean_line(printed)
    if not text:
        return None
    box, direction = raw["bbox"], raw["dir"]
    if matrix is not None:
        box, direction = _turn(box, direction, matrix)
    upright = raw["wmode"] == 0 and direction[0] > 0.9
    font, flags = main["font"], main["flags"]
    return Line(
        text=text,
        printed=printed,
        box=(box[0], box[1], box[2], box[3]),
        size=main["size"],
        bold=bool(flags & _BOLD_FLAG) or is_bold_name(font),
        italic=bool(flags & _ITALIC_FLAG),
        font=font,
        upright=upright,
    )


@cache
def is_bold_name(font: str) -> bool:
    """Tell whether a font's name says that it is bold."""
    return _BOLD_NAME.search(font) is not None


def _span_length(span: dict[str, Any]) -> int:
    return len(span["text"].strip())


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
    return (
        round(min(box[0] for box in boxes), 1),
        round(min(box[1] for box in boxes), 1),
        round(max(box[2] for box in boxes), 1),
        round(max(box[3] for box in boxes), 1),
    )
