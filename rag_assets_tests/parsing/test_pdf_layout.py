from dataclasses import replace

import pymupdf
import pytest

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.cleaning import clean_line, close_line, join_texts
from rag_assets.parsing.pdf.direction import in_logical_order
from rag_assets.parsing.pdf.printed import render_attachment
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_layouts import (
    PROSE,
    Draw,
    front,
    make_layout,
    picture,
    prose,
    rule,
    text,
)
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract

NARROW = ("Light raises the yield of the cell", "when the lamp stands close to the", "glass.")


def parse_bytes(data: bytes) -> ParsedDocument:
    document = parse_document(data, ParseHints(".pdf"), make_settings())
    assert_keeps_the_contract(document)
    return document


def parse(*pages: list[Draw]) -> ParsedDocument:
    return parse_bytes(make_layout(pages))


def texts_of(document: ParsedDocument, kind: str) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if b.kind == kind]


def figure_page(*, broken: bool = False) -> list[Draw]:
    return [
        front(),
        prose(70, 110),
        picture(100, 180, 300, 320, broken=broken),
        text(180, 250, "lamp", size=7),
        text(100, 338, "Figure 3. The flow cell, with its lamp."),
        prose(70, 380),
    ]


# Reading order


def test_columns_whose_lines_the_file_mixes_are_read_one_after_the_other() -> None:
    page: list[Draw] = [front()]
    for row in range(8):
        page += [
            text(60, 140 + 30 * row, f"Left column line number {'abcdefgh'[row]} is here."),
            text(320, 140 + 30 * row, f"Right column line number {'abcdefgh'[row]} is here."),
        ]
    written = parse(page).text
    order = [written.index(f"Left column line number {name}") for name in "abcdefgh"]
    order += [written.index(f"Right column line number {name}") for name in "abcdefgh"]
    assert order == sorted(order)


def test_three_columns_are_read_from_left_to_right() -> None:
    page: list[Draw] = [front()]
    for row in range(8):
        page += [
            text(x, 140 + 30 * row, f"{name} piece of the text, number {'abcdefgh'[row]}", size=9)
            for x, name in ((50, "Leftmost"), (220, "In the middle"), (390, "Rightmost"))
        ]
    written = parse(page).text
    assert written.index("Leftmost piece of the text, number h") < written.index(
        "In the middle piece of the text, number a"
    )
    assert written.index("In the middle piece of the text, number h") < written.index(
        "Rightmost piece of the text, number a"
    )


def test_a_native_order_that_reads_well_is_kept() -> None:
    page = [front(), prose(60, 140, NARROW), prose(60, 200, NARROW), prose(320, 140, NARROW)]
    document = parse(page)
    starts = [block.bbox for block in document.blocks if block.kind == "paragraph"]
    assert [round(box[0]) for box in starts if box is not None] == [60, 60, 320]


def test_a_page_turned_by_its_rotation_reads_as_it_is_shown() -> None:
    document = pymupdf.open(stream=make_layout([[front(), prose(70, 110)]]))
    upright = parse_bytes(document.tobytes())
    document[0].set_rotation(180)
    turned = parse_bytes(document.tobytes())
    assert sorted(turned.text.split()) == sorted(upright.text.split())


# Divided words


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (("A self-supervised set.", "It is self-", "supervised too."), "is self-supervised"),
        (("A photocatalyst is used.", "It is a photo-", "catalyst."), "a photocatalyst."),
        (("It was done in state-of-", "the art ways, all told."), "in state-of-the art ways"),
        (("This is the COVID-", "19 ward of the clinic."), "the COVID-19 ward"),
        (("It holds for pre-", "and postoperative care."), "for pre- and postoperative care"),
        (("It is the compu-", "tation of the yield."), "the computation of"),
        (("It is by Addison-", "Wesley and others."), "by Addison-Wesley and"),
    ],
)  # fmt: skip
def test_hyphens_at_line_ends_follow_the_documents_own_words(
    lines: tuple[str, ...], joined: str
) -> None:
    assert joined in parse([front(), prose(70, 110, lines)]).text


