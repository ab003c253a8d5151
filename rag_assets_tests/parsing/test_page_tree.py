"""Web pages: lists, notes, formulas, listings and tables as programs write them."""

import pytest

from rag_assets.parsing.mathml import linear_tex
from rag_assets_tests.parsing.test_html import PROSE, article, inner_cuts, parse


def texts(body: str) -> list[str]:
    return [text for _, _, text in inner_cuts(f"<p>{PROSE}</p>{body}")[1:]]


def ltx_note(mark: str, text: str) -> str:
    return (
        f'<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">{mark}</sup>'
        '<span class="ltx_note_outer"><span class="ltx_note_content">'
        f'<sup class="ltx_note_mark">{mark}</sup><span class="ltx_tag ltx_tag_note">{mark}</span>'
        f"{text}</span></span></span>"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<ol><li>a one<li value=5>a five<li>a six</ol>", ["1. a one", "5. a five", "6. a six"]),
        ("<ol reversed><li>gold<li>tin</ol>", ["2. gold", "1. tin"]),
        ("<ol type=a start=26><li>last<li>next</ol>", ["z. last", "aa. next"]),
        ("<ol type=I start=4><li>four</ol>", ["IV. four"]),
        ("<style>ol.x{list-style:lower-roman}</style><ol class=x start=9><li>nine</ol>",
         ["ix. nine"]),
        ("<ol start=-1><li>minus</ol>", ["-1. minus"]),
        ("<ol><li>(1) The keeper.<li>(2) The boat.</ol>", ["(1) The keeper.", "(2) The boat."]),
        ("<ol><li>(7) The keeper.</ol>", ["1. (7) The keeper."]),
        ('<ul><li class=ltx_item><span class="ltx_tag ltx_tag_item">(i)</span><p>First.</p></ul>',
         ["(i) First."]),
        ("<ul><li><span>•</span><p>First.</p></ul>", ["- First."]),
        ("<ol><li><p>First.</p><p>More.</p><li>Two.</ol>", ["1. First.", "More.", "2. Two."]),
        ("<ol><li><h3>Step</h3><p>Do it.</p></ol>", ["1. Step", "Do it."]),
    ],
)  # fmt: skip
def test_items_have_the_marks_that_a_browser_shows(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


def test_an_item_goes_on_below_its_first_text() -> None:
    text = parse(article("<ol><li><p>First.</p><p>More.</p><li>Two.</ol>")).text
    assert "1. First.\n  More.\n2. Two." in text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"<p>Born in 2015{ltx_note('3', 'A year.')} here.</p>",
         ["Born in 2015[3] here.", "[3] A year."]),
        (f"<style>.ltx_note_outer{{display:none}}</style><p>Ice{ltx_note('†', 'Cold.')} here.</p>",
         ["Ice† here.", "† Cold."]),
        (('<p>In 1999<a href="#n" role="doc-noteref">1</a> here.</p><aside role="doc-footnote" '
         'id="n"><p>By the council.</p></aside>'), ["In 1999[1] here.", "By the council."]),
        (('<p>In 1999<sup><a href="p.html#n">1</a></sup>.</p><p>More.</p><p id="n"><sup>1</sup> By '
         "all.</p>"), ["In 1999[1].", "More.", "[1] By all."]),
        (('<p>Ice<sup class="reference"><a href="#c">[1]</a></sup>.</p><h2>References<span '
         'class="mw-editsection">[<a href="/e">edit</a>]</span></h2><ol><li id="c"><span '
         'class="mw-cite-backlink">^ <a href="#r">a</a></span> Smith, J. (1990). Ice.</ol>'),
         ["Ice[1].", "References", "[1] Smith, J. (1990). Ice."]),
        ('<p>At 10<sup>5</sup> it froze<span class="sidenote">In 1963.</span> early.</p>',
         ["At 10^5 it froze early.", "In 1963."]),
        ('<p>See table <a href="#t">1</a> here.</p><p id="t">The table.</p>',
         ["See table 1 here.", "The table."]),
        ('<h2>Ice<a class="headerlink" href="#ice">¶</a></h2><p>Text.</p>', ["Ice", "Text."]),
    ],
)  # fmt: skip
def test_a_note_glues_to_no_number_and_has_its_own_place(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


def test_notes_are_footnotes_and_what_references_names_are_references() -> None:
    body = f"<p>Ice{ltx_note('1', 'Cold.')} here.</p>"
    assert inner_cuts(f"<p>{PROSE}</p>{body}")[-1][0] == "footnote"
    cited = '<p>Ice <sup><a href="#c">1</a></sup></p><h2>References</h2><ol><li id=c>Smith.</ol>'
    assert inner_cuts(f"<p>{PROSE}</p>{cited}")[-1][0] == "reference"


def test_a_hidden_note_stays_hidden() -> None:
    body = (
        '<style>.tip .text{visibility:hidden}</style><p>It <span class="tip">froze<span '
        'class="text" role="tooltip">secret one</span></span> early.</p>'
        f'<p style="display:none">Gone{ltx_note("2", "secret two")}</p>'
    )
    document = parse(article(f"<p>{PROSE}</p>{body}"))
    assert "It froze early." in document.text
    assert "secret" not in document.text


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
        ("<mfrac><mn>1</mn><mrow><mn>2</mn><mi>x</mi></mrow></mfrac>", "1/(2x)"),
        ("<mfrac><mrow><mi>d</mi><mi>y</mi></mrow><mrow><mi>d</mi><mi>x</mi></mrow></mfrac>",
         "dy/dx"),
        ("<mn>3</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "3 1/2"),
        ("<mfrac><mn>1.5</mn><mn>2</mn></mfrac>", "1.5/2"),
        ("<msup><mrow><mo>(</mo><mi>a</mi><mo>+</mo><mi>b</mi><mo>)</mo></mrow><mn>2</mn></msup>",
         "(a+b)^2"),
        ("<msup><mi>x</mi><mo>′</mo></msup>", "x′"),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", "sin x"),
        ("<mn>5</mn><mo>&#x2062;</mo><mi>mg</mi>", "5 mg"),
        ("<mn>1</mn><mn>2</mn>", "1 2"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "x\u0304"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>y</mi>", "∑_i^n y"),
        (("<mo>[</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd>"
         "<mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>]</mo>"), "[1, 2; 3, 4]"),
        ('<mfenced open="[" close=")" separators=";"><mn>1</mn><mn>2</mn></mfenced>', "[1; 2)"),
        ("<mmultiscripts><mi>C</mi><mprescripts/><none/><mn>14</mn></mmultiscripts>", "^14C"),
        ('<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>', "n choose k"),
        ("<mi>v</mi><mo>=</mo><mn>3</mn><mtext>&nbsp;m/s</mtext>", "v = 3 m/s"),
        (("<semantics><mi>a</mi><annotation encoding='application/x-tex'>\\alpha</annotation>"
         "</semantics>"), "a"),
    ],
)  # fmt: skip
def test_mathml_is_a_line_of_text(formula: str, expected: str) -> None:
    assert texts(f"<p>Here <math>{formula}</math> is.</p>") == [f"Here {expected} is."]


MATH = "<math><msup><mi>x</mi><mn>2</mn></msup></math>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ((f'<span class="katex"><span class="katex-mathml">{MATH}</span><span class="katex-html" '
         'aria-hidden="true">x2</span></span>'), "x^2"),
        (('<span class="MathJax"><nobr aria-hidden="true">x2</nobr><span '
         f'class="MJX_Assistive_MathML">{MATH}</span></span><script type="math/tex">x^2</script>'),
         "x^2"),
        ((f"<mjx-container><mjx-math>x2</mjx-math><mjx-assistive-mml>{MATH}</mjx-assistive-mml>"
         "</mjx-container>"), "x^2"),
        ('<span class="MathJax_Preview">[math]</span><script type="math/tex">x^{n+1}</script>',
         "x^(n+1)"),
        ('<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle E=mc^{2}}">',
         "E = mc^2"),
        ('<math alttext="1.5\\times 10^{-3}"></math>', "1.5 × 10^-3"),
        (("10<math><msup><mi></mi><mn>5</mn></msup></math> and CO<math><msub><mi></mi><mn>2</mn>"
         "</msub></math>"), "10^5 and CO2"),
        ("10<math><mn>5</mn></math>", "10 5"),
    ],
)  # fmt: skip
def test_a_formula_is_read_once_whatever_drew_it(body: str, expected: str) -> None:
    assert texts(f"<p>Here {body} is.</p>") == [f"Here {expected} is."]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\frac{a+b}{\sqrt{2}}", "(a+b)/sqrt(2)"),
        (r"\sqrt[3]{x}", "x^(1/3)"),
        (r"5\,\mathrm{mg}", "5 mg"),
        (r"\sum_{i=1}^{n} x_{i}", "∑_(i = 1)^n x_i"),
        (r"\unknownmacro{x}", r"\unknownmacro x"),
        (r"\frac{a", r"\frac{a"),
    ],
)
def test_tex_is_a_line_of_text(source: str, expected: str) -> None:
    assert linear_tex(source) == expected


