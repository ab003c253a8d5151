"""What a reader does not see is no evidence: left out of the text in every format, and said."""

import io
import zipfile

import pytest

from rag_assets.model import ParsedDocument
from rag_assets_tests.parsing.made_up_office import (
    in_paragraph,
    make_docx,
    make_package,
    make_pptx,
    read,
    slide_shape,
    word_paragraph,
    word_text,
)
from rag_assets_tests.parsing.made_up_sheets import MAIN, cell, make_ods, make_xlsx, sheet_xml
from rag_assets_tests.parsing.test_html import PROSE, article, parse

SECRET = "Costs fell by 99 percent"


def assert_left_out(document: ParsedDocument, secret: str = SECRET) -> None:
    assert secret not in document.text
    assert "99" not in document.text
    notes = [note for note in document.warnings if "does not see" in note]
    assert len(notes) == 1, document.warnings
    assert secret[:20] in notes[0]


@pytest.mark.parametrize(
    "style",
    [
        "display:none", "visibility: hidden", "opacity:0", "opacity: 0%", "font-size:0",
        "font-size: 0.4pt", "font:0/0 a", "color:white", "color:#fefefe", "color:rgb(255,255,255)",
        "color: hsl(0, 0%, 100%)", "color:transparent", "color:rgba(0,0,0,0)",
        "color:#123; background:#123456; color:#123457", "position:absolute; left:-9999px",
        "position:absolute;top:-200vh", "text-indent:-9999px", "margin-left:-5000px",
        "transform:scale(0)", "transform: translateX(-10000px)", "scale:0", "filter:opacity(0)",
        "position:absolute;clip:rect(0 0 0 0)", "position:absolute; clip: rect(1px, 1px, 1px, 1px)",
        "clip-path: inset(50%)", "clip-path:circle(0)", "clip-path: polygon(0 0, 0 0, 0 0)",
        "height:0;overflow:hidden", "width:1px;height:1px;overflow:hidden",
        "max-height:0; overflow: hidden", "text-decoration: line-through",
        "-webkit-text-fill-color: transparent", "DISPLAY:NONE !important",
    ],
)  # fmt: skip
def test_style_that_hides_text_of_a_page(style: str) -> None:
    body = (
        f'<p style="{style}">{SECRET}.</p><p>They saw <span style="{style}">{SECRET}</span> it '
        f'all.</p><div class="x y"><p>{SECRET}.</p></div>'
    )
    document = parse(article(body, f"<style>.y{{{style}}}</style>"))
    assert_left_out(document)
    assert "They saw it all." in " ".join(document.text.split())
    assert "does not see was left out: 3 " in document.warnings[0]


@pytest.mark.parametrize(
    "element",
    [
        "<del>{}</del>", "<s>{}</s>", "<strike>{}</strike>", "<p hidden>{}</p>",
        "<template>{}</template>", "<noscript>{}</noscript>", "<dialog>{}</dialog>",
        '<font color="#ffffff">{}</font>', ('<table bgcolor=black><tr><td><font color=black>{}'
        "</font></table>"), '<div style="visibility:hidden"><p>{}</p></div>',
        '<div style="font-size:0"><b>{}</b></div>',
    ],
)  # fmt: skip
def test_element_that_hides_text_of_a_page(element: str) -> None:
    assert_left_out(parse(article(element.format(SECRET))))


@pytest.mark.parametrize(
    "rules",
    [
        "#a{display:none}", "p.b{display:none}", "main > .b{display:none}", "[data-x]{opacity:0}",
        "p{color:red} .b{color:#fff!important}", "@media screen{.b{display:none}}",
        "@media (min-width:600px){.b{display:none}}", ".b{display:block}.b{display:none}",
        "/* x */ .c, .b { visibility : hidden }", "@import 'x'; .b{display:none}",
    ],
)  # fmt: skip
def test_style_sheet_that_hides_text_of_a_page(rules: str) -> None:
    body = f'<p id="a" class="b" data-x="1">{SECRET}.</p>'
    assert_left_out(parse(article(body, f"<style>{rules}</style>")))


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ('<p aria-hidden="true">{}</p>', ""),
        ("<details><summary>More</summary>{}</details>", ""),
        ("<ins>{}</ins>", ""),
        ('<p class="b">{}</p>', "<style>.b:hover{display:none} .b::before{display:none}</style>"),
        ('<p class="b">{}</p>', "<style>@media print{.b{display:none}}</style>"),
        ('<p class="b">{}</p>', "<style>@media (max-width:600px){.b{display:none}}</style>"),
        ('<p class="b">{}</p>', "<style>.b{display:none} .b{display:block}</style>"),
        ('<p class="d md:d">{}</p>',
         "<style>.d{display:none} @media (min-width:768px){.md\\:d{display:block}}</style>"),
        ('<p style="color:white;background:navy">{}</p>', ""),
        ('<div style="background:#000"><p style="color:#fff">{}</p></div>', ""),
        ('<div style="background:url(x.png)"><p style="color:#fff">{}</p></div>', ""),
        ('<div class="hero"><p style="color:#fff">{}</p></div>', "<link rel=stylesheet href=x>"),
        ('<div style="visibility:hidden"><p style="visibility:visible">{}</p></div>', ""),
        ('<div style="font-size:0"><p style="font-size:14px">{}</p></div>', ""),
        ('<p style="color:transparent;background-clip:text">{}</p>', ""),
    ],
)  # fmt: skip
def test_text_that_is_seen_stays(body: str, head: str) -> None:
    document = parse(article(body.format(f"{SECRET}. {PROSE}"), head))
    assert SECRET in document.text
    assert not document.warnings


