"""Workbooks: what a reader sees on their sheets, and hostile ones that end with a reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import ParsedDocument, ParseFailure, hash_bytes
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.cell_looks import compile_format, show_general
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_sheets import (
    DRAWING,
    MAIN,
    biff8,
    make_ods,
    make_xls,
    make_xlsx,
    relations_xml,
    sheet_xml,
)
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract, parse_or_known_reason
from rag_assets_tests.parsing.test_real_papers import files_below


def parse(data: bytes) -> ParsedDocument:
    document = parse_document(data, ParseHints(".xlsx"), make_settings())
    assert_keeps_the_contract(document)
    return document


def reason(data: bytes) -> str:
    with pytest.raises(ParseFailure) as caught:
        parse(data)
    return caught.value.reason_code


def cuts(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def read(*rows: Any, tail: str = "", **more: Any) -> list[str]:
    document = parse(make_xlsx({"S": sheet_xml(rows, tail)}, **more))
    return [text for kind, text in cuts(document) if kind != "heading"]


def test_sheets_stand_in_order_under_their_names() -> None:
    one = sheet_xml([["a", "b"], [1, 2]])
    document = parse(make_xlsx({"Zwei": one, "Empty": sheet_xml([]), "一": one}))
    assert cuts(document) == [
        ("heading", "Zwei"), ("row", "a 1: b = 2"), ("heading", "一"), ("row", "a 1: b = 2"),
    ]  # fmt: skip
    assert [section.title for section in document.sections] == ["Zwei", "一"]
    assert document.metadata["sheets"] == "Zwei; Empty; 一"


def test_groups_of_years_and_units_are_names_of_columns() -> None:
    merged = '<mergeCells><mergeCell ref="B1:C1"/><mergeCell ref="A1:A2"/></mergeCells>'
    rows = [
        ["House", "Red", None, "Blue", None], [None, 2001, 2002, 2001, 2002],
        ["East", 251, 263, 198, 201], ["West", 252, None, 197, 203],
    ]  # fmt: skip
    assert read(*rows, tail=merged) == [
        "House East: Red / 2001 = 251; Red / 2002 = 263; Blue / 2001 = 198; Blue / 2002 = 201",
        "House West: Red / 2001 = 252; Blue / 2001 = 197; Blue / 2002 = 203",
    ]
    units = read(["Sample", "Mass", "Heat"], [None, "mg", "(°C)"], ["s1", 5, 21.4], ["s2", 6, 22])
    assert units == [
        "Sample s1: Mass (mg) = 5; Heat (°C) = 21.4", "Sample s2: Mass (mg) = 6; Heat (°C) = 22",
    ]  # fmt: skip
    assert read(["Sample", "Mass"], [None, "mg"], ["s1", 5]) == ["Sample s1: Mass (mg) = 5"]
    # A first row of data is no row of units.
    data = read(["Name", "Mass", "Heat"], ["a", "low", None], ["b", 5, 6], ["c", 6, 7])
    assert data[0] == "Name a: Mass = low"


def test_values_are_shown_as_the_sheet_shows_them() -> None:
    error = '<c t="e"><v>#DIV/0!</v></c>'
    cached = '<c t="str"><f>A1</f><v>cached</v></c>'
    names = ["error", "truth", "noise", "share", "day", "money", "moment", "mass", "hours", "cell"]
    values = [
        error, True, 0.1 + 0.2, (0.256, 1), (45352, 2), (1234.5, 3), (45352.75, 4), (12.5, 5),
        (1.5, 6), cached,
    ]  # fmt: skip
    (row,) = read(names, values)
    assert row.split("; ") == [
        "error = #DIV/0!", "truth = TRUE", "noise = 0.3", "share = 25.6%", "day = 2024-03-01",
        "money = 1234.50", "moment = 2024-03-01 18:00", "mass = 12.5 kg", "hours = 36:00:00",
        "cell = cached",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("General", 1e20, "1E+20"),
        ("0", -0.4, "0"),
        ("0.0", 0.25, "0.3"),
        ("#,##0.00;[Red](#,##0.00)", -1234.5, "-1234.50"),
        ("00000", 42, "00042"),
        ("0.0,,", 12_345_678, "12.3"),
        ("[$€-407]#,##0.00", 3, "€3.00"),
        ('yyyy"年"m"月"d"日"', 45352, "2024-03-01"),
        ("[$-404]e/m/d", 45352, "2024-03-01"),
        ("mmm-yy", 45352, "2024-03"),
        ("h:mm AM/PM", 0.75, "18:00"),
        ("m/d/yyyy", 59, "1900-02-28"),
        ("m/d/yyyy", 61, "1900-03-01"),
        ("m/d/yyyy", -1, "-1"),
        ("m/d/yyyy", 1e9, "1000000000"),
        ("# ?/?", 0.5, "0.5"),
        ("@", 7, "7"),
        (";;;", 7, "7"),
        ('"<"0', 7, "<7"),
        ("0.00E+00", 12345, "12345"),
    ],
)
def test_a_number_format_is_obeyed(code: str, value: float, shown: str) -> None:
    assert compile_format(code)(value) == shown


def test_days_may_count_from_1904() -> None:
    assert read(["day"], [(43890, 2)], properties='date1904="1"') == ["day", "2024-03-01"]


@given(st.floats(-1e300, 1e300), st.text('0#?.,%ymdhs/;[]"\\_* @E+-€G'))
def test_any_format_shows_any_number(value: float, code: str) -> None:
    assert isinstance(compile_format(code)(value), str)
    assert float(show_general(value)) == pytest.approx(value, rel=1e-14)


def test_shared_strings_are_read_without_their_pronunciation() -> None:
    strings = (
        "<si><r><t>two </t></r><r><t>runs</t></r></si>"
        "<si><t>東京</t><rPh><t>トウキョウ</t></rPh></si><si><t>a_x000D_b</t></si>"
    )
    shared = [f'<c t="s"><v>{index}</v></c>' for index in range(3)]
    inline = '<c t="inlineStr"><is><t>大阪</t><rPh><t>オオサカ</t></rPh></is></c>'
    assert read([*shared, inline], strings=strings) == ["two runs; 東京; a b; 大阪"]


def test_a_number_of_a_string_that_is_not_there_is_an_empty_cell() -> None:
    assert read(["a", '<c t="s"><v>99</v></c>']) == ["a"]


def test_blank_rows_part_tables_and_lone_cells_are_paragraphs() -> None:
    document = parse(
        make_xlsx(
            {
                "S": sheet_xml(
                    [["Title of it all"], ["n", "v"], ["a", 1], ["b", 2], [],
                     ["when", "where"], ["2024-01-01", "here"], ["2024-01-02", "there"], [],
                     ["Source: nobody"]]
                )
            }
        )
    )  # fmt: skip
    assert cuts(document)[1:] == [
        ("paragraph", "Title of it all"),
        ("row", "n a: v = 1"),
        ("row", "n b: v = 2"),
        ("row", "when 2024-01-01: where = here"),
        ("row", "when 2024-01-02: where = there"),
        ("paragraph", "Source: nobody"),
    ]


def test_a_blank_row_inside_a_table_does_not_end_its_header() -> None:
    assert read(["n", "v"], ["a", 1], ["b", 2], [], ["c", 3]) == [
        "n a: v = 1", "n b: v = 2", "n c: v = 3",
    ]  # fmt: skip


def test_an_empty_column_inside_a_table_does_not_part_it() -> None:
    assert read(
        ["Title"], ["n", "v", None, "when", "where"], ["a", 1, None, "2024-01-01", "here"]
    ) == ["Title", "n a: v = 1; when = 2024-01-01; where = here"]  # fmt: skip


def test_two_rows_of_names_are_joined() -> None:
    tail = '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>'
    assert (
        read(
            ["city", "2022", None, "2023", None],
            [None, "rain", "sun", "rain", "sun"],
            ["Oslo", 1, 2, 3, 4],
            ["Rome", 5, 6, 7, 8],
            tail=tail,
        )[0]
        == "city Oslo: 2022 / rain = 1; 2022 / sun = 2; 2023 / rain = 3; 2023 / sun = 4"
    )


def test_a_label_merged_over_rows_stands_in_each() -> None:
    tail = '<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>'
    rows = read(["group", "n"], ["north", 1], [None, 2], ["south", 3], tail=tail)
    assert rows == ["group north: n = 1", "group north: n = 2", "group south: n = 3"]


def test_a_form_is_read_as_names_with_values() -> None:
    assert read(["Name:", "Ada"], ["Born:", 1815], ["Field:", "mathematics"]) == [
        "Name: Ada", "Born: 1815", "Field: mathematics",
    ]  # fmt: skip


def test_formulas_without_result_are_said() -> None:
    document = parse(make_xlsx({"S": sheet_xml([["a", "<c><f>1+1</f></c>"]])}))
    assert document.warnings[0].startswith("1 formulas have no stored result")


PNG = b"\x89PNG\r\n\x1a\n made up"


def with_extras(**changed: str) -> bytes:
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations_xml(
            ("c", "comments", "../comments1.xml"), ("d", "drawing", "../drawings/drawing1.xml")
        ),
        "xl/comments1.xml": f'<comments xmlns="{MAIN}"><commentList><comment ref="B2"><text><r><t>'
        "Check </t></r><r><t>this</t></r></text></comment></commentList></comments>",
        "xl/drawings/drawing1.xml": f'<wsDr xmlns:a="{DRAWING}/main" xmlns:r='
        '"http://schemas.openxmlformats.org/officeDocument/2006/relationships"><anchor><sp><txBody>'
        "<a:p><a:r><a:t>In a </a:t></a:r><a:r><a:t>box</a:t></a:r></a:p></txBody></sp></anchor>"
        '<anchor><pic><nvPicPr><cNvPr name="Picture 1" descr="A [small] cat"/></nvPicPr><a:blip '
        'r:embed="i"/></pic></anchor></wsDr>',
        "xl/drawings/_rels/drawing1.xml.rels": relations_xml(("i", "image", "../media/image1.png")),
        "xl/media/image1.png": PNG,
    }
    return make_xlsx({"S": sheet_xml([["a", "b"], [1, 2]])}, extra={**parts, **changed})


def test_notes_text_boxes_and_pictures_follow_the_cells() -> None:
    document = parse(with_extras())
    assert cuts(document)[1:] == [
        ("row", "a 1: b = 2"),
        ("note", "B2: Check this"),
        ("paragraph", "In a box"),
        ("figure", "![image](attachment:img-001)"),
    ]
    (image,) = document.attachments
    assert (image.media_type, image.content, image.content_hash) == (
        "image/png", PNG, hash_bytes(PNG),
    )  # fmt: skip
    assert document.text[image.start : image.end].endswith("(attachment:img-001)")


def test_a_broken_list_of_notes_harms_nothing_else() -> None:
    document = parse(with_extras(**{"xl/comments1.xml": "<broken"}))
    assert "attachment:img-001" in document.text
    assert "Check this" not in document.text
    assert "xl/comments1.xml" in document.warnings[0]


def test_a_cell_in_the_last_corner_costs_nothing() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    data = make_xlsx({"S": sheet_xml([["a"]]).replace("</sheetData>", far + "</sheetData>")})
    assert cuts(parse(data))[1:] == [("paragraph", "a"), ("paragraph", "2")]


def test_entities_are_hostile() -> None:
    bomb = sheet_xml([["a"]]).replace("?>", '?><!DOCTYPE x [<!ENTITY a "aaaa">]>', 1)
    assert reason(make_xlsx({"S": bomb})) == "hostile_file"


def test_a_package_that_inflates_beyond_the_limit_is_hostile() -> None:
    blank = " " * 60_000_000
    assert reason(make_xlsx({"S": sheet_xml([["a"]], tail=blank)})) == "hostile_file"


def test_cut_and_changed_workbooks_are_damaged() -> None:
    data = make_xlsx({"S": sheet_xml([["a", "b"], [1, 2]] * 50)})
    assert reason(data[: len(data) // 2]) == "damaged_file"
    assert reason(make_xlsx({"S": sheet_xml([["a"]])[:-30]})) == "damaged_file"


def test_a_workbook_without_a_filled_cell_is_empty() -> None:
    assert reason(make_xlsx({"S": sheet_xml([])})) == "empty_file"


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=12))
def test_a_broken_workbook_gives_a_document_or_a_known_reason(
    changes: list[tuple[int, int]],
) -> None:
    data = bytearray(with_extras())
    for place, value in changes:
        data[place % len(data)] = value
    parse_or_known_reason(bytes(data), ".xlsx")


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.text("ab 光:;.", max_size=5)
)


@given(st.lists(st.lists(VALUES, max_size=5), min_size=1, max_size=9))
def test_no_letter_of_a_sheet_is_lost(rows: list[list[Any]]) -> None:
    source = "".join(value for row in rows for value in row if isinstance(value, str))
    if not any(value is not None and str(value).strip() for row in rows for value in row):
        return
    text = parse(make_xlsx({"S": sheet_xml(rows)})).text
    # A header that stands again is left out, however many empty cells follow it.
    filled = [
        [(place, v) for place, v in enumerate(row) if v is not None and str(v).strip()]
        for row in rows
    ]
    repeated = any(row == other for i, row in enumerate(filled) for other in filled[:i])
    for character in "" if repeated else "ab光":
        assert text.count(character) >= source.count(character)


def test_an_old_workbook_is_read() -> None:
    records = biff8("光", [["name", "n", "ok"], ["a", 0.5, True], ["b", 2.0, False]])
    document = parse_document(make_xls(records), ParseHints(".xls"), make_settings())
    assert document.media_type == "application/vnd.ms-excel"
    assert cuts(document) == [
        ("heading", "光"),
        ("row", "name a: n = 0.5; ok = TRUE"),
        ("row", "name b: n = 2; ok = FALSE"),
    ]
    (warning,) = document.warnings
    assert warning.startswith("Hidden rows and columns of this format cannot be recognised")


CELL = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"


def test_an_opendocument_sheet_is_read_as_it_is_shown() -> None:
    note = "<office:annotation><text:p>look</text:p></office:annotation>"
    body = (
        '<table:table table:name="Eins"><table:table-row>'
        + CELL.format("", "name") + CELL.format(' table:number-columns-repeated="1"', "when")
        + "</table:table-row><table:table-row>" + CELL.format("", "a<text:s/>b" + note)
        + CELL.format(' office:date-value="2024-03-01"', "01.03.24")
        + "</table:table-row></table:table>"
        '<table:table table:name="Zwei" table:style-name="h"><table:table-row>'
        + CELL.format("", "25 %") + "</table:table-row></table:table>"
    )  # fmt: skip
    styles = (
        '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    )
    document = parse_document(make_ods(body, styles=styles), ParseHints(".ods"), make_settings())
    assert cuts(document) == [
        ("heading", "Eins"), ("row", "name a b: when = 2024-03-01"), ("note", "A2: look"),
    ]  # fmt: skip
    assert "1 hidden (“sheet Zwei: 25 %”)" in document.warnings[0]


def test_repeated_cells_of_an_opendocument_bomb_are_hostile() -> None:
    repeated = CELL.format(' table:number-columns-repeated="16384"', "x")
    body = f'<table:table><table:table-row table:number-rows-repeated="1048576">{repeated}</table:table-row></table:table>'  # noqa: E501
    assert reason(make_ods(body)) == "hostile_file"


def test_an_encrypted_opendocument_sheet_says_so() -> None:
    assert reason(make_ods("", manifest="<encryption-data/>")) == "password_required"


def test_the_difficult_workbooks_end_as_their_manifest_says() -> None:
    wrong = []
    for path in files_below("nasty/office/xlsx", "*.xls*"):
        told = next(
            entry
            for line in (path.parents[1] / "manifest.jsonl").read_text().splitlines()
            if (entry := json.loads(line))["path"].endswith(f"xlsx/{path.name}")
        )
        try:
            parse(path.read_bytes())
            outcome = "ok"
        except ParseFailure as failure:
            outcome = failure.reason_code
        expected = {
            "valid": {"ok"},
            "macro": {"ok"},
            "password": {"password_required"},
            "empty": {"empty_file"},
            "bomb_like": {"ok", "hostile_file"},
        }.get(told["kind"], {"ok", "damaged_file", "unsupported_format", "empty_file"})
        if outcome not in expected:
            wrong.append((path.name, told["kind"], outcome))
    assert wrong == []
