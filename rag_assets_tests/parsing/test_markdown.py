"""What Markdown is cut into, and what its front matter says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import Block, ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.markdown import MAY_BE_CODE, cut_blocks, plain_title
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract
from rag_assets_tests.parsing.test_real_papers import DATA


def parse(source: str | bytes) -> ParsedDocument:
    data = source.encode() if isinstance(source, str) else source
    document = parse_document(data, ParseHints(".md"), make_settings())
    assert_keeps_the_contract(document)
    return document


def cut(document: ParsedDocument, block: Block) -> str:
    return document.text[block.start : block.end]


def cuts(source: str) -> list[tuple[str, int | None, str]]:
    document = parse(source)
    return [(block.kind, block.level, cut(document, block)) for block in document.blocks]


def headings(document: ParsedDocument) -> list[list[object]]:
    return [
        [block.level, plain_title(cut(document, block))]
        for block in document.blocks
        if block.kind == "heading"
    ]


def test_nested_items_are_blocks_with_their_depth() -> None:
    assert cuts("- one\n  more\n  1. inner\n     - deep\n- [x] done") == [
        ("list", 1, "- one\n  more"),
        ("list", 2, "1. inner"),
        ("list", 3, "- deep"),
        ("list", 1, "- [x] done"),
    ]


def test_code_in_an_item_stays_whole_and_its_hashes_are_no_headings() -> None:
    assert cuts("- item\n\n  ```py\n  # no heading\n  ```\n\n      # code") == [
        ("list", 1, "- item"),
        ("code", None, "  ```py\n  # no heading\n  ```"),
        ("code", None, "      # code"),
    ]


def test_footnotes_are_footnotes_also_where_nothing_refers_to_them() -> None:
    source = "Text.[^1]\n\n[^1]: The note.\n\n[^x]: Unused."
    assert [(kind, text) for kind, _, text in cuts(source)] == [
        ("paragraph", "Text.[^1]"),
        ("footnote", "[^1]: The note."),
        ("footnote", "[^x]: Unused."),
    ]


def test_display_math_is_a_formula() -> None:
    source = "$$\nE = mc^2\n$$\n\n\\begin{align}\nx &= 1\n\\end{align}\n\nInline $a$."
    assert [kind for kind, _, _ in cuts(source)] == ["formula", "formula", "paragraph"]


def test_terms_and_their_definitions_are_list_blocks() -> None:
    assert cuts("Ice\n: Frozen water\n\n: A sweet") == [
        ("list", 1, "Ice"),
        ("list", 2, ": Frozen water"),
        ("list", 2, ": A sweet"),
    ]


def test_headings_in_html_and_in_quotations_count() -> None:
    document = parse("<div>\n  <h5>Tip &amp; trick</h5>\n  <p>Words</p>\n</div>\n\n> ## Quoted\n")
    assert headings(document) == [[5, "Tip & trick"], [2, "Quoted"]]
    assert ("paragraph", "<p>Words</p>\n</div>") in [
        (block.kind, cut(document, block)) for block in document.blocks
    ]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# Plain words #", "Plain words"),
        ("## The *great* `code` and $x$", "The great code and x"),
        ("# [A link](http://x.y) and [another][ref]", "A link and another"),
        ("# Escaped \\* and &amp;", "Escaped * and &"),
        ("Two\nlines\n=====", "Two lines"),
        ('<h2 id="a"><a href="#a">Demo</a></h2>', "Demo"),
        ("# ![logo](a.png) Name", "Name"),
    ],
)
def test_titles_lose_their_marks(source: str, title: str) -> None:
    assert plain_title(source) == title
    assert parse(source + "\n\ntext").sections[0].title == title


def test_a_paragraph_of_an_image_is_a_figure() -> None:
    document = parse('![Alt](img/ice.png "The ice")\n\nText ![inline](http://x.y/z.png) here.\n')
    assert [block.kind for block in document.blocks] == ["figure", "paragraph"]
    figure, image = document.attachments
    assert document.blocks[0].attachment_id == figure.attachment_id == "fig-001"
    assert (figure.kind, figure.name, figure.caption) == ("figure", "img/ice.png", "The ice")
    assert (image.attachment_id, image.name, image.content) == ("img-001", "http://x.y/z.png", None)


def test_an_embedded_image_keeps_its_bytes() -> None:
    document = parse("![dot](data:image/png;base64,aGVsbG8=)")
    assert document.attachments[0].content == b"hello"
    assert document.attachments[0].media_type == "image/png"
    assert document.attachments[0].content_hash


def test_a_comment_is_not_in_the_text() -> None:
    source = (
        "# Roofs\n\nOne.\n\n<!-- INFO END\nof it -->\n\n"
        "Two <!-- not seen --> words, `<!-- code -->`.\n\n"
        "```html\n<!-- shown -->\n```\n"
    )
    text = parse(source).text
    assert text.count("\n") == source.count("\n")
    assert "INFO" not in text
    assert "not seen" not in text
    assert "Two  words, " in text
    assert "`<!-- code -->`" in text
    assert "<!-- shown -->" in text


def test_comments_and_link_definitions_show_nothing() -> None:
    assert cuts("<!-- hidden -->\n\n[a]: http://x.y\n\n***\n\nText [a].") == [
        ("paragraph", None, "Text [a].")
    ]


TOML = """+++
title = "On ice"
date = 2021-05-06
tags = ["cold", "water"]
[[authors]]
name = "A. One"
+++
Text.
"""


def test_toml_front_matter_is_read() -> None:
    document = parse(TOML)
    assert (document.title, document.authors, document.year) == ("On ice", ("A. One",), 2021)
    assert document.metadata["tags"] == "cold; water"
    assert document.text == "Text.\n"


def test_yaml_front_matter_gives_authors_year_and_tags() -> None:
    document = parse(
        "---\ntitle: T\nauthor:\n- name: A. One\n- B. Two\ndate: July 17, 2006\nkeywords: [x, y]\n"
        "doi: https://doi.org/10.1234/ABC\nlang: de-DE\n---\nIrgendein Text."
    )
    assert document.authors == ("A. One", "B. Two")
    assert (document.year, document.doi, document.language) == (2006, "10.1234/abc", "de")
    assert document.metadata["tags"] == "x; y"


def test_pandocs_title_block_is_front_matter() -> None:
    document = parse("% On ice\n% A. One; B. Two\n% May 2019\n\n# Begin\n")
    assert (document.title, document.authors, document.year) == (
        "On ice", ("A. One", "B. Two"), 2019,
    )  # fmt: skip
    assert document.blocks[0].kind == "heading"


def test_wrong_toml_is_kept_and_said() -> None:
    document = parse("+++\ntitle = [open\n+++\nText.")
    assert document.warnings[0].startswith("The front matter is not valid TOML")
    assert "title = [open" in document.text


def test_a_line_of_open_brackets_is_read() -> None:
    assert len(parse("![a]( " * 100_000).blocks) == 1


def test_lists_deeper_than_the_parser_reads_keep_their_text() -> None:
    source = "".join("  " * depth + f"- level {depth}\n" for depth in range(200))
    document = parse(source)
    covered = "".join(cut(document, block) for block in document.blocks)
    assert all(f"level {depth}" in covered for depth in range(200))


PIECES = st.sampled_from(
    ["# Head", "- item", "  - inner", "    - deep", "> quote", "> - both", "[^1]: note", "term",
     ": def", "$$", "x=1", "```", "<div>", "<h2>H</h2>", "</div>", "![a](b)", "| a |", "|---|", "",
     "\\begin{align}", "\\end{align}", "[a]: b", "Setext", "---", "\ttab", "1) one"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25))
def test_every_word_of_any_markdown_is_in_one_block(lines: list[str]) -> None:
    source = "\n".join(f"{line} w{number}" if line.isalpha() else line
                       for number, line in enumerate(lines))  # fmt: skip
    if not source.strip():
        return
    document = parse(source)
    covered = "\n".join(cut(document, block) for block in document.blocks)
    for number, line in enumerate(lines):
        if line.isalpha():
            assert f"w{number}" in covered.split()


def test_the_shared_markdown_has_its_headings() -> None:
    manifest = DATA / "nasty" / "markdown" / "manifest.jsonl"
    if not manifest.exists():
        pytest.skip(f"no {manifest}; set RAG_SHARED_DATA")
    rows = [json.loads(line) for line in manifest.read_text().splitlines()]
    wrong = [
        row["path"]
        for row in rows
        if headings(parse((DATA / "nasty" / row["path"]).read_bytes())) != row["headings"]
    ]
    assert len(wrong) <= 0.05 * len(rows), wrong


@pytest.mark.parametrize(("front", "year"), [("", 2018), ("---\nyear: 2001\n---\n", 2001)])
def test_statute_has_the_year_of_its_head_unless_front_matter_states_one(
    front: str, year: int
) -> None:
    text = (
        f"{front}# 屋顶绿化法\n\n（1994年7月5日通过 根据2018年12月29日决定修正）\n\n"
        "第一条 制定本法。\n\n第二条 屋顶应当绿化。\n\n第三条 自公布之日起施行。\n"
    )
    document = parse_document(text.encode(), ParseHints(extension=".md"), make_settings())
    assert document.year == year


@given(
    st.lists(
        st.sampled_from([*"`~ \t\n-*>1.$a", "\n\n", "$$", "\\begin{a}", "<PRE>", "  "]), max_size=40
    )
)
def test_code_and_formulas_are_told_by_what_they_need(parts: list[str]) -> None:
    text = "".join(parts)
    if any(block.kind in {"code", "formula"} for block in cut_blocks(text)[0]):
        assert MAY_BE_CODE.search(text)