def test_label_for_screen_readers_harms_no_page() -> None:
    sheet = "<style>.sr{position:absolute;clip:rect(0,0,0,0)}</style>"
    document = parse(article("", sheet).replace("<main>", '<a class="sr" href="#m">Skip</a><main>'))
    assert document.text == parse(article("")).text
    assert "1 outside of the page or cut to nothing (“Skip”)" in document.warnings[0]


BLACK_TEXT = in_paragraph(word_text(SECRET, '<w:color w:val="000000"/>'))
WHITE_TEXT = in_paragraph(word_text(SECRET, '<w:color w:val="FFFFFF"/>'))
W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'


@pytest.mark.parametrize(
    "properties",
    [
        "<w:vanish/>", "<w:webHidden/>", "<w:strike/>", "<w:dstrike/>", '<w:color w:val="FFFFFF"/>',
        '<w:color w:val="FDFDFD" w:themeColor="background1"/>', '<w:sz w:val="1"/>',
        '<w:w w:val="1"/>', '<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>',
        '<w:color w:val="112233"/><w:shd w:val="clear" w:fill="112233"/>',
        f"<w14:textFill {W14}><w14:noFill/></w14:textFill>", '<w:rStyle w:val="Unseen"/>',
        '<w:rStyle w:val="Derived"/>',
    ],
)  # fmt: skip
def test_run_of_a_word_document_that_is_not_seen(properties: str) -> None:
    styles = (
        '<w:style w:type="character" w:styleId="Unseen"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="character" w:styleId="Derived"><w:basedOn w:val="Unseen"/></w:style>'
    )
    runs = word_text("Costs fell ", properties) + word_text("by 99 percent", properties)
    document = read(
        make_docx(in_paragraph(word_text("Seen before "), runs, word_text("and after.")),
                  {"styles": styles})
    )  # fmt: skip
    assert document.text == "Seen before and after."
    assert_left_out(document)
    assert "was left out: 1 " in document.warnings[0]


@pytest.mark.parametrize(
    "body",
    [
        f'<w:p><w:del w:id="1"><w:r><w:delText>{SECRET}</w:delText></w:r></w:del></w:p>',
        word_paragraph(SECRET, "Hidden"),
        word_paragraph(SECRET, properties='<w:framePr w:x="-20000" w:y="1"/>'),
        word_paragraph(SECRET, properties='<w:ind w:left="40000"/>'),
        (
            '<w:tbl><w:tr><w:tc><w:tcPr><w:shd w:val="clear" w:fill="000000"/></w:tcPr>'
            f"{BLACK_TEXT}</w:tc></w:tr></w:tbl>"
        ),
        (
            "<w:p><w:r><w:drawing><wp:anchor><wp:positionH><wp:posOffset>-9999999</wp:posOffset>"
            "</wp:positionH><a:graphic><a:graphicData><wps:wsp><wps:txbx><w:txbxContent>"
            f"{word_paragraph(SECRET)}</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic>"
            "</wp:anchor></w:drawing></w:r></w:p>"
        ),
        (
            '<w:p><w:r><w:pict><v:shape style="position:absolute;left:-9999pt"><v:textbox>'
            f"<w:txbxContent>{word_paragraph(SECRET)}</w:txbxContent></v:textbox></v:shape></w:pict>"
            "</w:r></w:p>"
        ),
    ],
)
def test_part_of_a_word_document_that_is_not_seen(body: str) -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Hidden"><w:basedOn w:val="Base"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Base"><w:rPr><w:color w:val="FFFFFF"/></w:rPr>'
        "</w:style>"
    )
    document = read(make_docx(word_paragraph("Seen.") + body, {"styles": styles}))
    assert "Seen." in document.text
    assert_left_out(document)


