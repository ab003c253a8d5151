import pymupdf

from rag_assets.model import Attachment, Block, ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_layouts import (
    Draw,
    bar,
    cells,
    front,
    make_layout,
    prose,
    rule,
    text,
)
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract

COLUMNS = (80.0, 200.0, 300.0)
ROWS = [
    ("Solvent", "Yield", "Time"),
    ("water", "12 %", "3 h"),
    ("ethanol", "45 %", "2 h"),
    ("a|b mix", "61 %", "1 h"),
]
MARKDOWN = (
    "| Solvent | Yield | Time |\n"
    "| --- | --- | --- |\n"
    "| water | 12 % | 3 h |\n"
    "| ethanol | 45 % | 2 h |\n"
    "| a\\|b mix | 61 % | 1 h |"
)


def parse(*pages: list[Draw]) -> ParsedDocument:
    document = parse_document(make_layout(pages), ParseHints(".pdf"), make_settings())
    assert_keeps_the_contract(document)
    return document


def texts_of(document: ParsedDocument, kind: str) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if b.kind == kind]


def block_of(document: ParsedDocument, kind: str) -> Block:
    return next(block for block in document.blocks if block.kind == kind)


def table_page(*, ruled: bool, caption_y: float = 190.0) -> list[Draw]:
    rules = [rule(75, 350, 198), rule(75, 350, 214), rule(75, 350, 262)] if ruled else []
    return [
        front(),
        prose(70, 110),
        text(80, caption_y, "Table 1. Yields by solvent."),
        *rules,
        cells(COLUMNS, 210, ROWS),
        prose(70, 300),
    ]


def test_a_table_without_rules_becomes_markdown() -> None:
    document = parse(table_page(ruled=False))
    assert texts_of(document, "table") == [MARKDOWN]
    assert texts_of(document, "caption") == ["Table 1. Yields by solvent."]


def test_a_ruled_table_becomes_markdown() -> None:
    assert texts_of(parse(table_page(ruled=True)), "table") == [MARKDOWN]


def test_a_table_below_or_above_its_caption_stands_in_the_order_of_the_print() -> None:
    above = parse(table_page(ruled=True, caption_y=280.0))
    assert texts_of(above, "table") == [MARKDOWN]
    assert block_of(above, "table").start < block_of(above, "caption").start
    below = parse(table_page(ruled=True))
    assert block_of(below, "caption").start < block_of(below, "table").start


def test_a_table_is_an_attachment_with_its_caption_and_place() -> None:
    document = parse(table_page(ruled=True))
    (table,) = document.attachments
    assert (table.attachment_id, table.kind, table.name) == ("tab-001", "table", "Table 1")
    assert table.caption == "Table 1. Yields by solvent."
    assert table.page == 1
    assert table.bbox is not None
    assert 195 < table.bbox[1] < table.bbox[3] < 265
    assert {b.attachment_id for b in document.blocks if b.kind in ("table", "caption")} == {
        "tab-001"
    }


def test_no_cell_is_a_paragraph_or_heading() -> None:
    document = parse(table_page(ruled=True))
    body = " ".join(texts_of(document, "paragraph") + texts_of(document, "heading"))
    assert "ethanol" not in body
    assert document.text.count("ethanol") == 1


def test_cells_that_wrap_over_lines_are_one_cell() -> None:
    rows = [
        ("Solvent", "Remark", "Time"),
        ("water", "clear at first,", "3 h"),
        ("", "then it grows dim", ""),
        ("ethanol", "clear throughout", "2 h"),
    ]
    page = [
        front(),
        prose(70, 110),
        text(80, 190, "Table 1. Remarks."),
        cells(COLUMNS, 210, rows),
    ]
    page[-1] = lambda sheet: [  # type: ignore[assignment,return-value]
        sheet.insert_text((left, 210 + y), cell, fontsize=9)
        for y, row in zip((0, 16, 26, 42), rows, strict=True)
        for left, cell in zip(COLUMNS, row, strict=True)
        if cell
    ]
    (table,) = texts_of(parse(page), "table")
    assert "| water | clear at first, then it grows dim | 3 h |" in table


def narrow_table(*bars: Draw, rows: list[str]) -> list[Draw]:
    """Each row is one printed line, with a blank at the place of the rule, 140."""

    def start(row: str) -> float:
        before = pymupdf.get_text_length(row.rpartition(" ")[0], fontsize=9)
        return 140 - before - pymupdf.get_text_length(" ", fontsize=9) / 2

    return [
        front(),
        prose(70, 110),
        text(80, 190, "Table 1. Counts."),
        *[rule(60, 200, 198 + 14 * number) for number in range(len(rows) + 1)],
        *bars,
        *[text(start(row), 208 + 14 * number, row, size=9) for number, row in enumerate(rows)],
        prose(70, 300),
    ]


