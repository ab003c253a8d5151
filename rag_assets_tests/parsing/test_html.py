"""Web pages: their content with the structure of their tree, and what they say of themselves."""

import base64
import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing import ParseHints, parse_document, sniff_media_type
from rag_assets.parsing.html import parse_page, visible_pieces
from rag_assets.parsing.page_styles import leave_unseen
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract, parse_or_known_reason
from rag_assets_tests.parsing.test_real_papers import DATA

PROSE = "The ice was thick in the winter of that year, and nobody crossed the river for weeks. "
MENU = "<nav><a href=/>Home page</a> <a href=/x>About all of us</a></nav>"
FOOT = "<footer>All rights reserved by the owners of this site</footer>"


def parse(source: str | bytes, extension: str = ".html") -> ParsedDocument:
    data = source.encode() if isinstance(source, str) else source
    document = parse_document(data, ParseHints(extension), make_settings())
    assert_keeps_the_contract(document)
    return document


def article(body: str, head: str = "") -> str:
    return (
        f"<!DOCTYPE html><html><head>{head}</head><body>{MENU}<main><h1>On ice</h1>"
        f"<p>{PROSE * 6}</p>{body}<p>{PROSE * 4}</p></main>{FOOT}</body></html>"
    )


def cuts(source: str) -> list[tuple[str, int | None, str]]:
    document = parse(source)
    return [
        (block.kind, block.level, document.text[block.start : block.end])
        for block in document.blocks
    ]


def inner_cuts(body: str) -> list[tuple[str, int | None, str]]:
    found = cuts(article(body))
    assert found[0] == ("heading", 1, "On ice")
    assert found[-1][2] == (PROSE * 4).strip()
    return found[2:-1]


def test_navigation_and_footer_are_no_content() -> None:
    text = parse(article("")).text
    assert "About all of us" not in text
    assert "All rights reserved" not in text


def test_lists_keep_marks_and_depth() -> None:
    items = '<ol start="3"><li>third <b>one</b><ul><li>inner</li></ul><li>fourth</ol>'
    body = f"<h2>Parts</h2><p>{PROSE}</p>{items}"
    assert inner_cuts(body)[2:] == [
        ("list", 1, "3. third one"),
        ("list", 2, "- inner"),
        ("list", 1, "4. fourth"),
    ]
    assert "3. third one\n  - inner\n4. fourth" in parse(article(body)).text


def test_a_table_is_markdown_with_its_caption() -> None:
    body = (
        "<table><caption>Table 2: Ice</caption><tr><th>Year<th>Ice | mm</tr>"
        "<tr><td rowspan=2>1900<td>3<br>and more</tr><tr><td>4</table>"
    )
    caption, table = inner_cuts(body)
    assert caption == ("caption", None, "Table 2: Ice")
    assert table[2] == "| Year | Ice \\| mm |\n| --- | --- |\n| 1900 | 3 and more |\n|  | 4 |"
    document = parse(article(body))
    attachment = document.attachments[0]
    assert (attachment.attachment_id, attachment.kind, attachment.name) == (
        "tab-001", "table", "Table 2",
    )  # fmt: skip
    assert [block.attachment_id for block in document.blocks if block.attachment_id] == [
        "tab-001", "tab-001",
    ]  # fmt: skip


def test_a_layout_table_is_no_table() -> None:
    body = f"<table><tr><td><h2>Left</h2><p>{PROSE}</p></td></tr></table>"
    assert inner_cuts(body) == [("heading", 2, "Left"), ("paragraph", None, PROSE.strip())]


def test_code_stands_as_it_is() -> None:
    assert inner_cuts("<pre>  x = 1\n    y = 2\n</pre>") == [("code", None, "  x = 1\n    y = 2")]


def test_a_figure_has_its_caption_and_nothing_is_fetched() -> None:
    body = (
        '<figure><img src="https://x.y/a%20b/photo.jpg?w=3" alt="A boat">'
        f"<figcaption>Figure 2: The boat in the ice.</figcaption></figure><p>{PROSE}</p>"
    )
    figure, caption, _ = inner_cuts(body)
    assert figure == ("figure", None, "![Figure 2](attachment:fig-001)")
    assert caption == ("caption", None, "Figure 2: The boat in the ice.")
    attachment = parse(article(body)).attachments[0]
    assert (attachment.name, attachment.caption) == ("Figure 2", "Figure 2: The boat in the ice.")
    assert attachment.content is None


def test_an_embedded_image_keeps_its_bytes_and_decoration_is_left_out() -> None:
    data = b"\x89PNG" + b"x" * 600
    uri = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    images = f'<img src="{uri}" alt="chart"><img src=a.gif width=1><img src=b.png alt="">'
    body = f"<p>{PROSE}</p>{images}<p>{PROSE}</p>"
    attachments = parse(article(body)).attachments
    assert [item.content for item in attachments] == [data]
    assert (attachments[0].attachment_id, attachments[0].media_type) == ("img-001", "image/png")