@pytest.mark.parametrize(
    "body",
    [
        in_paragraph(word_text(SECRET, '<w:vanish w:val="0"/><w:strike w:val="false"/>')),
        f'<w:p><w:ins w:id="1">{word_text(SECRET)}</w:ins></w:p>',
        (
            '<w:p><w:hyperlink w:anchor="_Toc1">'
            f"{word_text(SECRET, '<w:webHidden/>')}</w:hyperlink></w:p>"
        ),
        in_paragraph(word_text(SECRET, '<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>')),
        (
            '<w:tbl><w:tblPr><w:tblStyle w:val="GridTable5Dark"/></w:tblPr><w:tr><w:tc>'
            f"{WHITE_TEXT}</w:tc></w:tr></w:tbl>"
        ),
        (
            "<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData><wps:wsp><wps:spPr><a:solidFill>"
            '<a:srgbClr val="1F3864"/></a:solidFill></wps:spPr><wps:txbx><w:txbxContent>'
            f"{WHITE_TEXT}</w:txbxContent></wps:txbx>"
            "</wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
        ),
    ],
)
def test_part_of_a_word_document_that_is_seen(body: str) -> None:
    document = read(make_docx(body))
    assert SECRET in document.text
    assert not document.warnings


FONTS = (
    "<font/>", "<font><strike/></font>", '<font><color rgb="FFFFFFFF"/></font>',
    '<font><color theme="0"/></font>', '<font><sz val="0.5"/></font>', "<font/>",
    '<font><color rgb="FFFFFFFF"/></font>',
)  # fmt: skip
PLAIN = "<fill><patternFill/></fill>"
DARK = '<fill><patternFill patternType="solid"><fgColor rgb="FF002060"/></patternFill></fill>'
# By the number of the cell's style: the fonts above, the last but one with a format that shows
# nothing, the last on a dark ground.
CELL_STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="200" formatCode=";;;"/></numFmts>'
    f"<fonts>{''.join(FONTS)}</fonts><fills>{PLAIN + PLAIN + DARK}</fills><cellXfs>"
    + "".join(
        f'<xf fontId="{place}" fillId="{2 if place == 6 else 0}" numFmtId="{200 * (place == 5)}"/>'
        for place in range(len(FONTS))
    )
    + "</cellXfs></styleSheet>"
)
RICH = "<c t='inlineStr'><is><r><t>Seen {}</t></r><r><rPr>{}</rPr><t>{}</t></r></is></c>"


def styled(number: int) -> str:
    return f'<c s="{number}" t="inlineStr"><is><t>{SECRET}</t></is></c>'


