"""What nobody sees on a page is no evidence; what somebody sees stays."""

from collections.abc import Callable
from typing import Any

import pymupdf
import pytest

from rag_assets.model import ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.pdf.drawn import _judge, _replace_by_glyphs
from rag_assets_tests.parsing.conftest import make_settings

SEEN = "The whole award amounts to 485,000 USD for three years."
HIDDEN = "The whole award amounts to 1 USD for one year."
AT = (72, 200)
Draw = Callable[[Any, str], None]


def page_of(draw: Draw, text: str = HIDDEN) -> bytes:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.insert_text((72, 100), SEEN)
    draw(page, text)
    data: bytes = document.tobytes()
    return data


def read(data: bytes) -> ParsedDocument:
    return parse_document(data, ParseHints(".pdf"), make_settings())


def plain_picture(colour: int) -> Any:
    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 40, 40))
    picture.clear_with(colour)
    return picture


def checked_picture() -> Any:
    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 40, 40))
    for x in range(40):
        for y in range(40):
            picture.set_pixel(x, y, (250, 250, 250) if (x + y) % 2 else (30, 90, 160))
    return picture


def source(page: Any, operators: str) -> None:
    page.insert_font(fontname="helv")
    stream = page.parent.get_new_xref()
    page.parent.update_object(stream, "<<>>")
    page.parent.update_stream(stream, page.read_contents() + operators.encode())
    page.set_contents(stream)


def white(page: Any, text: str) -> None:
    page.insert_text(AT, text, color=(1, 1, 1))


def nearly_white(page: Any, text: str) -> None:
    page.insert_text(AT, text, color=(0.95, 0.96, 0.95))


def no_ink(page: Any, text: str) -> None:
    page.insert_text(AT, text, render_mode=3)


def transparent(page: Any, text: str) -> None:
    page.insert_text(AT, text, fill_opacity=0, stroke_opacity=0)


def hardly_there(page: Any, text: str) -> None:
    page.insert_text(AT, text, fill_opacity=0.03, stroke_opacity=0.03)


def tiny(page: Any, text: str) -> None:
    page.insert_text(AT, text, fontsize=0.4)


def tiny_by_scale(page: Any, text: str) -> None:
    source(page, f" q .03 0 0 .03 72 600 cm BT /helv 11 Tf ({text}) Tj ET Q")


def too_narrow(page: Any, text: str) -> None:
    source(page, f" q BT 1 Tz 72 600 Td /helv 11 Tf ({text}) Tj ET Q")


def too_flat(page: Any, text: str) -> None:
    source(page, f" q 1 0 0 .01 72 600 cm BT /helv 11 Tf ({text}) Tj ET Q")