def test_vertical_rules_part_cells_that_are_as_near_as_words() -> None:
    rows = ["Count Weight", "31 251", "29 118", "all 369"]
    # One piece for each row, shorter than any rule elsewhere.
    pieces = [bar(140, 198 + 14 * number, 212 + 14 * number) for number in range(len(rows))]
    (table,) = texts_of(parse(narrow_table(*pieces, rows=rows)), "table")
    assert table == ("| Count | Weight |\n| --- | --- |\n| 31 | 251 |\n| 29 | 118 |\n| all | 369 |")


def test_a_line_through_a_word_or_a_mark_of_an_axis_parts_no_cells() -> None:
    rows = ["Count Weight", "31 251", "29 118", "all 369"]
    tick = bar(140, 203, 208)
    through = bar(150, 198, 254)
    document = parse(narrow_table(tick, through, rows=rows))
    assert "Count Weight" in document.text


def test_a_cell_over_two_ruled_columns_and_columns_without_rules_stay() -> None:
    rows = [("Lamp", "Yield", ""), ("", "dry", "wet"), ("red", "12", "15"), ("blue", "31", "34")]
    lines = [
        front(),
        prose(70, 110),
        text(80, 190, "Table 1. Yields."),
        *[rule(75, 300, y) for y in (198, 226, 254)],
        bar(130, 198, 254),
        cells((80, 140, 220), 208, rows),
        prose(70, 300),
    ]
    (table,) = texts_of(parse(lines), "table")
    assert table.splitlines()[-2:] == ["| red | 12 | 15 |", "| blue | 31 | 34 |"]


TRAYS = [("No.", "Tray", "Weight"), *[(str(n), f"tray {n}", str(200 + n)) for n in range(1, 31)]]


def pages_of_a_table(*rows: tuple[str, ...], x: tuple[float, ...] = COLUMNS) -> list[list[Draw]]:
    first = [
        front(),
        prose(70, 110),
        text(80, 300, "Table 1. All trays."),
        cells(COLUMNS, 320, TRAYS),
    ]
    return [first, [cells(x, 60, rows), prose(70, 200)]]


def test_rows_of_the_next_page_belong_to_the_table_with_its_header() -> None:
    more = (("31", "tray 31", "231"), ("32", "tray 32", "232"))
    for rows in (more, (TRAYS[0], *more)):
        document = parse(*pages_of_a_table(*rows))
        (table,) = texts_of(document, "table")
        lines = table.splitlines()
        assert lines[:2] == ["| No. | Tray | Weight |", "| --- | --- | --- |"]
        assert lines[-3:] == [
            "| 30 | tray 30 | 230 |",
            "| 31 | tray 31 | 231 |",
            "| 32 | tray 32 | 232 |",
        ]
        assert len(lines) == 34
        place = document.text.index("tray 31")
        assert next(page.number for page in document.pages if page.start <= place < page.end) == 2


def test_rows_in_other_columns_on_the_next_page_are_no_part_of_the_table() -> None:
    rows = (("Lamp", "red", "12"), ("Lamp", "blue", "31"))
    (table,) = texts_of(parse(*pages_of_a_table(*rows, x=(120, 160, 380))), "table")
    assert table.endswith("| 30 | tray 30 | 230 |")


def test_text_below_a_table_is_not_part_of_it() -> None:
    document = parse(table_page(ruled=False))
    (table,) = texts_of(document, "table")
    assert "Light raises" not in table


def test_small_print_below_a_table_is_a_note_of_it() -> None:
    page = [*table_page(ruled=True), text(80, 272, "* Mean of three runs.", size=7)]
    document = parse(page)
    (note,) = [block for block in document.blocks if block.kind == "footnote"]
    assert document.text[note.start : note.end] == "* Mean of three runs."
    assert note.attachment_id == "tab-001"


def test_a_sentence_about_a_table_is_no_caption() -> None:
    lines = ("Table 1 shows the yields of all of the solvents in this", "set of runs, by the hour.")
    document = parse([front(), prose(70, 110), prose(70, 190, lines)])
    assert texts_of(document, "caption") == []
    assert document.attachments == ()


