"""Pages with tables, figures and columns, drawn by PyMuPDF."""

from collections.abc import Callable, Sequence
from typing import Any

import pymupdf

Draw = Callable[[Any], None]
PROSE = (
    "Light raises the yield of the reaction in the flow cell",
    "when the lamp stands near enough to the glass and the",
    "solution moves slowly through the cell all day long and",
    "nothing else is changed in the set of runs shown here.",
)


def make_layout(pages: Sequence[Sequence[Draw]]) -> bytes:
    document = pymupdf.open()
    for drawings in pages:
        page = document.new_page(width=595, height=842)
        for draw in drawings:
            draw(page)
    data: bytes = document.tobytes()
    document.close()
    return data


def text(x: float, y: float, words: str, size: float = 10, font: str = "helv") -> Draw:
    def draw(page: Any) -> None:
        page.insert_text((x, y), words, fontsize=size, fontname=font)

    return draw


def prose(x: float, y: float, lines: Sequence[str] = PROSE, size: float = 10) -> Draw:
    def draw(page: Any) -> None:
        for number, line in enumerate(lines):
            page.insert_text((x, y + 12 * number), line, fontsize=size)

    return draw


def rule(left: float, right: float, y: float) -> Draw:
    def draw(page: Any) -> None:
        page.draw_line((left, y), (right, y), width=0.6)

    return draw


def bar(x: float, top: float, bottom: float) -> Draw:
    def draw(page: Any) -> None:
        page.draw_line((x, top), (x, bottom), width=0.6)

    return draw


def picture(left: float, top: float, right: float, bottom: float, *, broken: bool = False) -> Draw:
    def draw(page: Any) -> None:
        pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 120, 120))
        pixels.clear_with(120)
        place = pymupdf.Rect(left, top, right, bottom)
        xref = page.insert_image(place, pixmap=pixels, keep_proportion=False)
        if broken:
            page.parent.update_stream(xref, b"no picture", compress=False)
            page.parent.xref_set_key(xref, "Filter", "/DCTDecode")

    return draw


def cells(x: Sequence[float], y: float, rows: Sequence[Sequence[str]], size: float = 9) -> Draw:
    def draw(page: Any) -> None:
        for number, row in enumerate(rows):
            for left, cell in zip(x, row, strict=True):
                if cell:
                    page.insert_text((left, y + 14 * number), cell, fontsize=size)

    return draw


def front(title: str = "Light and Yield in Flow Reactors") -> Draw:
    def draw(page: Any) -> None:
        page.insert_text((70, 50), title, fontsize=20)
        page.insert_text((70, 90), "1 Introduction", fontsize=14, fontname="hebo")

    return draw
