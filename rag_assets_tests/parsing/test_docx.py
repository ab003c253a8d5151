import pytest

from rag_assets.model import SectionCategory
from rag_assets_tests.parsing.made_up_office import (
    blocks_of,
    in_paragraph,
    make_docx,
    read,
    word_cell,
    word_paragraph,
    word_row,
    word_style,
    word_table,
    word_text,
    word_text_of,
)

LEVEL = (
    '<w:lvl w:ilvl="{0}"><w:start w:val="{3}"/><w:numFmt w:val="{1}"/>'
    '<w:lvlText w:val="{2}"/></w:lvl>'
)


def numbering(*levels: tuple[str, str], override: str = "") -> str:
    """Return one list definition, used by the lists 1 and 2; 2 with `override`."""
    made = "".join(
        LEVEL.format(depth, form, pattern, 1) for depth, (form, pattern) in enumerate(levels)
    )
    return (
        f'<w:abstractNum w:abstractNumId="7">{made}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
        f'<w:num w:numId="2"><w:abstractNumId w:val="7"/>{override}</w:num>'
    )


def item(text: str, depth: int = 0, num_id: int = 1) -> str:
    place = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{num_id}"/></w:numPr>'
    return word_paragraph(text, properties=place)


@pytest.mark.parametrize(
    ("style", "level"),
    [
        (word_style("a1", "heading 2"), 2),
        (word_style("a1", "Überschrift 3"), 3),
        (word_style("a1", "标题 1"), 1),
        (word_style("a1", "見出し 2"), 2),
        (word_style("a1", "Заголовок 4"), 4),
        (word_style("a1", "My own", '<w:outlineLvl w:val="1"/>'), 2),
        (word_style("a1", "My own", based_on="b") + word_style("b", "heading 5"), 5),
    ],
)
def test_heading_is_known_by_outline_level_or_name_in_any_language(style: str, level: int) -> None:
    document = read(
        make_docx(word_paragraph("Aims", "a1") + word_paragraph("Text."), {"styles": style})
    )
    assert blocks_of(document) == [("heading", "Aims"), ("paragraph", "Text.")]
    assert document.blocks[0].level == level
    assert document.sections[0].title == "Aims"


def test_style_whose_outline_is_body_text_makes_no_heading() -> None:
    styles = word_style("h", "heading 1") + word_style(
        "t", "Tale", '<w:outlineLvl w:val="9"/>', "h"
    )
    document = read(make_docx(word_paragraph("A tale.", "t"), {"styles": styles}))
    assert blocks_of(document) == [("paragraph", "A tale.")]


def test_style_id_tells_where_there_is_no_styles_part() -> None:
    document = read(make_docx(word_paragraph("Aims", "Heading2") + word_paragraph("Text.")))
    assert (document.blocks[0].kind, document.blocks[0].level) == ("heading", 2)


def test_number_of_a_heading_stands_in_its_text() -> None:
    place = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'
    styles = word_style("h1", "heading 1", place.format(0)) + word_style(
        "h2", "heading 2", place.format(1)
    )
    body = "".join(
        word_paragraph(text, style)
        for text, style in (("Aims", "h1"), ("Means", "h1"), ("Tools", "h2"), ("Time", "h2"))
    )
    document = read(
        make_docx(
            body,
            {
                "styles": styles,
                "numbering": numbering(("chineseCounting", "第%1章"), ("decimal", "%1.%2")).replace(
                    '<w:lvlText w:val="%1.%2"/>', '<w:isLgl/><w:lvlText w:val="%1.%2"/>'
                ),
            },
        )
    )
    assert [text for _, text in blocks_of(document)] == [
        "第一章 Aims",
        "第二章 Means",
        "2.1 Tools",
        "2.2 Time",
    ]
    assert document.sections[-1].path == ("第二章 Means", "2.2 Time")


