import pytest

from rag_assets.model import ParseFailure
from rag_assets.parsing.pptx import reading_order
from rag_assets_tests.parsing.made_up_office import (
    blocks_of,
    make_png,
    make_pptx,
    make_relationships,
    read,
    slide_shape,
    xml_part,
)
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract

BULLETS = '<a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buNone/></a:lvl2pPr>'


def frame(content: str) -> str:
    """Return a graphic frame: a table, a chart, a diagram."""
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="Frame"/></p:nvGraphicFramePr>'
        f"<a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def table_cell(text: str, attributes: str = "") -> str:
    return f"<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"


def with_layout(kind: str = "obj", styles: str = BULLETS) -> dict[str, str]:
    """Return a layout and a master whose body text has bullets, for the first slide."""
    return {
        "ppt/slideLayouts/slideLayout1.xml": xml_part("p:sldLayout", "").replace(
            "<p:sldLayout", f'<p:sldLayout type="{kind}"'
        ),
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": make_relationships(
            {"m": ("slideMaster", "../slideMasters/slideMaster1.xml")}
        ),
        "ppt/slideMasters/slideMaster1.xml": xml_part(
            "p:sldMaster", f"<p:txStyles><p:bodyStyle>{styles}</p:bodyStyle></p:txStyles>"
        ),
    }


LAYOUT = {"l": ("slideLayout", "../slideLayouts/slideLayout1.xml")}


def test_slide_is_a_page_with_its_title_as_heading() -> None:
    document = read(
        make_pptx(
            [
                slide_shape("The body.") + slide_shape("Rivers", "title"),
                "",
                slide_shape("Lakes", "ctrTitle") + slide_shape("More."),
            ]
        )
    )
    assert blocks_of(document) == [
        ("heading", "Rivers"),
        ("paragraph", "The body."),
        ("heading", "Lakes"),
        ("paragraph", "More."),
    ]
    assert [document.text[page.start : page.end].split() for page in document.pages] == [
        ["Rivers", "The", "body."],
        [],
        ["Lakes", "More."],
    ]
    assert [block.page for block in document.blocks] == [1, 1, 3, 3]
    assert document.title == "Rivers"
    assert any("1 of 3 slides" in warning for warning in document.warnings)
    assert_keeps_the_contract(document)


def test_shapes_are_read_left_column_first_then_right() -> None:
    shapes = [
        slide_shape("right below", at=(400, 200, 200, 50)),
        slide_shape("left below", at=(20, 200, 200, 50)),
        slide_shape("right above", at=(400, 120, 200, 50)),
        slide_shape("left above", at=(20, 120, 200, 50)),
    ]
    text = read(make_pptx(["".join(shapes)])).text
    assert text.split("\n\n") == ["left above", "left below", "right above", "right below"]


def test_rows_far_apart_are_read_one_after_another() -> None:
    boxes = [((0, 0, 90, 10), 1), ((100, 0, 190, 10), 2), ((0, 80, 90, 90), 3), (None, 0)]
    boxes.append(((100, 80, 190, 90), 4))
    assert reading_order(boxes) == [0, 1, 2, 3, 4]


def test_box_of_a_shape_in_a_scaled_group_is_where_it_is_shown() -> None:
    group = (
        "<p:grpSp><p:nvGrpSpPr/><p:grpSpPr><a:xfrm>"
        '<a:off x="1270000" y="0"/><a:ext cx="1270000" cy="1270000"/>'
        '<a:chOff x="0" y="0"/><a:chExt cx="2540000" cy="2540000"/></a:xfrm></p:grpSpPr>'
        f"{slide_shape('inside', at=(20, 40, 60, 80))}</p:grpSp>"
    )
    (block,) = read(make_pptx([group])).blocks
    assert block.bbox == pytest.approx((110, 20, 140, 60))


def test_bullets_are_inherited_and_numbers_are_counted() -> None:
    number = '<a:pPr><a:buAutoNum type="arabicParenR" startAt="3"/></a:pPr>'
    numbered = f"<a:p>{number}<a:r><a:t>{{}}</a:t></a:r></a:p>"
    body = slide_shape("point", "body").replace(
        "</p:txBody>",
        '<a:p><a:pPr lvl="1"/><a:r><a:t>plain</a:t></a:r></a:p>'
        + numbered.format("third")
        + numbered.format("fourth")
        + "</p:txBody>",
    )
    document = read(make_pptx([body + slide_shape("free")], with_layout(), {1: LAYOUT}))
    assert document.text == "- point\n\nplain\n\n3) third\n4) fourth\n\nfree"


def test_slides_after_a_section_header_lie_below_it() -> None:
    parts = with_layout("secHead")
    slides = [slide_shape(text, "title") for text in ("Part", "Slide")]
    document = read(make_pptx(slides, parts, {1: LAYOUT}))
    assert [section.path for section in document.sections] == [("Part",), ("Part", "Slide")]


def test_table_is_markdown_and_a_merged_cell_stands_once() -> None:
    head = table_cell("River") + table_cell("Flow", 'gridSpan="2"')
    head += table_cell("Flow", 'hMerge="1"')
    body = table_cell("Elbe") + table_cell("3") + table_cell("4")
    rows = f"<a:tr>{head}</a:tr><a:tr>{body}</a:tr>"
    document = read(make_pptx([frame(f"<a:tbl>{rows}</a:tbl>")]))
    assert document.text == "| River | Flow |  |\n| --- | --- | --- |\n| Elbe | 3 | 4 |"
    assert document.attachments[0].kind == "table"