def test_settled_hyphens_leave_no_mark() -> None:
    assert join_texts("photo\u00ad", "catalyst") == ("photo", "")
    assert join_texts("self-\u2060", "made") == ("self-", "")
    assert close_line("photo\u00ad") == "photo-"
    assert close_line("self-\u2060") == "self-"
    assert clean_line("non-\u00adlinear") == "non-linear"


# Heads, feet, stamps


def test_heads_that_change_by_chapter_go() -> None:
    pages = [
        [
            text(70, 40, ["Chapter One", "Chapter Two", "Chapter Three"][index // 3], size=8),
            prose(70, 200, [f"Body {'abcdefghi'[index]} stands here, all alone."]),
            prose(70, 400),
        ]
        for index in range(9)
    ]
    document = parse(*pages)
    assert set(document.removed_templates) == {"Chapter One", "Chapter Two", "Chapter Three"}
    assert "Chapter" not in document.text


def test_first_lines_of_the_body_are_no_heads_though_they_share_a_font() -> None:
    pages = [
        [prose(70, 60, [f"The {name} sentence of this page is of the lamp." for name in names])]
        for names in zip(*[iter("abcdefghijklmnopqrstuvwxyz{|}~")] * 5, strict=False)
    ]
    document = parse(*pages)
    assert document.text.count("sentence of this page") == 30
    assert document.removed_templates == ()


def test_the_stamp_of_a_preprint_server_goes() -> None:
    page = [
        front(),
        prose(70, 110),
        lambda sheet: sheet.insert_text(
            (30, 500), "arXiv:1504.06236v2 [cs.SI] 24 Apr 2015", fontsize=16, rotate=90
        ),
    ]
    document = parse(page)
    assert "arXiv" not in document.text
    assert document.removed_templates == ("arXiv:#.#v# [cs.SI] # Apr #",)


# Captions and figures


def test_a_figure_is_a_reference_before_its_caption_and_an_attachment() -> None:
    document = parse(figure_page())
    assert "![Figure 3](attachment:fig-001)" in texts_of(document, "figure")
    assert texts_of(document, "caption") == ["Figure 3. The flow cell, with its lamp."]
    assert document.text.index("![Figure 3]") < document.text.index("Figure 3. The flow")
    (figure,) = document.attachments
    assert (figure.attachment_id, figure.kind, figure.name) == ("fig-001", "figure", "Figure 3")
    assert figure.caption == "Figure 3. The flow cell, with its lamp."
    assert figure.bbox is not None
    assert [round(edge) for edge in figure.bbox] == [100, 180, 300, 320]


def test_labels_in_a_figure_are_no_body_text_and_not_lost() -> None:
    document = parse(figure_page())
    assert any("lamp" in labels for labels in texts_of(document, "drawing"))
    assert not any(body == "lamp" for body in texts_of(document, "paragraph"))


def test_a_drawing_is_a_figure_too() -> None:
    page = [
        front(),
        prose(70, 110),
        lambda sheet: sheet.draw_circle((200, 240), 50),
        text(100, 310, "Fig. 1: A circle."),
    ]
    (figure,) = parse(page).attachments
    assert (figure.kind, figure.name) == ("figure", "Fig. 1")
    assert figure.bbox is not None
    # MuPDF's box of a stroke leaves room for its corners.
    edges = zip(figure.bbox, (150, 190, 250, 290), strict=True)
    assert all(abs(edge - drawn) <= 21 for edge, drawn in edges)


def test_a_large_image_without_caption_is_an_image_and_an_icon_is_none() -> None:
    page = [front(), prose(70, 110), picture(100, 180, 300, 320), picture(500, 700, 530, 730)]
    document = parse(page)
    (image,) = document.attachments
    assert (image.attachment_id, image.kind, image.name) == ("img-001", "image", None)
    assert "![Image](attachment:img-001)" in texts_of(document, "figure")


def test_a_sentence_that_names_a_figure_is_no_caption() -> None:
    lines = ("Figure 3 shows the flow cell with its lamp and the", "glass of it.")
    document = parse([front(), prose(70, 110), prose(70, 200, lines), picture(100, 240, 300, 320)])
    assert texts_of(document, "caption") == []


def test_a_broken_image_harms_nothing_else() -> None:
    broken, whole = parse(figure_page(broken=True)), parse(figure_page())
    assert broken.text == whole.text
    assert broken.attachments == whole.attachments


# Formulas, footnotes, lists


def test_a_formula_is_one_block_with_its_number() -> None:
    page = [
        front(),
        prose(70, 110, [*PROSE[:3], "so that we have"]),
        text(200, 185, "E = m c + x y"),
        text(480, 185, "(12)"),
        prose(70, 220, ["where the rate is known and nothing else is asked of the cell."]),
    ]
    assert texts_of(parse(page), "formula") == ["E = m c + x y (12)"]


def test_footnotes_are_told_from_the_text_above() -> None:
    page = [front(), prose(70, 110), prose(70, 600), text(70, 700, "1 A note on it.", size=7)]
    assert texts_of(parse(page), "footnote") == ["1 A note on it."]


def test_items_of_a_list_are_blocks_on_lines_of_their_own() -> None:
    items = ("- the lamp and its light,", "- the glass of the cell,", "- the pump.")
    document = parse([front(), prose(70, 110), prose(70, 200, items)])
    assert texts_of(document, "list") == list(items)
    assert "\n".join(items) in document.text
    assert {block.level for block in document.blocks if block.kind == "list"} == {1}


def test_numbered_items_count_on() -> None:
    items = ("1. the lamp and its light,", "2. the glass of the cell,", "3. the pump.")
    document = parse([front(), prose(70, 110), prose(70, 200, items)])
    assert texts_of(document, "list") == list(items)


def test_an_algorithm_between_rules_is_code() -> None:
    page = [
        front(),
        prose(70, 110),
        rule(70, 300, 178),
        text(70, 190, "Algorithm 1 Find the best lamp"),
        rule(70, 300, 195),
        prose(80, 210, ["for each lamp do", "  measure the yield", "end for"]),
        rule(70, 300, 245),
        prose(70, 280),
    ]
    assert texts_of(parse(page), "code") == ["for each lamp do\nmeasure the yield\nend for"]


# Pictures


def test_attachments_are_drawn() -> None:
    data = make_layout([figure_page()])
    document = parse_bytes(data)
    cut = pymupdf.Pixmap(render_attachment(data, document.attachments[0], dpi=72))
    assert (cut.width, cut.height) == (200, 140)


def test_a_page_that_is_not_there_cannot_be_drawn() -> None:
    data = make_layout([figure_page()])
    document = parse_bytes(data)
    figure = document.attachments[0]
    with pytest.raises(ValueError, match="page must be from 1 to 1, got 2"):
        render_attachment(data, replace(figure, page=2))
    with pytest.raises(ParseFailure, match="save it"):
        render_attachment(b"%PDF-1.7 nothing", figure)


# Drop caps, ticks and raised marks


def drawn(*pieces: tuple[float, float, str, float, str]) -> ParsedDocument:
    """Return the document of a page with (x, y, text, size, font) drawn in this order."""
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    for x, y, written, size, font in pieces:
        page.insert_text((x, y), written, fontsize=size, fontname=font)
    return parse_bytes(document.tobytes())


CAP_LINES = (
    "HE garden plots were watered every morning and",
    "the soil was kept moist through the dry weeks of",
    "the summer, as in the years before.",
)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_drop_cap_joins_its_word_wherever_the_file_draws_it(place: int) -> None:
    pieces = [
        (70.0, 80.0, "Lamps in small houses", 18.0, "hebo"),
        (70.0, 130.0, "I. INTRODUCTION", 10.0, "helv"),
        (92.0, 150.0, CAP_LINES[0], 10.0, "helv"),
        (92.0, 162.0, CAP_LINES[1], 10.0, "helv"),
        (70.0, 174.0, CAP_LINES[2], 10.0, "helv"),
    ]
    pieces.insert(place, (70.0, 162.0, "T", 28.0, "helv"))
    assert "\n\nTHE garden plots were watered" in drawn(*pieces).text


@pytest.mark.parametrize("beside", ["Control", "Journal of Lamps, an open journal"])
def test_a_large_letter_beside_a_label_or_a_new_word_is_no_drop_cap(beside: str) -> None:
    found = drawn(
        (70, 162, "A", 28, "helv"), (92, 150, beside, 10, "helv"), (92, 162, beside, 10, "helv")
    )
    assert f"A{beside}" not in found.text


def test_the_tick_of_a_form_is_no_number() -> None:
    found = drawn((70, 100, "Watered:", 11, "helv"), (140, 100, "3", 11, "zadb"))
    assert "3" not in found.text
    assert "\u2713" in found.text


@pytest.mark.parametrize(
    ("before", "mark", "written"),
    [
        ("The yield rose by 12%", "6-8", "12%^6-8"),
        ("Nobody had moved the lamps.", "1", "lamps.^1"),
        ("Each box held 3 mg", "9", "mg^9"),
        ("It weighed 20 g on the 1", "st", "the 1st"),
        ("Both were kept", "*", "kept*"),
        ("The area was 30 m", "2", "30 m2"),
        ("It was Anna Berg", "1*", "Berg^1*"),
    ],
)
def test_a_raised_mark_is_no_part_of_its_word(before: str, mark: str, written: str) -> None:
    width = pymupdf.get_text_length(before, fontname="helv", fontsize=11)
    found = drawn(
        (70, 100, before, 11, "helv"),
        (70 + width, 96, mark, 7, "helv"),
        (80 + width, 100, "here, and the doors stayed closed.", 11, "helv"),
    )
    assert written in found.text


# Right-to-left text


def spans_of(*texts: str) -> list[dict[str, object]]:
    """Return spans that stand from left to right."""
    return [{"text": text, "bbox": (10.0 * i, 0, 10.0 * i + 9, 9)} for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("texts", "read"),
    [
        (("חסה", " ", "על", " ", "דוח"), "דוח על חסה"),
        ((".2018 ", "שנת", " 12.5%-", "ב", " ", "עלה"), "עלה ב-12.5% שנת 2018."),
        (("ذكر", " .2018 ", "بعام", " %12.5 ", "بنسبة"), "بنسبة 12.5% بعام 2018. ذكر"),
        (("أن", " )Berg & Hill, 2019( ", "الباحثون"), "الباحثون (Berg & Hill, 2019) أن"),
        (("أن", " (Berg & Hill, 2019) ", "الباحثون"), "الباحثون (Berg & Hill, 2019) أن"),
        (("The word ", "דוח", " and ", "חסה", " are Hebrew."), "The word דוח and חסה are Hebrew."),
    ],
)
def test_words_of_right_to_left_lines_are_read_in_their_order(
    texts: tuple[str, ...], read: str
) -> None:
    assert "".join(str(span["text"]) for span in in_logical_order(spans_of(*texts))) == read


def test_right_to_left_words_that_the_file_has_in_order_stay() -> None:
    spans = spans_of("חסה", " ", "על", " ", "דוח")[::-1]
    assert in_logical_order(spans) is spans


# Vertical text

COLUMNS = (
    "城市綠化可以降低夏季氣溫其後三年降溫",
    "幅度逐年減小研究者認為樹冠覆蓋率是主",
    "要因素而樹種的影響不顯著。",
)


def test_columns_of_vertical_chinese_are_read_from_the_right() -> None:
    pieces = [
        (400.0 - 24 * column, 100.0 + 13 * row, sign, 12.0, "china-t")
        for column, written in reversed(list(enumerate(COLUMNS)))
        for row, sign in enumerate(written)
    ]
    found = drawn(*pieces)
    assert "".join(COLUMNS) in found.text
    for block in found.blocks:
        assert block.bbox is not None
        assert block.bbox[0] >= 340
        assert block.bbox[2] <= 415


def test_a_row_of_single_signs_is_not_vertical() -> None:
    pieces = [
        (70.0 + 60 * i, 100.0 + 30 * row, sign, 12.0, "china-t")
        for row, written in enumerate(COLUMNS)
        for i, sign in enumerate(written[:6])
    ]
    text = "".join(drawn(*pieces).text.split())
    assert text.replace("|", "").replace("-", "").startswith(COLUMNS[0][:6])