def test_title_authors_and_abstract_come_from_their_styles() -> None:
    styles = "".join(
        word_style(key, name)
        for key, name in (("t", "Title"), ("s", "Subtitle"), ("u", "Author"), ("b", "Abstract"))
    )
    body = (
        word_paragraph("On Rivers", "t")
        + word_paragraph("A study", "s")
        + word_paragraph("Ada Byron", "u")
        + word_paragraph("Rivers flow.", "b")
        + word_paragraph("Body.")
    )
    document = read(make_docx(body, {"styles": styles}))
    assert (document.title, document.authors) == ("On Rivers", ("Ada Byron",))
    assert document.abstract_text == "Rivers flow."
    assert [kind for kind, _ in blocks_of(document)] == [
        "title", "front", "front", "paragraph", "paragraph",
    ]  # fmt: skip


def test_abstract_is_the_text_below_its_heading() -> None:
    body = (
        word_paragraph("Abstract", "Heading1")
        + word_paragraph("First.")
        + word_paragraph("Second.")
        + word_paragraph("Aims", "Heading1")
        + word_paragraph("Body.")
    )
    document = read(make_docx(body))
    assert document.abstract_text == "First.\n\nSecond."
    assert document.sections[0].category is SectionCategory.ABSTRACT


def test_paragraphs_below_references_are_references() -> None:
    body = word_paragraph("Text.") + word_paragraph("References", "Heading1") + item("Byron 1843.")
    document = read(make_docx(body, {"numbering": numbering(("decimal", "[%1]"))}))
    assert blocks_of(document)[-1] == ("reference", "[1] Byron 1843.")
    assert document.sections[-1].subtype == "references"


def test_list_items_keep_mark_and_depth_on_lines_of_their_own() -> None:
    body = item("one") + item("deep", 1) + item("two") + word_paragraph("After.")
    document = read(
        make_docx(body, {"numbering": numbering(("decimal", "%1."), ("bullet", "\uf0b7"))})
    )
    assert document.text == "1. one\n  - deep\n2. two\n\nAfter."
    assert [block.level for block in document.blocks] == [1, 2, 1, None]


def test_lists_of_one_definition_go_on_counting_unless_one_begins_anew() -> None:
    going_on = numbering(("decimal", "%1."))
    assert word_text_of(item("a") + item("b", num_id=2), numbering=going_on) == "1. a\n2. b"
    anew = numbering(
        ("decimal", "%1."),
        override='<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>',
    )
    assert word_text_of(item("a") + item("b", num_id=2), numbering=anew) == "1. a\n1. b"


def test_level_override_replaces_the_form_of_a_number() -> None:
    override = (
        f'<w:lvlOverride w:ilvl="0">{LEVEL.format(0, "upperRoman", "(%1)", 4)}</w:lvlOverride>'
    )
    lists = numbering(("decimal", "%1."), override=override)
    assert word_text_of(item("x", num_id=2), numbering=lists) == "(IV) x"


def test_deeper_levels_begin_anew_after_a_higher_one() -> None:
    lists = numbering(("decimal", "%1."), ("lowerLetter", "%1.%2)"))
    body = item("A") + item("x", 1) + item("y", 1) + item("B") + item("z", 1)
    assert word_text_of(body, numbering=lists) == "1. A\n  1.a) x\n  1.b) y\n2. B\n  2.a) z"


def test_number_zero_takes_a_paragraph_out_of_its_list() -> None:
    assert word_text_of(item("plain", num_id=0), numbering=numbering(("decimal", "%1."))) == "plain"


def test_table_is_markdown_with_an_attachment_and_its_caption() -> None:
    body = word_paragraph("Table 2: Flows", "Caption") + word_table(
        word_row(word_cell("River"), word_cell("a|b")),
        word_row(word_cell("Elbe", "long"), word_cell("3")),
    )
    document = read(make_docx(body, {"styles": word_style("Caption", "caption")}))
    assert document.text == (
        "Table 2: Flows\n\n| River | a\\|b |\n| --- | --- |\n| Elbe long | 3 |"
    )
    assert [(block.kind, block.attachment_id) for block in document.blocks] == [
        ("caption", "tab-001"),
        ("table", "tab-001"),
    ]
    (attachment,) = document.attachments
    assert (attachment.kind, attachment.name, attachment.caption) == (
        "table", "Table 2", "Table 2: Flows",
    )  # fmt: skip


