import pytest

from rag_assets.model import ParseFailure, hash_bytes
from rag_assets_tests.parsing.made_up_office import (
    blocks_of,
    in_paragraph,
    make_docx,
    make_png,
    read,
    word_cell,
    word_paragraph,
    word_row,
    word_run,
    word_style,
    word_table,
    word_text,
    word_text_of,
    xml_part,
)
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (word_run("<w:t>co</w:t><w:softHyphen/><w:t>op</w:t>"), "coop"),
        (word_text("co\u00adop"), "coop"),
        (word_run("<w:t>x</w:t><w:noBreakHyphen/><w:t>y</w:t>"), "x-y"),
        (word_run("<w:t>a</w:t><w:tab/><w:t>b</w:t>"), "a b"),
        (word_run("<w:t>a</w:t><w:br/><w:t>b</w:t>"), "a\nb"),
        (word_run('<w:sym w:font="Symbol" w:char="F061"/>'), "α"),
        (word_run('<w:sym w:font="Wingdings" w:char="F0FC"/><w:t> done</w:t>'), "✓ done"),
        (word_text("\uf0a3 5", '<w:rFonts w:ascii="Symbol"/>'), "≤ 5"),
        (
            word_text("10") + word_text("-3", '<w:vertAlign w:val="superscript"/>'),
            "10^-3",
        ),
        (word_text("H") + word_text("2", '<w:vertAlign w:val="subscript"/>'), "H2"),
        (word_text("seen") + word_text(" unseen", "<w:vanish/>"), "seen"),
        ('<w:hyperlink r:id="x">' + word_text("a link") + "</w:hyperlink>", "a link"),
        (
            "<w:smartTag><w:smartTag>" + word_text("tagged") + "</w:smartTag></w:smartTag>",
            "tagged",
        ),
        (
            "<w:sdt><w:sdtPr/><w:sdtContent>" + word_text("held") + "</w:sdtContent></w:sdt>",
            "held",
        ),
        (
            "<w:ins>"
            + word_text("new")
            + "</w:ins><w:del>"
            + word_run("<w:delText>old</w:delText>")
            + word_text("er")
            + "</w:del>",
            "new",
        ),
        (
            "<w:moveFrom>"
            + word_text("here")
            + "</w:moveFrom><w:moveTo>"
            + word_text("there")
            + "</w:moveTo>",
            "there",
        ),
        ('<w:fldSimple w:instr="PAGE">' + word_text("7") + "</w:fldSimple>", "7"),
    ],
)
def test_runs_become_what_a_reader_sees(content: str, expected: str) -> None:
    assert word_text_of(in_paragraph(content)) == expected


def test_field_gives_its_result_and_never_its_instruction() -> None:
    mark = '<w:fldChar w:fldCharType="{}"/>'
    inner = (
        word_run(mark.format("begin"))
        + word_run("<w:instrText>PAGE</w:instrText><w:t>9</w:t>")
        + word_run(mark.format("end"))
    )
    body = in_paragraph(
        word_text("see "), word_run(mark.format("begin")),
        word_run("<w:instrText>REF</w:instrText>"), inner, word_run(mark.format("separate")),
        word_text("Chapter 4"), word_run(mark.format("end")), word_text("."),
    )  # fmt: skip
    assert word_text_of(body) == "see Chapter 4."


def test_field_that_never_ends_does_not_swallow_the_document() -> None:
    body = in_paragraph(word_run('<w:fldChar w:fldCharType="begin"/>')) + word_paragraph(
        "Still here."
    )
    assert word_text_of(body) == "Still here."


def test_paragraph_whose_end_was_deleted_goes_on_in_the_next() -> None:
    first = "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>" + word_text("One ") + "</w:p>"
    assert word_text_of(first + word_paragraph("sentence.")) == "One sentence."
    assert word_text_of(first) == "One"