def test_chart_gives_its_title_and_its_values() -> None:
    def points(name: str, *values: str) -> str:
        made = "".join(f'<c:pt idx="{n}"><c:v>{v}</c:v></c:pt>' for n, v in enumerate(values))
        return f"<c:{name}><c:strRef><c:strCache>{made}</c:strCache></c:strRef></c:{name}>"

    filled = points("tx", "2024") + points("cat", "Elbe", "Oder") + points("val", "3", "5")
    series = f"<c:ser>{filled}</c:ser>"
    title = (
        "<c:title><c:tx><c:rich><a:p><a:r><a:t>Flows</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    )
    chart = xml_part(
        "c:chartSpace",
        f"<c:chart>{title}<c:plotArea><c:barChart>{series}</c:barChart></c:plotArea></c:chart>",
    )
    document = read(
        make_pptx(
            [frame('<c:chart r:id="c1"/>')],
            {"ppt/charts/chart1.xml": chart},
            {1: {"c1": ("chart", "../charts/chart1.xml")}},
        )
    )
    assert blocks_of(document) == [
        ("caption", "Flows"),
        ("table", "|  | 2024 |\n| --- | --- |\n| Elbe | 3 |\n| Oder | 5 |"),
    ]
    assert document.attachments[0].caption == "Flows"


def test_diagram_gives_its_texts() -> None:
    data = xml_part(
        "dgm:dataModel", "<dgm:pt><dgm:t><a:p><a:r><a:t>Step one</a:t></a:r></a:p></dgm:t></dgm:pt>"
    )
    document = read(
        make_pptx(
            [frame('<dgm:relIds r:dm="d1"/>')],
            {"ppt/diagrams/data1.xml": data},
            {1: {"d1": ("diagramData", "../diagrams/data1.xml")}},
        )
    )
    assert blocks_of(document) == [("list", "- Step one")]


def test_picture_is_an_attachment_of_its_page() -> None:
    picture = (
        '<p:pic><p:nvPicPr><p:cNvPr id="3" name="Picture" descr="A river"/></p:nvPicPr>'
        '<p:blipFill><a:blip r:embed="i1"/></p:blipFill></p:pic>'
    )
    png = make_png()
    document = read(
        make_pptx(
            [slide_shape("Text."), picture],
            {"ppt/media/image1.png": png},
            {2: {"i1": ("image", "../media/image1.png")}},
        )
    )
    (attachment,) = document.attachments
    assert (attachment.name, attachment.content, attachment.page) == ("A river", png, 2)
    assert document.text.endswith("![image](attachment:img-001)")


def test_speaker_s_notes_stand_at_the_end_of_their_slide() -> None:
    tree = slide_shape("Say this.", "body") + slide_shape("7", "sldNum")
    document = read(
        make_pptx(
            [slide_shape("Seen."), slide_shape("Next.")],
            {
                "ppt/notesSlides/n1.xml": xml_part(
                    "p:notes", f"<p:cSld><p:spTree>{tree}</p:spTree></p:cSld>"
                ),
            },
            {
                1: {
                    "n": ("notesSlide", "../notesSlides/n1.xml"),
                }
            },
        )
    )
    assert [
        (block.page, *pair)
        for block, pair in zip(document.blocks, blocks_of(document), strict=True)
    ] == [
        (1, "paragraph", "Seen."),
        (1, "note", "Say this."),
        (2, "paragraph", "Next."),
    ]


def test_foot_line_is_removed_where_it_repeats_and_kept_where_it_stands_once() -> None:
    repeated = [slide_shape(f"Slide {n}") + slide_shape("ACME", "ftr") for n in range(3)]
    document = read(make_pptx(repeated))
    assert "ACME" not in document.text
    assert document.removed_templates == ("ACME",)
    once = read(
        make_pptx([slide_shape("Slide") + slide_shape("Only here", "ftr"), slide_shape("x")])
    )
    assert "Only here" in once.text
    assert once.removed_templates == ()


def test_hidden_shape_is_not_read() -> None:
    hidden = slide_shape("unseen").replace('name="Shape"', 'name="Shape" hidden="1"')
    assert read(make_pptx([slide_shape("seen") + hidden])).text == "seen"


def test_only_one_of_the_alternatives_is_read() -> None:
    both = (
        '<mc:AlternateContent><mc:Choice Requires="p14">'
        f"{slide_shape('new')}</mc:Choice><mc:Fallback>{slide_shape('old')}</mc:Fallback>"
        "</mc:AlternateContent>"
    )
    assert read(make_pptx([both])).text == "new"


def test_too_many_slides_no_slides_and_empty_slides_have_their_reasons() -> None:
    for data, reason in (
        (make_pptx([slide_shape("x")] * 3), "page_limit"),
        (make_pptx([]), "no_pages"),
        (make_pptx([""]), "empty_file"),
    ):
        with pytest.raises(ParseFailure) as caught:
            read(data, max_pages=2)
        assert caught.value.reason_code == reason


def test_missing_slide_is_told_and_the_others_are_read() -> None:
    listing = make_relationships({"s1": ("slide", "slides/slide1.xml")})
    data = make_pptx(
        [slide_shape("one"), slide_shape("two")], {"ppt/_rels/presentation.xml.rels": listing}
    )
    document = read(data)
    assert document.text == "one"
    assert any("1 slides are named" in warning for warning in document.warnings)
