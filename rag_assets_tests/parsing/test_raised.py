"""Raised and lowered text: no number gains a digit, whatever the format."""

import re

import pytest

from rag_assets.parsing.seen import lowered, raised, settle_raised
from rag_assets_tests.parsing.made_up_office import (
    in_paragraph,
    make_docx,
    make_pptx,
    read,
    slide_shape,
    word_text,
)
from rag_assets_tests.parsing.made_up_sheets import make_ods, make_xlsx, sheet_xml
from rag_assets_tests.parsing.test_html import inner_cuts, parse


def settle(source: str) -> str:
    """Return a line written with `<sup>` and `<sub>`."""
    marked = re.sub(r"<sup>(.*?)</sup>", lambda found: raised(found[1]), source)
    return settle_raised(re.sub(r"<sub>(.*?)</sub>", lambda found: lowered(found[1]), marked))


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("2.3 × 10<sup>5</sup> cells", "2.3 × 10^5 cells"),
        ("10<sup>−</sup><sup>3</sup> mol m<sup>–2</sup>", "10^-3 mol m^-2"),
        ("10 <sup>5</sup>", "10^5"),
        ("10<sup>5</sup>3", "10^5 3"),
        ("12 km<sup>2</sup>, 3 cm<sup>3</sup>", "12 km^2, 3 cm^3"),
        ("R<sup>2</sup>, x<sub>1</sub><sup>2</sup>, (a+b)<sup>2</sup>", "R^2, x1^2, (a+b)^2"),
        ("e<sup>−x</sup>, x<sup>n+1</sup>", "e^(-x), x^(n+1)"),
        ("in 2015<sup>3</sup>, 2,000<sup>2</sup>", "in 2015[3], 2,000[2]"),
        ("word<sup>1</sup>, end.<sup>12</sup>", "word[1], end.[12]"),
        ("研究<sup>3</sup>表明", "研究[3]表明"),
        ("12<sup>[4]</sup> percent<sup>1,2</sup>", "12[4] percent[1,2]"),
        ("Smith<sup>a</sup>, 4.5<sup>b</sup>", "Smith[a], 4.5[b]"),
        ("(Smith 2010)<sup>2</sup>", "(Smith 2010)[2]"),
        ("<sup>3</sup>20 patients", "[3]20 patients"),
        ("1<sup>st</sup>, 10<sup>th</sup>, M<sup>me</sup>", "1st, 10th, Mme"),
        ("<sup>14</sup>C, [<sup>18</sup>F]FDG", "14C, [18F]FDG"),
        ("CO<sub>2</sub>, H<sub>2</sub>O", "CO2, H2O"),
        ("SO<sub>4</sub><sup>2−</sup>, Ca<sup>2+</sup>, NH<sub>4</sub><sup>+</sup>",
         "SO4^2-, Ca2+, NH4+"),
        ("1010<sub>2</sub>, log<sub>2</sub>10", "1010_2, log2 10"),
        ("5<sup>1</sup>/<sub>2</sub>", "5 1/2"),
        ("37<sup>o</sup>C, 37 <sup>0</sup>C", "37°C, 37 °C"),
        ("word<sup>*</sup>", "word*"),
    ],
)  # fmt: skip
def test_raised_text_is_a_power_a_note_or_a_sign(source: str, written: str) -> None:
    assert settle(source) == written