def test_formula_alone_is_a_block_and_one_in_a_sentence_stays_there() -> None:
    half = (
        "<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num>"
        "<m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
    )
    body = in_paragraph(f"<m:oMathPara>{half}</m:oMathPara>") + in_paragraph(
        word_text("Let"), half, word_text("be even.")
    )
    assert blocks_of(read(make_docx(body))) == [
        ("formula", "(a+b)/2"),
        ("paragraph", "Let (a+b)/2 be even."),
    ]


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("<m:sSup><m:e>{x}</m:e><m:sup>{2}</m:sup></m:sSup>", "x^2"),
        ("<m:sSubSup><m:e>{x}</m:e><m:sub>{i}</m:sub><m:sup>{2}</m:sup></m:sSubSup>", "x_i^2"),
        ("<m:rad><m:deg/><m:e>{x+1}</m:e></m:rad>", "sqrt(x+1)"),
        ("<m:rad><m:deg>{3}</m:deg><m:e>{x}</m:e></m:rad>", "x^(1/3)"),
        (
            (
                '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{i=1}</m:sub>'
                "<m:sup>{n}</m:sup><m:e>{i}</m:e></m:nary>"
            ),
            "∑_(i=1)^n i",
        ),
        (
            '<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>{x}</m:e></m:d>',
            "[x]",
        ),
    ],
)  # fmt: skip
def test_structures_of_formulas_are_written_on_one_line(inner: str, expected: str) -> None:
    filled = inner.replace("{", "<m:r><m:t>").replace("}", "</m:t></m:r>")
    assert word_text_of(in_paragraph(f"<m:oMath>{filled}</m:oMath>")) == expected


def test_notes_stand_at_the_end_of_the_section_that_refers_to_them() -> None:
    body = (
        word_paragraph("One", "Heading1")
        + in_paragraph(
            word_text("A claim"), word_run('<w:footnoteReference w:id="2"/>'), word_text(".")
        )
        + in_paragraph(
            word_text("Another"), word_run('<w:endnoteReference w:id="5"/>'),
            word_run('<w:commentReference w:id="0"/>'),
        )
        + word_paragraph("Two", "Heading1")
        + word_paragraph("The end.")
    )  # fmt: skip
    document = read(
        make_docx(
            body,
            {
                "footnotes": '<w:footnote w:id="2">'
                + in_paragraph(word_run("<w:footnoteRef/>"), word_text("Its source."))
                + "</w:footnote>"
                '<w:footnote w:id="3">' + word_paragraph("Referred to nowhere.") + "</w:footnote>",
                "endnotes": '<w:endnote w:id="5">' + word_paragraph("At the end.") + "</w:endnote>",
                "comments": '<w:comment w:id="0" w:author="Ada">'
                + word_paragraph("Really?")
                + "</w:comment>",
            },
        )
    )
    assert blocks_of(document) == [
        ("heading", "One"),
        ("paragraph", "A claim[1]."),
        ("paragraph", "Another[i]"),
        ("footnote", "[1] Its source."),
        ("footnote", "[i] At the end."),
        ("note", "Comment by Ada: Really?"),
        ("heading", "Two"),
        ("paragraph", "The end."),
    ]


def test_note_referred_to_in_a_table_is_kept() -> None:
    referring = (
        "<w:tc>"
        + in_paragraph(word_text("3"), word_run('<w:footnoteReference w:id="1"/>'))
        + "</w:tc>"
    )
    body = word_table(
        word_row(word_cell("River"), word_cell("Flow")),
        f"<w:tr>{word_cell('Elbe')}{referring}</w:tr>",
    )
    notes = '<w:footnote w:id="1">' + word_paragraph("In winter.") + "</w:footnote>"
    blocks = blocks_of(read(make_docx(body, {"footnotes": notes})))
    assert blocks[0][1].endswith("| Elbe | 3[1] |")
    assert blocks[1] == ("footnote", "[1] In winter.")


def test_text_box_is_read_once_though_it_stands_twice() -> None:
    inside = f"<w:txbxContent>{word_paragraph('Boxed.')}</w:txbxContent>"
    body = in_paragraph(
        word_text("Before."),
        word_run(
            "<mc:AlternateContent>"
            f'<mc:Choice Requires="wps"><w:drawing><wps:txbx>{inside}</wps:txbx></w:drawing>'
            "</mc:Choice>"
            f"<mc:Fallback><w:pict><v:textbox>{inside}</v:textbox></w:pict></mc:Fallback>"
            "</mc:AlternateContent>"
        ),
    )
    assert word_text_of(body) == "Before.\n\nBoxed."


def test_alternative_that_shows_nothing_gives_way_to_the_next() -> None:
    inside = f"<w:txbxContent>{word_paragraph('Old box.')}</w:txbxContent>"
    body = in_paragraph(
        word_run(
            '<mc:AlternateContent><mc:Choice Requires="x"><w:drawing/></mc:Choice>'
            f"<mc:Fallback><w:pict><v:textbox>{inside}</v:textbox></w:pict></mc:Fallback>"
            "</mc:AlternateContent>"
        )
    )
    assert word_text_of(body) == "Old box."