def covered_by_a_box(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.draw_rect((60, 185, 400, 208), color=None, fill=(1, 1, 1), overlay=True)


def covered_by_a_black_box(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.draw_rect((60, 185, 400, 208), color=(0, 0, 0), fill=(0, 0, 0), overlay=True)


def covered_by_a_line(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.draw_line((60, 196), (400, 196), width=18, overlay=True)


def covered_by_an_annotation(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    note = page.add_rect_annot((60, 185, 400, 208))
    note.set_colors(fill=(0, 0, 0), stroke=(0, 0, 0))
    note.update()


def covered_by_a_picture(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.insert_image((60, 185, 400, 208), pixmap=plain_picture(255), keep_proportion=False)


def covered_by_a_motley_picture(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.insert_image((60, 185, 400, 208), pixmap=checked_picture(), keep_proportion=False)


def blue_on_blue(page: Any, text: str) -> None:
    page.draw_rect((60, 185, 400, 208), color=None, fill=(0.1, 0.2, 0.6))
    page.insert_text(AT, text, color=(0.1, 0.2, 0.6))


def black_on_black(page: Any, text: str) -> None:
    page.draw_rect((60, 185, 400, 208), color=None, fill=(0, 0, 0))
    page.insert_text(AT, text)


def white_on_a_white_picture(page: Any, text: str) -> None:
    page.insert_image((60, 185, 400, 208), pixmap=plain_picture(255), keep_proportion=False)
    page.insert_text(AT, text, color=(1, 1, 1))


def outside(page: Any, text: str) -> None:
    page.insert_text((72, -300), text)


def clipped(page: Any, text: str) -> None:
    source(page, f" q 10 10 1 1 re W n BT 72 600 Td /helv 11 Tf ({text}) Tj ET Q")


def a_layer_that_is_off(page: Any, text: str) -> None:
    page.insert_text(AT, text, oc=page.parent.add_ocg("off", on=False))


def a_hidden_annotation(page: Any, text: str) -> None:
    note = page.add_freetext_annot((72, 185, 400, 208), text)
    note.set_flags(pymupdf.PDF_ANNOT_IS_HIDDEN)
    note.update()


def in_place_of_other_glyphs(page: Any, text: str) -> None:
    glyphs = "BT 72 600 Td /helv 11 Tf (Nothing was said of it then.) Tj ET"
    source(page, f" /Span <</ActualText ({text})>> BDC {glyphs} EMC")


def under_the_text_that_is_seen(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.draw_rect((60, 185, 400, 208), color=None, fill=(1, 1, 1), overlay=True)
    page.insert_text(AT, "Leaves were counted by two of the observers.")


def behind_black_text(page: Any, text: str) -> None:
    page.insert_text(AT, text, color=(1, 1, 1))
    page.insert_text(AT, "Leaves were counted by two of the observers.")


NOT_DRAWN = {outside, clipped, a_layer_that_is_off, a_hidden_annotation}
KINDS = (
    white,
    nearly_white,
    no_ink,
    transparent,
    hardly_there,
    tiny,
    tiny_by_scale,
    too_narrow,
    too_flat,
    covered_by_a_box,
    covered_by_a_black_box,
    covered_by_a_line,
    covered_by_an_annotation,
    covered_by_a_picture,
    covered_by_a_motley_picture,
    blue_on_blue,
    black_on_black,
    white_on_a_white_picture,
    outside,
    clipped,
    a_layer_that_is_off,
    a_hidden_annotation,
    in_place_of_other_glyphs,
    under_the_text_that_is_seen,
    behind_black_text,
)


@pytest.mark.parametrize("draw", KINDS, ids=lambda draw: draw.__name__)
def test_what_nobody_sees_is_not_read_and_the_report_shows_it(draw: Draw) -> None:
    document = read(page_of(draw))
    assert SEEN in document.text
    assert "1 USD" not in document.text
    if draw not in NOT_DRAWN:
        (warning,) = document.warnings
        assert "Hidden text was left out: 1 run of text on page 1" in warning
        assert HIDDEN[:30] in warning


def on_a_dark_box(page: Any, text: str) -> None:
    page.draw_rect((60, 185, 400, 208), color=None, fill=(0.1, 0.2, 0.6))
    page.insert_text(AT, text, color=(1, 1, 1))


def on_a_thick_line(page: Any, text: str) -> None:
    page.draw_line((60, 196), (400, 196), width=18)
    page.insert_text(AT, text, color=(1, 1, 1))


def on_a_picture(page: Any, text: str) -> None:
    page.insert_image((60, 185, 400, 208), pixmap=plain_picture(60), keep_proportion=False)
    page.insert_text(AT, text, color=(1, 1, 1))


def highlighted(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.add_highlight_annot(pymupdf.Rect(60, 188, 400, 204))


def in_a_frame(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.draw_rect((60, 185, 400, 208), color=(0, 0, 0))


def grey(page: Any, text: str) -> None:
    page.insert_text(AT, text, color=(0.7, 0.7, 0.7))


def small(page: Any, text: str) -> None:
    page.insert_text(AT, text, fontsize=4)


def aslant(page: Any, text: str) -> None:
    turned = pymupdf.Matrix(45)
    page.insert_text((72, 600), text, morph=(pymupdf.Point(72, 600), turned))


def under_glass(page: Any, text: str) -> None:
    page.insert_text(AT, text)
    page.draw_rect((60, 185, 400, 208), color=None, fill=(1, 1, 0), fill_opacity=0.3)


def a_name_for_glyphs(page: Any, text: str) -> None:
    source(page, f" /Span <</ActualText ({text})>> BDC BT 72 600 Td /helv 11 Tf ({text.upper()}) "
                 "Tj ET EMC")  # fmt: skip


@pytest.mark.parametrize(
    "draw",
    [
        on_a_dark_box, on_a_thick_line, on_a_picture, highlighted, in_a_frame, grey, small, aslant,
        under_glass, a_name_for_glyphs,
    ],
    ids=lambda draw: draw.__name__,
)  # fmt: skip
def test_what_somebody_sees_is_read(draw: Draw) -> None:
    document = read(page_of(draw))
    assert HIDDEN[:-1] in document.text
    assert document.warnings == ()


def test_of_a_line_only_the_words_under_the_box_are_left_out() -> None:
    def draw(page: Any, text: str) -> None:
        page.insert_text(AT, text)
        left = pymupdf.get_text_length("The award was ", fontsize=11)
        wide = pymupdf.get_text_length("77,000", fontsize=11)
        page.draw_rect((72 + left, 190, 72 + left + wide, 203), color=None, fill=(0, 0, 0))

    document = read(page_of(draw, "The award was 77,000 for the third year."))
    assert "The award was for the third year." in document.text
    assert "77,000" in document.warnings[0]


@pytest.mark.parametrize("over", [True, False])
def test_the_recognised_text_of_a_scan_stays(over: bool) -> None:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    for line in range(20):
        page.insert_text((72, 100 + 14 * line), f"Line {line} of the scanned page.", render_mode=3)
    page.insert_image(page.rect, pixmap=checked_picture(), keep_proportion=False, overlay=over)
    page.insert_text((72, 820), "Downloaded from an archive")
    read_back = read(document.tobytes())
    assert "Line 19 of the scanned page." in read_back.text
    (warning,) = read_back.warnings
    assert "read from their pictures by another program" in warning


def test_invisible_text_beside_a_picture_on_a_printed_page_is_no_scan() -> None:
    def draw(page: Any, text: str) -> None:
        for line in range(20):
            page.insert_text((72, 300 + 14 * line), f"Line {line} that everybody can see here.")
        page.insert_text(AT, text, render_mode=3)
        page.insert_image(page.rect, pixmap=plain_picture(255), keep_proportion=False,
                          overlay=False)  # fmt: skip

    document = read(page_of(draw))
    assert "1 USD" not in document.text
    assert "Line 19 that everybody can see here." in document.text


def test_a_glyph_that_says_a_radical_has_the_character_that_the_file_states() -> None:
    line = {"bbox": (0, 0, 90, 12), "spans": [{"text": "方向与风速"}]}
    glyphs = {"bbox": (0, 0, 90, 12), "spans": [{"text": "⽅向与⻛速"}]}
    assert _replace_by_glyphs({"blocks": [{"lines": [line]}]}, [glyphs]) == []
    assert line["spans"] == [{"text": "方向与风速"}]


def test_the_drawn_page_decides_of_invisible_glyphs_that_browsers_put_over_shapes() -> None:
    span = {"text": "true", "font": "Type3 (7 0 R)", "size": 12.0, "alpha": 0, "char_flags": 16,
            "bbox": (72, 88, 100, 102)}  # fmt: skip
    hidden, doubtful = _judge([{"dir": (1.0, 0.0), "spans": [span]}], [])
    assert (hidden, doubtful) == ([], {id(span): False})
