"""A page that is interpreted once: what it draws, in order, its characters and its picture."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any  # Any: pages of PyMuPDF, its dictionaries, numpy arrays

from rag_assets.model import Box
from rag_assets.parsing.pdf.library import load_pymupdf

TEXT_BLOCK, PICTURE_BLOCK, VECTOR_BLOCK = 0, 1, 3
# What PyMuPDF writes into a block instead of text.
_VECTOR = re.compile(r"\s*<vector (\w+), color: #(\w+), alpha: (\d+), is-rect: (\w+)")
# What differs by less than a tenth of the range in every channel the eye cannot tell apart.
SAME_COLOUR = 25
WHITE = (255, 255, 255)
_OPAQUE = 255
# Fine enough for the strokes of 4 point labels: at 1 the letters run into one grey.
DOTS_PER_POINT = 2

Span = dict[str, Any]
Colour = tuple[int, int, int]


class DrawnPage:
    """A page that is interpreted once, and then read and drawn as often as needed.

    Places are those of the page before it is turned.

    Args:
        page: a `pymupdf.Page`.
        flags: with which its text is read.

    All raise RuntimeError where MuPDF cannot read or draw the page.
    """

    def __init__(self, page: Any, flags: int) -> None:
        self.page = page
        self.flags = flags
        rotation = page.rotation
        if rotation:
            page.set_rotation(0)
        self._list = page.get_displaylist()
        if rotation:
            page.set_rotation(rotation)

    @cached_property
    def blocks(self) -> list[tuple[Any, ...]]:
        """What is drawn, in order: box, text of the glyphs or description, number, kind of block.

        Pictures are only listed: their bytes are read with a dictionary alone.
        """
        pymupdf = load_pymupdf()
        more = pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_PRESERVE_IMAGES
        blocks: list[tuple[Any, ...]] = self._read(more).extractBLOCKS()
        return blocks

    @cached_property
    def log(self) -> list[tuple[str, Box]]:
        """What `page.get_bboxlog()` gives, without interpreting the page a second time."""
        pymupdf = load_pymupdf()
        mupdf = pymupdf.mupdf
        found: list[tuple[str, Box]] = []
        device = pymupdf.JM_new_bbox_device(found, False)
        everything = mupdf.FzRect(mupdf.FzRect.Fixed_INFINITE)
        mupdf.fz_run_display_list(
            self._list.this, device, mupdf.FzMatrix(), everything, mupdf.FzCookie()
        )
        mupdf.fz_close_device(device)
        return found

    def glyph_lines(self) -> list[dict[str, Any]]:
        """Return the lines of text as their glyphs are, whatever text the file gives for them."""
        return list(lines_of(self._read().extractDICT()["blocks"]))

    def characters(self, spans: Sequence[Span]) -> dict[int, list[dict[str, Any]]]:
        """Return by a span's identity its characters with their boxes; none where they differ."""
        # Not from the display list, which leaves blanks out.
        read = self.page.get_text("rawdict", flags=self.flags, clip=self.around(spans), sort=False)
        found = {
            (one["origin"], len(one["chars"])): one["chars"]
            for line in lines_of(read["blocks"])
            for one in line["spans"]
        }
        return {id(span): found.get((span["origin"], len(span["text"])), []) for span in spans}

    def around(self, spans: Sequence[Span]) -> Any:
        """Return the part of the page that holds some spans, in whole points."""
        left, top, right, bottom = zip(*(span["bbox"] for span in spans), strict=True)
        box = load_pymupdf().Rect(min(left), min(top), max(right), max(bottom))
        return (box & self._list.rect).irect

    def picture(self, area: Any) -> Any:
        """Return the dots of an area, as integers by row, column and channel."""
        import numpy as np

        matrix = load_pymupdf().Matrix(DOTS_PER_POINT, DOTS_PER_POINT)
        pixmap = self._list.get_pixmap(matrix=matrix, clip=area)
        dots = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
        return dots.astype(np.int16)

    def _read(self, more_flags: int = 0) -> Any:
        pymupdf = load_pymupdf()
        flags = self.flags | more_flags | pymupdf.TEXT_IGNORE_ACTUALTEXT
        return pymupdf.TextPage(self._list.get_textpage(flags))


def lines_of(blocks: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a dictionary's blocks."""
    for block in blocks:
        yield from block.get("lines", ())


def middle_of(box: Sequence[float]) -> tuple[float, float]:
    """Return the middle of a box."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def paint_of(vector: Sequence[Any]) -> tuple[Colour, bool, bool]:
    """Return the colour of a vector, whether it is a stroke, and whether it hides a rectangle."""
    described = _VECTOR.match(vector[4])
    if described is None:
        raise RuntimeError(f"this PyMuPDF describes a drawing in another way: {vector[4]!r}")
    how, colour, alpha, is_rectangle = described.groups()
    is_box = how == "filled" and is_rectangle == "true" and int(alpha) == _OPAQUE
    return seen_colour(int(colour, 16), int(alpha)), how == "stroked", is_box


@cache
def seen_colour(colour: int, alpha: int) -> Colour:
    """Return the colour that a colour with an opacity has on white paper; both up to 255."""
    red, green, blue = (
        round((alpha * (colour >> shift & 255) + (255 - alpha) * 255) / 255) for shift in (16, 8, 0)
    )
    return red, green, blue


@cache
def is_same_colour(one: Colour, other: Colour) -> bool:
    """Tell whether the eye cannot tell two colours apart."""
    return all(abs(a - b) <= SAME_COLOUR for a, b in zip(one, other, strict=True))