def test_an_image_cuts_no_sentence() -> None:
    body = f'<p>Before <img src="a.png" alt="sign of it"> and after. {PROSE}</p>'
    assert inner_cuts(body)[0][2].startswith("Before and after.")


def test_what_is_hidden_is_not_read() -> None:
    body = '<p style="display: none">secret one</p><div hidden>secret two</div><script>x</script>'
    page = parse_page(f"<html><body>{body}<p>seen</p></body></html>")
    leave_unseen(page)
    assert [piece.text for piece in visible_pieces(page)] == ["seen"]


def test_a_formula_hidden_behind_its_picture_is_read() -> None:
    body = (
        f'<p>{PROSE} For <span style="display:none"><math><semantics><msup><mi>x</mi><mn>2</mn>'
        '</msup><annotation encoding="application/x-tex">x^{2}</annotation></semantics></math>'
        "</span> we see it.</p>"
    )
    assert "For x^2 we see it." in inner_cuts(body)[0][2]


HEAD = """<title>On ice | The Site</title><meta name="description" content="About ice.">
<meta property="og:site_name" content="The Site"><meta name="citation_doi" content="10.1/X">
<meta name="keywords" content="ice, river"><script type="application/ld+json">
{"@graph": [{"@type": "WebPage", "name": "x"}, {"@type": "NewsArticle", "headline": "On thick ice",
"author": [{"@type": "Person", "name": "A. One"}, {"name": "B. Two"}],
"datePublished": "2019-05-06T00:00"}]}</script>
<script type="application/ld+json">{broken</script>"""


def test_an_equation_of_its_own_is_a_formula() -> None:
    math = "<math><mi>a</mi><mo>=</mo><mi>b</mi></math>"
    body = f"<p>{PROSE}</p><dl><dd><span>{math},</span></dd></dl><p>{PROSE}</p>"
    assert inner_cuts(body)[1] == ("formula", None, "a = b,")


def test_a_table_of_contents_leaves_no_stray_entry() -> None:
    links = "".join(f"<li><a href=#{i}>Part number {i} of it all</a>" for i in range(8))
    body = f"<ul>{links}</ul><h2>Part number 3 of it all</h2><p>{PROSE * 3}</p>"
    assert "- Part number" not in parse(article(body)).text


def test_json_ld_and_meta_tags_say_what_the_page_is() -> None:
    document = parse(article("", HEAD))
    assert document.title == "On thick ice"
    assert document.authors == ("A. One", "B. Two")
    assert document.year == 2019
    assert document.metadata["description"] == "About ice."
    assert document.metadata["publisher"] == "The Site"
    assert document.metadata["tags"] == "ice, river"


def test_the_title_loses_the_sites_name_where_a_heading_says_which_part_it_is() -> None:
    assert parse(article("", "<title>On ice | The Site</title>")).title == "On ice"
    assert parse(article("", "<title>Other | The Site</title>")).title == "Other | The Site"


def test_the_declared_language_stands_where_the_text_does_not_show_one() -> None:
    text = "Лёд на реке стоял до самой весны. " * 20
    assert parse(f"<html lang=ru-RU><body><p>{text}</p></body></html>").language == "ru"


def test_the_meta_encoding_is_used() -> None:
    text = "中文的正文在这里。" * 30
    page = f"<html><head><meta charset=gb2312></head><body><p>{text}</p></body>"
    assert "中文的正文在这里。" in parse(page.encode("gb18030")).text


def test_a_page_of_a_table_keeps_it() -> None:
    rows = "".join(f"<tr><td>Item {i}<td>{i * 3}<td>kg" for i in range(60))
    page = f"<body>{MENU}<h1>Prices</h1><table><tr><th>Name<th>Price<th>Unit{rows}</table>{FOOT}"
    text = parse(f"<html>{page}").text
    assert all(f"| Item {i} | {i * 3} | kg |" in text for i in range(60))
    assert "All rights reserved" not in text


def test_a_statute_without_markup_keeps_every_article() -> None:
    articles = "".join(
        f"<b>Section {i}.</b> The operator shall keep records of shipment {i}.<br>\n(a) For {i} "
        "years they shall be kept.<br><br>"
        for i in range(1, 80)
    )
    text = parse(f"<html><body><center><font size=5>ACT</font></center>{articles}</body>").text
    assert all(f"Section {i}. The operator" in text for i in range(1, 80))


def test_a_form_and_a_directory_keep_their_text() -> None:
    form = "<html><body><h1>Leave</h1><form><label>First name <input></label><p>Reason:</p></form>"
    assert parse(form).text == "Leave\n\nFirst name\n\nReason:"
    links = "".join(f"<li><a href=/{i}>Entry number {i} of the list</a>" for i in range(40))
    assert "Entry number 39" in parse(f"<html><body><h1>All</h1><ul>{links}</ul></body>").text


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "table><tr><td", "blockquote"])
def test_a_page_nested_without_end_keeps_its_text_and_says_so(tag: str) -> None:
    document = parse("<html><body>" + f"<{tag}>" * 20_000 + "deep text</body></html>")
    assert document.text == "deep text"
    assert document.warnings[0].startswith("The page's elements are nested too deep")


