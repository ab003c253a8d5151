import pytest

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract


def parse(data: str | bytes, extension: str) -> ParsedDocument:
    encoded = data.encode() if isinstance(data, str) else data
    document = parse_document(encoded, ParseHints(extension), make_settings())
    assert_keeps_the_contract(document)
    return document


def cuts(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


MARKDOWN = """---
title: Notes on light
authors: [A. One, B. Two]
---
# First *head*

Some prose
over two lines.

- one
- two
  - inner

```py
x = 1
```

| a | b |
|---|---|
| 1 | 2 |

Second head
-----------

> quoted
"""


def test_markdown_blocks_are_cut_from_the_source() -> None:
    document = parse(MARKDOWN, ".md")
    assert cuts(document) == [
        ("heading", "# First *head*"),
        ("paragraph", "Some prose\nover two lines."),
        ("list", "- one"),
        ("list", "- two"),
        ("list", "- inner"),
        ("code", "```py\nx = 1\n```"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("heading", "Second head\n-----------"),
        ("paragraph", "> quoted"),
    ]
    assert [block.level for block in document.blocks if block.kind == "heading"] == [1, 2]


def test_front_matter_is_metadata_and_not_text() -> None:
    document = parse(MARKDOWN, ".md")
    assert document.title == "Notes on light"
    assert document.metadata["authors"] == "A. One; B. Two"
    assert "authors" not in document.text


def test_first_highest_heading_is_the_title_without_front_matter() -> None:
    assert parse("## Small\n\n# The *great* one\n\ntext", ".md").title == "The great one"
    assert parse("only prose", ".md").title is None


def test_wrong_front_matter_is_kept_and_said() -> None:
    document = parse("---\ntitle: [open\n---\nText.", ".md")
    assert document.warnings[0].startswith("The front matter is not valid YAML")
    assert "title: [open" in document.text


def test_newlines_are_normalised_and_nul_removed() -> None:
    assert parse("a\r\nb\rc" + "d" * 9000 + "\x00e", ".txt").text == "a\nb\nc" + "d" * 9000 + "e"


def test_plain_text_is_one_block_a_paragraph() -> None:
    assert cuts(parse("  One\ntwo.\n \t\nThree. \n", ".txt")) == [
        ("paragraph", "One\ntwo."),
        ("paragraph", "Three."),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_encodings_are_read(encoding: str) -> None:
    document = parse("光照 and light".encode(encoding), ".txt")
    assert document.text == "光照 and light"
    assert document.warnings == ()


def test_an_old_encoding_that_detectors_agree_on_is_named_in_the_metadata() -> None:
    chinese = "中华人民共和国的法律规定，公民的合法权益受到保护。任何人不得侵犯。" * 5
    document = parse(chinese.encode("gb18030"), ".txt")
    assert document.text == chinese
    assert document.metadata["encoding"] == "gb18030"
    assert document.warnings == ()


def test_a_false_byte_order_mark_is_an_unknown_encoding() -> None:
    with pytest.raises(ParseFailure) as caught:
        parse(b"\xff\xfea", ".txt")
    assert caught.value.reason_code == "unknown_encoding"


@pytest.mark.parametrize("extension", [".md", ".txt", ".csv"])
def test_white_space_alone_is_an_empty_file(extension: str) -> None:
    with pytest.raises(ParseFailure) as caught:
        parse(" \n\t\n", extension)
    assert caught.value.reason_code == "empty_file"


def test_every_row_of_a_table_stands_alone() -> None:
    document = parse('name,yield,note\nA,12,"two\nlines"\nB,,\n\nC,7,x,extra\n', ".csv")
    assert cuts(document) == [
        ("row", "name A: yield = 12; note = two lines"),
        ("row", "name = B"),
        ("row", "name C: yield = 7; note = x; column 4 = extra"),
    ]
    assert document.text == "\n".join(text for _, text in cuts(document))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    table = "\n".join(
        delimiter.join(row) for row in [("a", "b"), ("1,5", "2")][:1] + [("x", "y")] * 4
    )
    assert parse(table, ".csv").text.splitlines()[0] == "a x: b = y"


def test_a_table_of_numbers_has_no_header() -> None:
    assert (
        parse("1,2\n3,4\n", ".csv").text == "column 1 = 1; column 2 = 2\ncolumn 1 = 3; column 2 = 4"
    )


def test_a_header_alone_is_still_found() -> None:
    assert "yield" in parse("name,yield\n", ".csv").text