def test_web_page_keeps_powers_and_notes_apart() -> None:
    body = (
        "<p>There were 10<sup><i>5</i></sup> cells in 2015<sup>3</sup> with CO<sub>2</sub>, as "
        'noted<sup><a href="#n">5</a></sup>, at 10<span style="vertical-align: super">6</span>.</p>'
        "<table><tr><th>a</th><th>b</th></tr><tr><td>10<sup>6</sup></td><td>x</td></tr></table>"
    )
    texts = [text for _, _, text in inner_cuts(body)]
    assert texts[0] == "There were 10^5 cells in 2015[3] with CO2, as noted[5], at 10^6."
    assert "| 10^6 | x |" in texts[1]


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        ("<mn>1.33</mn><mo>×</mo><msup><mn>10</mn><mrow><mo>−</mo><mn>4</mn></mrow></msup>",
         "1.33 × 10^-4"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<msqrt><mn>2</mn></msqrt>", "sqrt(2)"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", "8^(1/3)"),
        (("<semantics><mrow><mn>2</mn><mo>=</mo><mn>2</mn></mrow>"
         '<annotation encoding="application/x-tex">2=2</annotation></semantics>'), "2 = 2"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
        (("<semantics><mi>x</mi><annotation encoding='application/x-tex'>\\bar x</annotation>"
         "</semantics>"), "x"),
    ],
)  # fmt: skip
def test_formula_is_a_line_in_prose_and_in_a_table(formula: str, written: str) -> None:
    math = f"<math>{formula}</math>"
    cuts = inner_cuts(
        f"<p>Here {math} is.</p><table><tr><th>a</th><th>b</th></tr>"
        f"<tr><td>c</td><td>{math}</td></tr></table>"
    )
    assert cuts[0][2] == f"Here {written} is."
    assert f"| c | {written} |" in cuts[1][2]


def test_word_keeps_powers_and_notes_apart() -> None:
    up, down = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
    body = in_paragraph(
        word_text("There were 10"), word_text("−", up), word_text("5", up), word_text(" mol m"),
        word_text("2", '<w:position w:val="6"/><w:sz w:val="16"/>'), word_text(" in 2015"),
        word_text("3", '<w:rStyle w:val="Up"/>'), word_text(" with CO"), word_text("2", down),
    )  # fmt: skip
    styles = f'<w:style w:type="character" w:styleId="Up"><w:rPr>{up}</w:rPr></w:style>'
    written = read(make_docx(body, {"styles": styles})).text
    assert written == "There were 10^-5 mol m^2 in 2015[3] with CO2"


def test_cells_keep_powers_and_notes_apart() -> None:
    up = '<rPr><vertAlign val="superscript"/></rPr>'
    rich = (
        f"<r><t>2.3 × 10</t></r><r>{up}<t>5</t></r><r><t> cells in 2015</t></r><r>{up}<t>3</t></r>"
    )
    inline = f"<c t='inlineStr'><is>{rich}</is></c>"
    rows = sheet_xml([[inline, '<c t="s"><v>0</v></c>']])
    written = "2.3 × 10^5 cells in 2015[3]"
    assert (
        f"{written}; column B = {written}"
        in read(make_xlsx({"S": rows}, strings=f"<si>{rich}</si>")).text
    )
    styles = (
        '<style:style style:name="up"><style:text-properties text-position="super 58%"/>'
        "</style:style>"
    )
    row = (
        "<table:table><table:table-row><table:table-cell><text:p>10<text:span "
        'text:style-name="up">5</text:span> cells</text:p></table:table-cell></table:table-row>'
        "</table:table>"
    )
    assert read(make_ods(row, styles=styles)).text.endswith("10^5 cells")


def test_slides_keep_powers_and_notes_apart() -> None:
    up, down = '<a:rPr baseline="30000"/>', '<a:rPr baseline="-25000"/>'
    runs = (("10", ""), ("-5", up), (" mol of CO", ""), ("2", down), (" in 2015", ""), ("3", up))
    body = "".join(f"<a:r>{properties}<a:t>{text}</a:t></a:r>" for text, properties in runs)
    shape = slide_shape("x").replace("<a:r><a:t>x</a:t></a:r>", body)
    assert read(make_pptx([shape])).text == "10^-5 mol of CO2 in 2015[3]"


def test_markdown_keeps_powers_and_notes_apart() -> None:
    source = (
        "10<sup>5</sup> mol of CO<sub>2</sub> in 2015<sup>3</sup>, `10<sup>5</sup>`, $x^2$[^1]."
    )
    document = parse(f"{source}\n\n| a |\n|---|\n| 10<sup>6</sup> |\n\n[^1]: Note.", ".md")
    assert document.text.startswith("10^5 mol of CO2 in 2015[3], `10<sup>5</sup>`, $x^2$[^1].")
    assert "| 10^6 |" in document.text