def test_a_list_nested_as_deep_as_is_read_stays_small() -> None:
    source = "<html><body>" + "<ul><li>x" * 900 + "</body></html>"
    assert len(parse(source).text) < 10 * len(source)


def test_a_cell_that_spans_a_billion_columns_is_read() -> None:
    document = parse("<html><table><tr><td colspan=1000000000>a<td>b<tr><td>c<td>d</table>")
    assert document.text.startswith("| a |")
    assert len(document.text) < 100_000


def test_a_page_that_a_script_fills_is_empty() -> None:
    with pytest.raises(ParseFailure) as caught:
        parse("<html><head><title>x</title></head><body><div id=root></div></body></html>")
    assert caught.value.reason_code == "empty_file"
    assert "script" in caught.value.message


@pytest.mark.parametrize(
    ("data", "extension", "expected"),
    [
        (b"<!DOCTYPE html><p>x", "", "text/html"),
        (b"\xef\xbb\xbf\n<!-- note --><HTML>", ".php", "text/html"),
        ("<html>".encode("utf-16"), "", "text/html"),
        (b"<html><p>x</p>", ".pdf", "text/html"),
        (b"<div><p>a</p><p>b</p></div>", "", "text/html"),
        (b"<p>one", ".html", "text/html"),
        (b"no tags here", ".html", "text/plain"),
        (b"<?xml version='1.0'?><!DOCTYPE html><html>", ".xhtml", "text/html"),
        (b"<?xml version='1.0'?><rss><title>a</title></rss>", ".xml", "application/xml"),
        (b"<!DOCTYPE book><book><p>a</p><p>b</p><p>c</p></book>", "", "text/plain"),
        (b"<html><p>x</p>", ".txt", "text/html"),
        (b"<html><p>x</p>", ".md", "text/html"),
        (b"<p>x</p><p>y</p><p>z</p>", ".md", "text/markdown"),
        (b"1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i>\n", ".srt", "text/plain"),
        (b"List<String> a; // code", "", "text/plain"),
    ],
)
def test_html_is_known_by_its_content(data: bytes, extension: str, expected: str) -> None:
    assert sniff_media_type(data, extension) == expected


@pytest.mark.parametrize("extension", [".pdf", ".docx"])
def test_a_text_with_a_foreign_name_is_read_and_said(extension: str) -> None:
    document = parse("Only some words, nothing else. " * 20, extension)
    assert document.media_type == "text/plain"
    assert f"is named {extension} but holds text" in document.warnings[0]


def test_a_page_named_txt_is_read_as_a_page_and_said() -> None:
    document = parse("<html><body><p>x</p></body></html>", ".txt")
    assert document.text == "x"
    assert "rename it to .html" in document.warnings[0]


PIECES = st.sampled_from(
    ["<p>", "</p>", "<div>", "</div>", "<ul>", "<li>", "</ul>", "<table>", "<tr>", "<td>",
     "</table>", "<h2>", "</h2>", "<pre>", "</pre>", "words of text ", "<b>", "</b>", "<br>",
     "<figure>", "<img src=a.png>", "<figcaption>", "</figure>", "<a href=x>", "</a>", "&amp;",
     "&#0;", "<!-- ", "-->", "<math>", "中文", "<dl>", "<dt>", "<dd>", "<script>", "<svg>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30))
def test_any_tags_give_a_document_or_a_known_reason(pieces: list[str]) -> None:
    parse_or_known_reason(("<html><body>" + "".join(pieces)).encode(), ".html")


def token_f1(found: str, expected: str) -> float:
    ours, theirs = (Counter(re.findall(r"\w+", text.lower())) for text in (found, expected))
    same = sum((ours & theirs).values())
    return 2 * same / (sum(ours.values()) + sum(theirs.values()))


@pytest.mark.slow
def test_the_shared_pages_keep_their_content_and_headings() -> None:
    manifest = DATA / "nasty" / "readability" / "manifest.jsonl"
    if not manifest.exists():
        pytest.skip(f"no {manifest}; set RAG_SHARED_DATA")
    scores, found, expected = {}, 0, 0
    for line in manifest.read_text().splitlines():
        row = json.loads(line)
        folder = DATA / "nasty" / row["path"]
        document = parse((folder / "source.html").read_bytes())
        scores[row["path"]] = token_f1(document.text, (folder / "expected.txt").read_text())
        ours = Counter(
            document.text[block.start : block.end]
            for block in document.blocks
            if block.kind == "heading"
        )
        # The link to edit a section is no part of its title.
        theirs = Counter(
            " ".join(title.removesuffix("[edit]").split()) for _, title in row["headings"]
        )
        found += sum((ours & theirs).values())
        expected += sum(theirs.values())
    assert sum(scores.values()) / len(scores) >= 0.95
    assert min(scores.values()) >= 0.6, min(scores, key=scores.__getitem__)
    assert found >= 0.94 * expected
