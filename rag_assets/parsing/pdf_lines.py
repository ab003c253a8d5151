"""Printed lines of a PDF page, as PyMuPDF finds them, in native order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.pdf_library import load_pymupdf

Box = tuple[float, float, float, float]


@dataclass(slots=True)
class Line:
    """One printed line: `box` in points, origin top left; `size` of its main font in points."""

    text: str
    box: Box
    size: float
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
    if len(spans) == 1:
        text, size = clean_line(spans[0]["text"]), spans[0]["size"]
    else:
        text = clean_line("".join([span["text"] for span in spans]))
        size = max(spans, key=_span_length)["size"] if text else 0.0
    if not text:
        return None
    box, direction = raw["bbox"], raw["dir"]
    if matrix is not None:
        box, direction = _turn(box, direction, matrix)
    upright = raw["wmode"] == 0 and direction[0] > 0.9
    return Line(text, (box[0], box[1], box[2], box[3]), size, upright)


def _span_length(span: dict[str, Any]) -> int:
    return len(span["text"])


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
