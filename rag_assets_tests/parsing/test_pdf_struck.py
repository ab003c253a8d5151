"""What a page shows struck is not read as if the page said it; other lines strike nothing."""

from collections.abc import Callable
from typing import Any

import pymupdf
import pytest

from rag_assets.model import ParsedDocument
from rag_assets_tests.parsing.test_pdf_hidden import SEEN, page_of, read, source

TEXT = "The dose is 850 mg 250 mg a day."
LEFT = 72.0
BASE = 200.0
Draw = Callable[[Any, float, float], None]


def edges(words: str, size: float = 11) -> tuple[float, float]:
    before = TEXT[: TEXT.index(words)]
    start = LEFT + pymupdf.get_text_length(before, fontsize=size)
    return start, start + pymupdf.get_text_length(words, fontsize=size)


def parsed(draw: Draw, words: str = "850 mg", rotation: int = 0) -> ParsedDocument:
    def both(page: Any, text: str) -> None:
        page.insert_text((LEFT, BASE), text)
        draw(page, *edges(words))
        page.set_rotation(rotation)

    return read(page_of(both, TEXT))


def line(page: Any, left: float, right: float) -> None:
    page.draw_line((left, BASE - 3), (right, BASE - 3), width=0.6)


def line_below_the_text(page: Any, left: float, right: float) -> None:
    page.draw_line((left, BASE - 3), (right, BASE - 3), width=0.6, overlay=False)


def low_rectangle(page: Any, left: float, right: float) -> None:
    page.draw_rect((left, BASE - 3.4, right, BASE - 2.6), color=None, fill=(1, 0, 0))


def two_lines(page: Any, left: float, right: float) -> None:
    for height in (2.2, 4.2):
        page.draw_line((left, BASE - height), (right, BASE - height), width=0.4)


def note(page: Any, left: float, right: float) -> None:
    page.add_strikeout_annot(pymupdf.Rect(left, BASE - 11, right, BASE + 3))


def note_without_appearance(page: Any, left: float, right: float) -> None:
    note(page, left, right)
    page.parent.xref_set_key(page.first_annot.xref, "AP", "null")


STRIKES = [line, line_below_the_text, low_rectangle, two_lines, note, note_without_appearance]


@pytest.mark.parametrize("strike", STRIKES, ids=lambda draw: draw.__name__)
def test_struck_words_are_left_out_and_the_report_shows_them(strike: Draw) -> None:
    document = parsed(strike)
    assert document.text == f"{SEEN}\n\nThe dose is 250 mg a day."
    (warning,) = document.warnings
    assert "struck" in warning
    assert "850" in warning


@pytest.mark.parametrize("strike", STRIKES, ids=lambda draw: draw.__name__)
def test_a_whole_struck_line_is_left_out(strike: Draw) -> None:
    assert parsed(strike, TEXT).text == SEEN


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_turned_page_shows_struck_words_too(rotation: int) -> None:
    assert "850" not in parsed(line, rotation=rotation).text


def test_text_that_runs_up_the_page_is_struck_by_an_upright_line() -> None:
    def draw(page: Any, text: str) -> None:
        page.insert_text((300, 500), text, rotate=90)
        wide = pymupdf.get_text_length(text, fontsize=11)
        page.draw_line((297, 500), (297, 500 - wide), width=0.6)

    assert "850" not in read(page_of(draw, TEXT)).text


def underline(page: Any, left: float, right: float) -> None:
    page.draw_line((left, BASE + 1.5), (right, BASE + 1.5), width=0.6)


def overline(page: Any, left: float, right: float) -> None:
    page.draw_line((left, BASE - 9), (right, BASE - 9), width=0.6)


def rule_of_a_table(page: Any, left: float, right: float) -> None:
    page.draw_line((left - 40, BASE - 3), (right + 300, BASE - 3), width=0.6)


def white_line(page: Any, left: float, right: float) -> None:
    page.draw_line((left, BASE - 3), (right, BASE - 3), width=0.6, color=(1, 1, 1))


def highlight(page: Any, left: float, right: float) -> None:
    page.add_highlight_annot(pymupdf.Rect(left, BASE - 11, right, BASE + 3))


def underlining_note(page: Any, left: float, right: float) -> None:
    page.add_underline_annot(pymupdf.Rect(left, BASE - 11, right, BASE + 3))


def link(page: Any, left: float, right: float) -> None:
    page.draw_rect((left - 1, BASE - 10, right + 1, BASE + 3), color=(0, 0, 1), width=0.5)


def crossing_out(page: Any, left: float, right: float) -> None:
    page.draw_line((left, BASE), (right, BASE - 8), width=0.6)


@pytest.mark.parametrize(
    "draw",
    [
        underline, overline, rule_of_a_table, white_line, highlight,
        underlining_note, link, crossing_out,
    ],
    ids=lambda draw: draw.__name__,
)  # fmt: skip
def test_other_lines_strike_nothing(draw: Draw) -> None:
    document = parsed(draw)
    assert TEXT in document.text
    assert document.warnings == ()


def test_the_bar_of_a_fraction_strikes_neither_part() -> None:
    def draw(page: Any, text: str) -> None:
        page.insert_text((72, BASE), "The ratio is")
        page.insert_text((140, BASE - 6), "a + b", fontsize=10)
        page.insert_text((140, BASE + 7), "c + d", fontsize=10)
        page.draw_line((140, BASE - 3.5), (166, BASE - 3.5), width=0.5)

    document = read(page_of(draw))
    assert "a + b" in document.text
    assert "c + d" in document.text
    assert document.warnings == ()


def test_a_struck_number_with_an_exponent_goes_with_it() -> None:
    def draw(page: Any, text: str) -> None:
        source(page, " BT /helv 11 Tf 72 600 Td (We found 10) Tj 4 Ts /helv 7 Tf (5) Tj 0 Ts "
                     "/helv 11 Tf ( cells here.) Tj ET 0.6 w 119 603 m 136 603 l S")  # fmt: skip

    text = read(page_of(draw)).text
    assert "We found cells here." in text
