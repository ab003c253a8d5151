"""What a reader does not see is no evidence: left out of the text in every format, and said."""

import pytest

from rag_assets.model import ParsedDocument
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
        '<font color="#ffffff">{}</font>', '<table bgcolor=black><tr><td><font color=black>{}'
        "</font></table>", '<div style="visibility:hidden"><p>{}</p></div>',
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
        ('<div class="hero"><p style="color:#fff">{}</p></div>', "<link rel=stylesheet href=x.css>"),
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