def test_an_equation_of_latexml_has_its_number() -> None:
    row = f"<tr><td></td><td>{MATH}</td><td><math><mo>=</mo><mi>y</mi></math></td><td>(1)</td></tr>"
    body = f'<p>{PROSE}</p><table class="ltx_equation ltx_eqn_table">{row}</table>'
    assert inner_cuts(body)[1] == ("formula", None, "x^2 = y (1)")


@pytest.mark.parametrize(
    "body",
    [
        "<pre>a = 1<br>  b = 2</pre>",
        "<pre><div class=line>a = 1</div><div class=line>  b = 2</div></pre>",
        (
            "<pre><button>Copy</button><span class=lineno>1</span>a = 1\n"
            "<span class=lineno>2</span>  b = 2</pre>"
        ),
        (
            "<table><tr><td class=linenos><pre>1\n2</pre></td><td><pre>a = 1\n  b = 2</pre>"
            "</td></tr></table>"
        ),
        (
            "<table><tr><td class=blob-num data-line-number=1></td><td>a = 1</td></tr><tr>"
            "<td class=blob-num data-line-number=2></td><td>  b = 2</td></tr></table>"
        ),
        "<div><code>a = 1<br>&nbsp; b = 2</code></div>",
        (
            '<div class="ltx_listing"><div class="ltx_listingline">'
            '<span class="ltx_tag_listingline">1</span>a = 1</div>'
            '<div class="ltx_listingline">  b = 2</div></div>'
        ),
    ],
)
def test_a_listing_keeps_its_lines_without_their_numbers(body: str) -> None:
    assert inner_cuts(f"<p>{PROSE}</p>{body}")[1] == ("code", None, "a = 1\n  b = 2")


