"""Delimited text: by cells against a public set, and row by row as a reader sees it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing import ParseHints, parse_document, sniff_media_type
from rag_assets.parsing.sheets import read_csv_table
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract
from rag_assets_tests.parsing.test_real_papers import files_below

# Its csv and its json have different phone numbers upstream.
_WRONG_UPSTREAM = "location_coordinates"


def parse(data: str | bytes, extension: str = ".csv") -> ParsedDocument:
    encoded = data.encode() if isinstance(data, str) else data
    document = parse_document(encoded, ParseHints(extension), make_settings())
    assert_keeps_the_contract(document)
    return document


def rows(data: str, extension: str = ".csv") -> list[str]:
    document = parse(data, extension)
    return [document.text[b.start : b.end] for b in document.blocks if b.kind == "row"]


def test_every_table_of_csv_spectrum_has_its_cells() -> None:
    for path in files_below("nasty/csv_spectrum/csvs", "*.csv"):
        if path.stem == _WRONG_UPSTREAM:
            continue
        table = read_csv_table(path.read_bytes().decode())
        told = json.loads((path.parents[1] / "json" / f"{path.stem}.json").read_bytes())
        found = [dict(zip(table.header, row, strict=True)) for row in table.rows]
        assert found == told, path.name


def test_line_breaks_inside_cells_are_kept_by_cell_and_blanks_in_the_row() -> None:
    source = 'a,b\r\n"one\r\ntwo",5\r\n'
    assert read_csv_table(source).rows == (("one\r\ntwo", "5"),)
    assert rows(source) == ["a one two: b = 5"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_a_row(end: str) -> None:
    assert rows(end.join(["a,b", "1,2", "3,4"])) == ["a 1: b = 2", "a 3: b = 4"]


def test_decimal_commas_do_not_hide_the_semicolon() -> None:
    assert rows("1,5;2,25\n3,5;4,75\n0,5;1,25\n") == [
        "column 1 = 1,5; column 2 = 2,25",
        "column 1 = 3,5; column 2 = 4,75",
        "column 1 = 0,5; column 2 = 1,25",
    ]


def test_commas_in_prose_do_not_hide_the_tab() -> None:
    text = "name\tremark\nA\tred, green, blue\nB\tone, two\n"
    assert rows(text, ".tsv") == ["name A: remark = red, green, blue", "name B: remark = one, two"]


def test_a_separator_line_is_obeyed_and_not_shown() -> None:
    assert rows("sep=;\na;b\n1,0;2,0\n") == ["a 1,0: b = 2,0"]


def test_apostrophes_may_quote_and_backslashes_may_escape() -> None:
    assert rows("'a','b'\n'x, y','z'\n'1, 2','3'\n") == ["a x, y: b = z", "a 1, 2: b = 3"]
    assert rows('a,b\n"say \\"hi\\", then",2\n"x",3\n') == ['a say "hi", then: b = 2', "a x: b = 3"]


def test_an_apostrophe_in_prose_is_no_quotation_mark() -> None:
    assert rows("name,n\n'tis,1\nO'Neil,2\nrock 'n' roll,3\n") == [
        "name 'tis: n = 1", "name O'Neil: n = 2", "name rock 'n' roll: n = 3",
    ]  # fmt: skip


def test_a_mark_that_nothing_closes_harms_its_own_line_only() -> None:
    source = 'name,n\n"open,1\n' + "".join(f"row {i},{i}\n" for i in range(2000))
    document = parse(source)
    lines = document.text.split("\n")
    assert lines[0] == 'name "open: n = 1'
    assert lines[-1] == "name row 1999: n = 1999"
    assert len(lines) == 2001
    assert "line 2" in document.warnings[0]


def test_many_open_marks_end_in_time() -> None:
    source = "name,n\n" + "".join(f'"open {i} " x,{i}\n"odd,{i}\n' for i in range(3000))
    assert parse(source).text.count("\n") > 1000


def test_a_blank_line_parts_two_tables_only_where_the_columns_change() -> None:
    assert rows("a,b\n1,2\n\n3,4\n\nx,y,z\nred,5,6\nblue,7,8\n") == [
        "a 1: b = 2", "a 3: b = 4", "x red: y = 5; z = 6", "x blue: y = 7; z = 8",
    ]  # fmt: skip


def test_lines_above_the_header_are_paragraphs() -> None:
    document = parse("Report of the weather station\nday,rain\n2024-01-01,3\n2024-01-02,0\n")
    assert document.blocks[0].kind == "paragraph"
    assert document.text.endswith("day 2024-01-01: rain = 3\nday 2024-01-02: rain = 0")


def test_a_header_that_is_repeated_is_no_row() -> None:
    assert rows("a,b\nx,1\na,b\ny,2\n") == ["a x: b = 1", "a y: b = 2"]


def test_an_empty_name_gets_its_number_and_an_empty_column_keeps_its_name() -> None:
    assert rows("a,,c,remark\n1,2,3,\n4,5,6,\n") == [
        "a 1: column 2 = 2; c = 3",
        "a 4: column 2 = 5; c = 6",
        "remark",
    ]


def test_years_name_columns_of_other_numbers() -> None:
    assert rows("country,2021,2022\nFrance,1.5,1.6\nSpain,2.5,2.6\n")[0] == (
        "country France: 2021 = 1.5; 2022 = 1.6"
    )


def test_a_row_of_values_is_no_header() -> None:
    assert rows("Anna,1990-05-01,3\nBen,1991-06-02,4\nCem,1992-07-03,5\n")[0] == (
        "column 1 = Anna; column 2 = 1990-05-01; column 3 = 3"
    )


def test_one_column_needs_a_name_that_looks_like_one() -> None:
    assert rows("doc_id\nalpha\nbeta\n") == ["doc_id = alpha", "doc_id = beta"]
    assert rows("A first sentence.\nA second one.\n") == [
        "column 1 = A first sentence.",
        "column 1 = A second one.",
    ]


def test_a_long_name_is_written_out_once() -> None:
    question = "How satisfied are you with the service that you received " * 3
    found = rows(f"id,{question.strip()}\n1,5\n2,4\n")
    assert question.strip() in found[0]
    assert found[1].startswith("id 1: How satisfied")
    assert "… = 5" in found[1]


def test_a_line_of_two_megabytes_is_read() -> None:
    long = "word " * 400_000
    assert len(parse(f'a,b\n1,"{long}"\n').text) == len(long) + len("a 1: b = ") - 1


def test_a_hundred_thousand_columns_are_read() -> None:
    header = ",".join(f"c{i}" for i in range(100_000))
    line = ",".join(str(i) for i in range(100_000))
    assert rows(f"{header}\n{line}\n")[0].endswith("c99999 = 99999")


def test_chinese_tables_are_read_in_their_encoding() -> None:
    table = "样品,温度,备注\n" + "甲,25,光照条件下的反应\n乙,30,黑暗条件下的反应\n" * 3
    assert parse(table.encode("gb18030")).text.startswith("样品 甲: 温度 = 25; 备注 = 光照")


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("a\tb\n1\t2\n3\t4\n", "text/csv"),
        ("a,b,c\n1,2,3\n4,5,6\n", "text/csv"),
        ("One, two, three.\nFour, five, six.\nSeven, eight, nine.\n", "text/plain"),
        ("\tindented, code\n\tmore, code\n\tlast, one\n", "text/plain"),
        ("a,b,c\n1,2\n4,5,6\n", "text/plain"),
    ],
)
def test_a_table_without_name_is_found_by_its_even_records(text: str, media_type: str) -> None:
    assert sniff_media_type(text.encode(), ".dat") == media_type


def test_cells_of_blanks_alone_are_an_empty_file() -> None:
    with pytest.raises(ParseFailure) as caught:
        parse(",,\n , ,\n")
    assert caught.value.reason_code == "empty_file"


CELLS = st.text(st.sampled_from("ab1 ,;\"'\n\t|\\光"), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=8))
def test_no_visible_character_of_a_table_is_lost(table: list[list[str]]) -> None:
    quoted = [[cell.replace('"', '""') for cell in row] for row in table]
    source = "\n".join(",".join(f'"{cell}"' for cell in row) for row in quoted)
    folded = [tuple(" ".join(cell.split()) for cell in row) for row in table]
    if not any(map(any, folded)) or len(set(folded)) < len(folded):
        return  # a repeated header is no row
    text = parse(source).text
    for character in "ab光":
        # The name of its column is not told before a row's name that begins with it.
        header = source.strip().split("\n")[0]
        assert text.count(character) >= source.count(character) - header.count(character)


@given(st.lists(CELLS, max_size=12).map("".join))
def test_every_letter_of_any_text_named_csv_is_kept(source: str) -> None:
    folded = [" ".join(line.replace('"', "").split()) for line in source.split("\n")]
    if len(set(folded)) < len(folded):
        return  # a repeated header is no row
    try:
        text = parse(source).text
    except ParseFailure as failure:
        assert failure.reason_code == "empty_file"
        return
    for character in "ab光":
        # The name of its column is not told before a row's name that begins with it.
        header = source.strip().split("\n")[0]
        assert text.count(character) >= source.count(character) - header.count(character)