def workbook(sheet: str, **more: object) -> ParsedDocument:
    extra = {"xl/styles.xml": CELL_STYLES}
    return read(make_xlsx({"S": sheet}, extra=extra, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_cell_that_is_not_seen(number: int) -> None:
    assert_left_out(workbook(sheet_xml([["Seen.", styled(number)]])))


@pytest.mark.parametrize(
    "properties", ["<strike/>", '<color rgb="FFFFFFFF"/>', '<sz val="1"/>', '<color theme="0"/>']
)
def test_run_of_a_cell_that_is_not_seen(properties: str) -> None:
    inline = workbook(sheet_xml([[RICH.format("one", properties, SECRET), "b"]]))
    assert_left_out(inline)
    assert "Seen one" in inline.text
    string = f"<si><r><t>Seen</t></r><r><rPr>{properties}</rPr><t>{SECRET}</t></r></si>"
    assert_left_out(workbook(sheet_xml([['<c t="s"><v>0</v></c>']]), strings=string))


def test_hidden_rows_columns_and_sheets_are_left_out() -> None:
    seen = cell("A1", "Seen.")
    hidden = cell("B1", SECRET)
    rows = f'<row r="1">{seen}</row><row r="2" hidden="1">{hidden}</row>'
    assert_left_out(workbook(sheet_xml([]).replace("<sheetData>", f"<sheetData>{rows}")))
    columns = '<cols><col min="2" max="3" hidden="1"/></cols><sheetData>'
    assert_left_out(workbook(sheet_xml([["Seen.", SECRET]]).replace("<sheetData>", columns)))
    data = make_xlsx(
        {"A": sheet_xml([["Seen."]]), "B": sheet_xml([[SECRET]])}, states={"B": "veryHidden"}
    )
    document = read(data)
    assert_left_out(document, f"sheet B: {SECRET}")
    assert document.metadata["sheets"] == "A"


def test_white_text_on_a_dark_cell_is_seen() -> None:
    document = workbook(sheet_xml([["Seen.", styled(6)]]))
    assert SECRET in document.text
    assert not document.warnings


ODS_STYLES = '<style:style style:name="row"><style:text-properties {}/></style:style>'


@pytest.mark.parametrize(
    "properties",
    [
        'style:text-line-through-style="solid"', 'color="#ffffff"', 'text:display="none"',
        'font-size="0.5pt"',
    ],
)  # fmt: skip
def test_text_of_an_opendocument_sheet_that_is_not_seen(properties: str) -> None:
    span = f'<text:span text:style-name="row">{SECRET}</text:span>'
    for inner, style in ((span, ""), (SECRET, ' table:style-name="row"')):
        row = (
            "<table:table><table:table-row><table:table-cell><text:p>Seen.</text:p>"
            f"</table:table-cell><table:table-cell{style}><text:p>{inner}</text:p>"
            "</table:table-cell></table:table-row></table:table>"
        )
        assert_left_out(read(make_ods(row, styles=ODS_STYLES.format(properties))))


def test_hidden_rows_and_columns_of_an_opendocument_sheet_are_left_out() -> None:
    cells = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    row = f"<table:table-row>{cells.format('Seen.')}{cells.format(SECRET)}</table:table-row>"
    column = '<table:table-column/><table:table-column table:visibility="collapse"/>'
    assert_left_out(read(make_ods(f"<table:table>{column}{row}</table:table>")))
    hidden = f'<table:table-row table:visibility="filter">{cells.format(SECRET)}</table:table-row>'
    seen = f"<table:table-row>{cells.format('Seen.')}</table:table-row>"
    assert_left_out(read(make_ods(f"<table:table>{seen}{hidden}</table:table>")))


def with_part(data: bytes, name: str, old: str, new: str) -> bytes:
    """Return a package with a text of one part replaced."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {item: archive.read(item) for item in archive.namelist()}
    assert old.encode() in parts[name]
    parts[name] = parts[name].replace(old.encode(), new.encode(), 1)
    return make_package(parts)


def slide_run(text: str, attributes: str = "", content: str = "") -> str:
    """Return a shape whose first run is seen and whose second is set so."""
    run = f"</a:t></a:r><a:r><a:rPr {attributes}>{content}</a:rPr><a:t>{text}"
    return slide_shape(f"Seen {run}", at=(10, 10, 300, 40))


def filled(colour: str) -> str:
    return f'<a:solidFill><a:srgbClr val="{colour}"/></a:solidFill>'


@pytest.mark.parametrize(
    ("attributes", "content"),
    [
        ('strike="sngStrike"', ""), ('sz="100"', ""), ("", filled("FFFFFF")), ("", "<a:noFill/>"),
        ("", '<a:solidFill><a:schemeClr val="bg1"/></a:solidFill>'),
        ("", '<a:solidFill><a:srgbClr val="000000"><a:alpha val="0"/></a:srgbClr></a:solidFill>'),
    ],
)  # fmt: skip
def test_run_of_a_slide_that_is_not_seen(attributes: str, content: str) -> None:
    document = read(make_pptx([slide_run(SECRET, attributes, content)]))
    assert document.text == "Seen"
    assert_left_out(document)


def test_hidden_slides_and_shapes_are_left_out() -> None:
    seen = slide_shape("Seen.")
    shape = slide_shape(SECRET).replace('name="Shape"', 'name="Shape" hidden="1"')
    assert_left_out(read(make_pptx([seen + shape])))
    data = make_pptx([seen + slide_shape(SECRET, at=(2000, 10, 100, 20))])
    off = with_part(data, "ppt/presentation.xml", "<p:sldIdLst>",
                    '<p:sldSz cx="9144000" cy="6858000"/><p:sldIdLst>')  # fmt: skip
    assert_left_out(read(off))
    hidden = with_part(make_pptx([seen, slide_shape(SECRET), seen]), "ppt/slides/slide2.xml",
                       "<p:sld ", '<p:sld show="0" ')  # fmt: skip
    document = read(hidden)
    assert_left_out(document, f"slide 2: {SECRET}")
    assert [page.number for page in document.pages] == [1, 2, 3]


def test_white_text_on_a_painted_slide_is_seen() -> None:
    white = slide_run(SECRET, "", filled("FFFFFF"))
    painted = slide_shape("", at=(0, 0, 700, 500)).replace(
        "</p:spPr>", f"{filled('002060')}</p:spPr>"
    )
    own = white.replace("</p:spPr>", f"{filled('002060')}</p:spPr>")
    for shapes in (painted + white, own):
        document = read(make_pptx([shapes]))
        assert SECRET in document.text
        assert not document.warnings


@pytest.mark.parametrize(
    "source",
    [
        "Seen <span style='color:#fff'>{}</span> one.", "Seen.\n\n<div hidden>\n\n{}\n\n</div>",
        "Seen <!-- {} --> one.", "Seen ~~{}~~ one.", "Seen <del>{}</del> one.",
        'Seen [link](http://x.org "{}") one.', "Seen [link](<a b> '{}').",
        "Seen [link][1].\n\n[1]: http://x.org \"{}\"", "Seen ![{}](a.png) one.",
        "Seen.\n\n![{}](a.png)", "Seen ![{}][1].\n\n[1]: a.png", 'Seen <b title="{}">one</b>.',
        'Seen <img src="a.png" alt="{}"> one.', ("<style>.a{{display:none}}</style>\n\nSeen\n"
        '<p class="a">{}</p>'), "Seen.\n\n<p style=\"font-size:0\">{}",
        "<details open><s>{}</s>Seen", '<s>{0}</s> ~~{0}~~ [Seen](b "{0}")',
    ],
)  # fmt: skip
def test_markdown_that_is_not_seen(source: str) -> None:
    document = parse(source.format(SECRET), ".md")
    assert "Seen" in document.text
    assert_left_out(document)


@pytest.mark.parametrize(
    "source",
    [
        "`<del>{}</del>`", "```html\n<p hidden>{}</p>\n```", "    <del>{}</del>",
        "a ~~ b {} c ~~ d",
        "<ins>{}</ins>", "<details><summary>More</summary>{}</details>", "`` ~~{}~~ ``",
        "It costs $5 <b>{}</b>.", "<!DOCTYPE> {}", "1 < 2 and {} > 0",
    ],
)  # fmt: skip
def test_markdown_that_is_seen(source: str) -> None:
    document = parse(source.format(SECRET), ".md")
    assert SECRET in document.text
    assert not document.warnings


@pytest.mark.parametrize("extension", [".txt", ".md", ".html"])
def test_characters_that_are_not_shown_part_no_number(extension: str) -> None:
    joined = "It cost 1\u200b000 or 2\u2060000, 3\ufe0f000, 4\u200d000 and co\u00adoperated."
    document = parse(joined, extension)
    assert "It cost 1000 or 2000, 3000, 4000 and cooperated." in document.text
    assert not document.warnings
    assert "نمی\u200cخواهم ❤\ufe0f" in parse("نمی\u200cخواهم ❤\ufe0f 葛 a", extension).text


@pytest.mark.parametrize("extension", [".txt", ".md", ".html"])
def test_tags_and_combining_strokes_are_left_out(extension: str) -> None:
    tagged = "".join(chr(0xE0000 + ord(character)) for character in SECRET)
    assert_left_out(parse(f"Seen {tagged} one.", extension))
    struck = "".join(f"{character}\u0336" for character in SECRET)
    document = parse(f"Seen {struck} one, and a =\u0338 b.", extension)
    assert "a =\u0338 b" in document.text
    assert_left_out(document)


@pytest.mark.parametrize(
    ("source", "extension"),
    [
        ("It fell by \u202e52\u202c percent.", ".txt"),
        ("It fell by \u202e52\u202c percent.", ".md"),
        ("<p>It fell by &#8238;52&#8236; percent.</p>", ".html"),
        ('<p>It fell by <bdo dir="rtl">52</bdo> percent.</p>', ".html"),
        ('<p>It fell by <i style="unicode-bidi:bidi-override">52</i> percent.</p>', ".html"),
    ],
)
def test_text_that_is_turned_is_noted(source: str, extension: str) -> None:
    document = parse(source, extension)
    assert "It fell by 52 percent." in document.text
    (note,) = document.warnings
    assert "turn the direction of the text (at “52" in note


def test_turned_text_of_a_word_document_is_noted() -> None:
    document = read(make_docx(word_paragraph("It fell by \u202e52\u202c percent.")))
    assert document.text == "It fell by 52 percent."
    assert "turn the direction" in document.warnings[0]