def test_a_table_over_both_columns_leaves_the_columns_alone() -> None:
    narrow = ("Light raises the yield of the cell", "when the lamp stands close to the", "glass.")
    rows = [("Solvent", "Yield", "Time"), ("water", "12 %", "3 h"), ("ethanol", "45 %", "2 h")]
    page = [
        front(),
        text(70, 120, "Table 1. Yields by solvent, over both of the columns of this page."),
        rule(60, 540, 126),
        cells((80, 270, 450), 140, rows),
        rule(60, 540, 174),
        *[prose(60, 220 + 50 * row, narrow) for row in range(5)],
        *[prose(320, 220 + 50 * row, narrow) for row in range(5)],
    ]
    document = parse(page)
    (table,) = texts_of(document, "table")
    assert table.splitlines()[0] == "| Solvent | Yield | Time |"
    assert table.splitlines()[-1] == "| ethanol | 45 % | 2 h |"


def test_a_chinese_table_is_found_by_its_caption() -> None:
    rows = [("溶剂", "产率"), ("水", "12"), ("乙醇", "45")]
    page: list[Draw] = [
        front(),
        prose(70, 110),
        text(80, 190, "表1 各溶剂的产率", font="china-s"),
        lambda sheet: [  # type: ignore[list-item,return-value]
            sheet.insert_text((x, 210 + 14 * n), cell, fontsize=9, fontname="china-s")
            for n, row in enumerate(rows)
            for x, cell in zip((80, 200), row, strict=True)
        ],
    ]
    document = parse(page)
    assert texts_of(document, "table") == [
        "| 溶剂 | 产率 |\n| --- | --- |\n| 水 | 12 |\n| 乙醇 | 45 |"
    ]
    assert [(item.kind, item.name) for item in document.attachments] == [("table", "表1")]


def test_attachments_keep_the_contract_of_their_order() -> None:
    document = parse(table_page(ruled=True), table_page(ruled=False))
    assert [item.attachment_id for item in document.attachments] == ["tab-001", "tab-002"]
    starts = [item.start for item in document.attachments]
    assert all(isinstance(item, Attachment) for item in document.attachments)
    assert starts == sorted(start for start in starts if start is not None)


GROUPED = [
    (80.0, 210.0, "Lamp"),
    (225.0, 210.0, "2019"),
    (385.0, 210.0, "2020"),
    *((x, 226.0, name) for x, name in zip((180, 260, 340, 420), ("Dry", "Wet") * 2, strict=True)),
]
VALUES = [("red", "1.5", "2.5", "3.5", "4.5"), ("blue", "5.5", "6.5", "7.5", "8.5")]
FIVE = (80.0, 180.0, 260.0, 340.0, 420.0)


def placed(words: list[tuple[float, float, str]]) -> list[Draw]:
    return [text(x, y, word, 9) for x, y, word in words]


def grouped_table(*rules: Draw) -> list[Draw]:
    caption = text(80, 190, "Table 1. Yields by lamp.")
    return [front(), prose(70, 110), caption, *rules, *placed(GROUPED), cells(FIVE, 244, VALUES)]


def test_names_over_several_columns_are_part_of_the_name_of_each() -> None:
    ruled = [rule(75, 460, y) for y in (198, 231, 268)]
    under = [rule(175, 290, 215), rule(335, 450, 215)]
    (table,) = texts_of(parse(grouped_table(*ruled, *under)), "table")
    assert table.splitlines() == [
        "| Lamp | 2019 / Dry | 2019 / Wet | 2020 / Dry | 2020 / Wet |",
        "| --- | --- | --- | --- | --- |",
        "| red | 1.5 | 2.5 | 3.5 | 4.5 |",
        "| blue | 5.5 | 6.5 | 7.5 | 8.5 |",
    ]


def grid(*, inner: float) -> list[Draw]:
    """A grid of three columns whose first column has one cell for two rows.

    Args:
        inner: where the rule between these rows begins.
    """
    rules = [rule(75, 350, y) for y in (198, 214, 250)]
    rules.append(rule(inner, 350, 232))
    bars = [bar(x, 198, 250) for x in (75, 190, 290, 350)]
    rows = [(80, 227, "oak") if inner < 100 else (80, 235, "oak"), (200, 227, "12.5")]
    rows += [(300, 227, "3.5"), (200, 245, "45.5"), (300, 245, "2.5")]
    head = cells(COLUMNS, 210, [("Tree", "Height", "Count")])
    return [*rules, *bars, head, *placed([(float(x), float(y), word) for x, y, word in rows])]