def drawing(relationship: str, description: str) -> str:
    return word_run(
        f'<w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="{description}"/>'
        f'<a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="{relationship}"/>'
        "</pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>"
    )


def test_picture_is_an_attachment_with_content_and_a_line_in_the_text() -> None:
    png = make_png()
    body = (
        in_paragraph(drawing("i1", "A [grey] square"))
        + word_paragraph("Figure 1: Grey", "Caption")
        + in_paragraph(drawing("i1", "again"))
    )
    document = read(
        make_docx(
            body,
            {"word/media/a.png": png, "styles": word_style("Caption", "caption")},
            {"i1": ("image", "media/a.png")},
        )
    )
    assert document.text == (
        "![Figure 1](attachment:fig-001)\n\nFigure 1: Grey\n\n![image](attachment:img-001)"
    )
    figure, image = document.attachments
    assert (figure.kind, figure.caption, figure.content) == ("figure", "Figure 1: Grey", png)
    assert figure.content_hash == hash_bytes(png)
    assert (image.kind, image.media_type) == ("image", "image/png")
    assert document.text[figure.start : figure.end] == "Figure 1: Grey"
    assert_keeps_the_contract(document)


def test_caption_of_a_figure_passes_by_the_table_above_it() -> None:
    body = (
        word_table(word_row(word_cell("a"), word_cell("b")))
        + word_paragraph("Figure 1: Grey")
        + in_paragraph(drawing("i1", "square"))
    )
    data = make_docx(body, {"word/media/a.png": make_png()}, {"i1": ("image", "media/a.png")})
    captions = [(item.kind, item.caption) for item in read(data).attachments]
    assert captions == [("table", None), ("figure", "Figure 1: Grey")]


def test_missing_and_external_pictures_are_told_and_harm_nothing() -> None:
    body = word_paragraph("Text.") + in_paragraph(drawing("gone", "lost"), drawing("web", "far"))
    targets = {"gone": ("image", "media/no.png"), "web": ("image", "https://example.org/a.png")}
    document = read(make_docx(body, None, targets))
    assert document.text.startswith("Text.")
    assert all(item.content is None for item in document.attachments)
    assert any("'lost' is missing" in warning for warning in document.warnings)
    assert any("'far' lies outside" in warning for warning in document.warnings)


def test_heads_and_feet_are_listed_and_not_in_the_text() -> None:
    document = read(
        make_docx(
            word_paragraph("Body."),
            {"word/header1.xml": xml_part("w:hdr", word_paragraph("Journal of Rivers"))},
            {"h": ("header", "header1.xml")},
        )
    )
    assert document.text == "Body."
    assert document.removed_templates == ("Journal of Rivers",)


def test_core_properties_give_title_and_authors_but_not_a_program_s_own() -> None:
    core = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
        'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title>'
        "<dc:creator>{}</dc:creator><dc:subject>water</dc:subject></cp:coreProperties>"
    )
    real = read(
        make_docx(word_paragraph("x"), {"docProps/core.xml": core.format("On Rivers", "Ada; Bo")})
    )
    assert (real.title, real.authors) == ("On Rivers", ("Ada", "Bo"))
    assert real.metadata["subject"] == "water"
    made = read(
        make_docx(
            word_paragraph("x"),
            {"docProps/core.xml": core.format("Microsoft Word - a.docx", "python-docx")},
        )
    )
    assert (made.title, made.authors) == (None, ())


def test_lines_of_code_are_one_block() -> None:
    styles = word_style("c", "Source Code")
    body = word_paragraph("x = 1", "c") + word_paragraph("y = 2", "c")
    assert blocks_of(read(make_docx(body, {"styles": styles}))) == [("code", "x = 1\ny = 2")]


def test_document_without_text_or_picture_says_so() -> None:
    with pytest.raises(ParseFailure) as caught:
        read(make_docx("<w:p/>" + word_table(word_row(word_cell(), word_cell()))))
    assert caught.value.reason_code == "empty_file"


def test_strict_document_and_macro_enabled_one_are_read_alike() -> None:
    plain = make_docx(word_paragraph("Aims", "Heading1"))
    macro = make_docx(
        word_paragraph("Aims", "Heading1"),
        main_type="application/vnd.ms-word.document.macroEnabled.main+xml",
    )
    assert read(macro).text == read(plain).text == "Aims"
    strict = xml_part("w:document", f"<w:body>{word_paragraph('Aims')}</w:body>").replace(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    )
    assert read(make_docx("", {"word/document.xml": strict})).text == "Aims"