def test_merged_cells_have_their_text_once_and_columns_stay_aligned() -> None:
    span, down, more = (
        '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>",
    )  # fmt: skip
    body = word_table(
        word_row(word_cell("x"), word_cell("wide", properties=span)),
        word_row(word_cell("tall", properties=down), word_cell("1"), word_cell("2")),
        word_row(word_cell("tall?", properties=more), word_cell("3"), word_cell("4")),
        word_row(word_cell("last"), properties='<w:gridBefore w:val="2"/>'),
    )
    assert word_text_of(body).splitlines() == [
        "| x | wide |  |",
        "| --- | --- | --- |",
        "| tall | 1 | 2 |",
        "|  | 3 | 4 |",
        "|  |  | last |",
    ]


def test_first_row_of_one_cell_over_all_columns_is_the_caption() -> None:
    body = word_table(
        word_row(word_cell("Flows of rivers", properties='<w:gridSpan w:val="2"/>')),
        word_row(word_cell("River"), word_cell("Flow")),
        word_row(word_cell("Elbe"), word_cell("3")),
    )
    document = read(make_docx(body))
    kinds = blocks_of(document)
    assert kinds[0] == ("caption", "Flows of rivers")
    assert kinds[1][1].startswith("| River | Flow |")
    assert document.attachments[0].caption == "Flows of rivers"


def test_table_of_one_cell_is_a_frame_around_its_text() -> None:
    body = word_table(word_row(word_cell("A remark.", "Another.")))
    assert blocks_of(read(make_docx(body))) == [
        ("paragraph", "A remark."),
        ("paragraph", "Another."),
    ]


def test_absurd_spans_are_bounded() -> None:
    body = word_table(
        word_row(word_cell("a", properties='<w:gridSpan w:val="999999999"/>'), word_cell("b")),
        word_row(word_cell("c"), word_cell("d")),
    )
    assert word_text_of(body).count("|") < 300


def set_apart(text: str, size: int = 0) -> str:
    """Return a bold paragraph."""
    sized = f'<w:sz w:val="{size}"/>' if size else ""
    return in_paragraph(word_text(text, f"<w:b/>{sized}"))


def test_bold_lines_are_headings_where_no_style_makes_any() -> None:
    prose = word_paragraph("A long paragraph that says something about rivers and their flow.")
    body = (
        set_apart("On Rivers", 40) + prose + set_apart("1. Aims") + prose * 2
        + set_apart("1.1 Scope") + prose + set_apart("2. Means") + prose * 2
    )  # fmt: skip
    document = read(make_docx(body))
    assert document.title == "On Rivers"
    headings = [
        (block.level, document.text[block.start : block.end])
        for block in document.blocks
        if block.kind == "heading"
    ]
    assert headings == [(1, "1. Aims"), (2, "1.1 Scope"), (1, "2. Means")]


def test_bold_sentences_captions_and_lone_lines_are_no_headings() -> None:
    prose = word_paragraph("A long paragraph that says something about rivers and their flow.")
    body = (
        prose * 3 + set_apart("This matters.") + prose + set_apart("Table 1 Flows") + prose
        + set_apart("Alone") + prose
    )  # fmt: skip
    assert {kind for kind, _ in blocks_of(read(make_docx(body)))} == {"paragraph"}


def test_bold_lines_stay_text_where_styles_make_headings() -> None:
    prose = word_paragraph("A long paragraph that says something about rivers and their flow.")
    body = word_paragraph("Aims", "Heading1") + (prose + set_apart("Bold")) * 3 + prose * 3
    kinds = [kind for kind, _ in blocks_of(read(make_docx(body)))]
    assert kinds.count("heading") == 1