def test_a_cell_over_two_rows_holds_for_both_and_needs_no_caption() -> None:
    head = ["| Tree | Height | Count |", "| --- | --- | --- |"]
    for inner, second in ((190.0, "| oak | 45.5 | 2.5 |"), (75.0, "| | 45.5 | 2.5 |")):
        document = parse([front(), prose(70, 110), *grid(inner=inner), prose(70, 300)])
        (table,) = texts_of(document, "table")
        assert table.splitlines() == [*head, "| oak | 12.5 | 3.5 |", second]
        assert document.attachments[0].name is None


def test_the_rule_above_a_sum_joins_no_rows() -> None:
    rows = [("Item", "Cost", "Count"), ("lamps", "10.5", "3"), ("seeds", "5.5", "4")]
    for names in (("lamps", "seeds", "total"), ("", "", "total")):
        body = [
            (name, *row[1:])
            for name, row in zip(names, [*rows[1:], ("", "16.0", "7")], strict=True)
        ]
        rules = [rule(75, 350, y) for y in (198, 214, 252)]
        page = [front(), prose(70, 110), text(80, 190, "Table 1. Costs."), *rules]
        page += [rule(190, 350, 239), cells(COLUMNS, 210, [rows[0], *body])]
        (table,) = texts_of(parse([*page, prose(70, 300)]), "table")
        written = [" | ".join(cell for cell in row).join(("| ", " |")) for row in body]
        assert [line.replace("| |", "|  |") for line in table.splitlines()[2:]] == written


def test_framed_prose_and_the_lines_of_a_plot_are_no_table() -> None:
    frame = [rule(65, 350, 100), rule(65, 350, 160), bar(65, 100, 160), bar(350, 100, 160)]
    plot = [rule(100, 300, y) for y in (300, 330, 360)]
    plot += [bar(x, 300, 360) for x in (100, 150, 200, 250, 300)]
    page = [front(), *frame, prose(70, 115), *plot, text(105, 320, "peak", 6)]
    assert not texts_of(parse(page), "table")


def test_a_sideways_table_is_read_as_its_reader_turns_it() -> None:
    def sideways(page: pymupdf.Page) -> None:
        lines = [(100, "Table 1. Yields by solvent."), (120, "Solvent"), (136, "water")]
        for x, words in [*lines, (152, "ethanol")]:
            page.insert_text((x, 700), words, fontsize=9, rotate=90)
        for x, first, second in (
            (120, "Yield", "Rate"),
            (136, "12 %", "3.0 h"),
            (152, "45 %", "2 h"),
        ):
            page.insert_text((x, 560), first, fontsize=9, rotate=90)
            page.insert_text((x, 460), second, fontsize=9, rotate=90)

    document = parse([front(), prose(70, 110)], [sideways])
    (table,) = texts_of(document, "table")
    assert table.splitlines() == [
        "| Solvent | Yield | Rate |",
        "| --- | --- | --- |",
        "| water | 12 % | 3.0 h |",
        "| ethanol | 45 % | 2 h |",
    ]
    box = next(block.bbox for block in document.blocks if block.kind == "table")
    assert box is not None
    assert box[0] < 120 < box[2] < 160
    assert 400 < box[1] < 460 < 700 <= box[3] + 1


def test_a_table_goes_on_below_a_caption_that_says_so() -> None:
    first, _ = pages_of_a_table(TRAYS[1])
    more = cells(COLUMNS, 60, [TRAYS[0], ("31", "tray 31", "231")])
    document = parse(first, [text(80, 40, "Table 1 (continued)"), more])
    (table,) = texts_of(document, "table")
    assert table.splitlines()[0] == "| No. | Tray | Weight |"
    assert table.splitlines()[-1] == "| 31 | tray 31 | 231 |"
    assert table.count("Weight") == 1
    # Another table of that name keeps its own header.
    other = cells(
        COLUMNS, 60, [("Soil", "Depth", "pH"), ("loam", "12 cm", "6.5"), ("clay", "9 cm", "7.1")]
    )
    assert len(texts_of(parse(first, [text(80, 40, "Table 2. Soils."), other]), "table")) == 2


def test_text_that_is_printed_twice_is_read_once() -> None:
    shadow = [prose(70 + offset, 110) for offset in (0.0, 0.4)]
    document = parse([front(), *shadow, text(80, 200, "00"), text(96, 200, "00")])
    assert document.text.count("Light raises the yield") == 1
    assert document.text.count("00") == 2