def header(table: str) -> str:
    return texts(table)[-1].split("\n")[0]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("<thead><tr><th rowspan=2>Plant<th colspan=2>Red lamp<tr><th>2001<th>2002</thead>"
         "<tr><td>Kale<td>5<td>6"), "| Plant | Red lamp / 2001 | Red lamp / 2002 |"),
        (("<tr><th rowspan=3>P<th colspan=2>Yield<tr><th colspan=2>Red<tr><th>Jan<th>Feb"
         "<tr><td>Kale<td>5<td>6"), "| P | Yield / Red / Jan | Yield / Red / Feb |"),
        ("<tr><th>Plant<th>Height<tr><th><th>cm<tr><td>Kale<td>5<tr><td>Leek<td>7",
         "| Plant | Height (cm) |"),
        ("<tr><td>Plant<td>Height<tr><td><td>(cm)<tr><td>Kale<td>5<tr><td>Leek<td>7",
         "| Plant | Height (cm) |"),
        (("<tr><th rowspan=2>Model<td colspan=2>Lamp<tr><td>P<td>R<tr><th>Ours<td>0.5<td>0.6<tr>"
         "<th>Base<td>0.4<td>0.3"), "| Model | Lamp / P | Lamp / R |"),
        ("<tr><th>Lamp<th>2001<tr><th colspan=2>Group A<tr><td>Red<td>5", "| Lamp | 2001 |"),
        ("<tr><th>Year<th>Days<tr><td>1900<td>4", "| Year | Days |"),
    ],
)  # fmt: skip
def test_rows_of_names_are_joined(rows: str, expected: str) -> None:
    assert header(f"<table>{rows}</table>") == expected


def test_a_table_has_its_title_foot_and_signs_in_place() -> None:
    body = (
        "<table><tr><th colspan=2>Ice of the lake<tr><th>Year<th>Frozen<tfoot><tr><td>All<td>2"
        "</tfoot><tbody><tr><td>1900<td><img src=y.png alt=Yes><tr><td>1901<td><table><tr><td>1"
        "<td>2</table></table>"
    )
    assert texts(body) == [
        "Ice of the lake",
        "| Year | Frozen |\n| --- | --- |\n| 1900 | Yes |\n| 1901 | 1 2 |\n| All | 2 |",
    ]


def test_a_caption_below_its_table_is_bound_to_it() -> None:
    table = "<table><tr><th>A<th>B<tr><td>1<td>2</table>"
    body = f"<p>{PROSE}</p><figure>{table}<figcaption>Table 3: Ice.</figcaption></figure>"
    attachment = parse(article(body)).attachments[0]
    assert (attachment.kind, attachment.name) == ("table", "Table 3")


def test_tables_and_lists_by_their_roles() -> None:
    cells = "".join(f"<div role=row>{row}</div>" for row in (
        "<span role=columnheader>A</span><span role=columnheader>B</span>",
        "<span role=cell>1</span><span role=cell>2</span>",
    ))  # fmt: skip
    assert texts(f"<div role=table>{cells}</div>") == ["| A | B |\n| --- | --- |\n| 1 | 2 |"]
    assert texts("<div class=row><div class=cell>A box</div></div>") == ["A box"]
    assert texts("<div role=list><div role=listitem>An item</div></div>") == ["- An item"]


def test_frames_stay_out_and_boxes_in_the_text_stay_in() -> None:
    text = parse(article(
        f'<p>{PROSE}</p><div class="cookie-banner"><p>We use cookies here.</p></div><p>{PROSE}</p>'
        "<aside><p>Never step on thin ice in the spring.</p></aside>"
        '<h2>Contents</h2><ul><li><a href="#a">Winter of old</a></ul><h2 id=a>Winter of old</h2>'
        f"<p>{PROSE}</p>"
    )).text  # fmt: skip
    assert "cookies" not in text
    assert "Never step on thin ice" in text
    assert "Contents" not in text
    assert text.count("Winter of old") == 1


def test_a_reading_over_a_word_is_left_out() -> None:
    assert texts("<p>漢<ruby>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>を読む。</p>") == [
        "漢字を読む。"
    ]
