"""What is no document is read for what it is, or withheld with a reason; never raw."""

import json

import pytest

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract


def parse(source: str | bytes, extension: str) -> ParsedDocument:
    data = source.encode() if isinstance(source, str) else source
    document = parse_document(data, ParseHints(extension), make_settings())
    assert_keeps_the_contract(document)
    return document


def failure(source: str | bytes, extension: str) -> ParseFailure:
    with pytest.raises(ParseFailure) as caught:
        parse(source, extension)
    return caught.value


RIS = "TY  - JOUR\nAU  - Berg, A.\nPY  - 2001\nER  - \n"
BIBTEX = "% mine\n@article{berg2001, author={Berg, A.}, year={2001}}"
TEX = "% a comment\n\\documentclass{article}\n\\begin{document}Yield rose.\\end{document}"
SVG = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><text>251 g</text></svg>'


@pytest.mark.parametrize(
    ("source", "extensions", "advice"),
    [
        ('{"tray": "A", "weight": 251}', (".json", ".txt", ".md", ""), "JSON"),
        ('{"a": 1}\n{"a": 2}\n', (".jsonl", ".txt"), "JSON"),
        ("not json at all", (".json",), "JSON"),
        (RIS, (".ris", ".txt"), "bibliography database"),
        ("%0 Journal Article\n%A Berg, A.\n", (".enw", ".txt"), "bibliography database"),
        ("PMID- 123\nOWN - NLM\n", (".nbib", ".txt"), "bibliography database"),
        (BIBTEX, (".bib", ".txt", ".md"), "BibTeX"),
        (TEX, (".tex", ".txt"), "compile it"),
        ("\\section{A}\nYield rose.", (".tex",), "compile it"),
        (SVG, (".svg", ".txt", ".html"), "SVG"),
        ("<?xml version='1.0'?><a><b>251</b></a>", (".xml", ".txt"), "XML"),
        ("[InternetShortcut]\r\nURL=https://example.org\r\n", (".url", ".txt"), "link"),
        ("#!/usr/bin/env python3\nprint(251)\n", (".py", ".txt", ""), "source code"),
        ("weight = 251\n", (".py", ".js", ".css", ".R", ".sql"), "source code"),
        ("weight: 251\n", (".yaml", ".toml", ".ini"), "settings"),
    ],
)  # fmt: skip
def test_what_is_no_document_is_withheld(
    source: str, extensions: tuple[str, ...], advice: str
) -> None:
    for extension in extensions:
        refused = failure(source, extension)
        assert refused.reason_code == "unsupported_format", extension
        assert advice in refused.message, extension


@pytest.mark.parametrize(
    "source",
    [
        "[1] Berg, A. Red lamps.", "{curly} words", "From: the garden\nTo: the house\n\nText.",
        "Subject: lamps\nDate: Monday\n\nA memo of ours.", "@Anna: the lamps are red.",
        "TY is a country code.", "\\o/ a text", "#!not a program", "%0 of all",
    ],
)  # fmt: skip
def test_prose_that_looks_a_little_like_data_is_read(source: str) -> None:
    assert parse(source, ".txt").text.strip() == source


def test_notebook_is_read_with_code_and_outputs() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Lettuce\n", "It held 10<sup>5</sup> cells."]},
        {
            "cell_type": "code",
            "source": "print(251)",
            "outputs": [
                {"output_type": "stream", "text": ["251 g\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBO", "text/plain": "<F>"}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'a'", "traceback": ["x"]},
            ],
        },
    ]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})
    for extension in (".ipynb", ".txt", ".json"):
        document = parse(notebook, extension)
        assert document.title == "Lettuce"
        kinds = [
            (block.kind, document.text[block.start : block.end].strip("`\n"))
            for block in document.blocks
        ]
        assert kinds == [
            ("heading", "# Lettuce"), ("paragraph", "It held 10^5 cells."), ("code", "print(251)"),
            ("code", "251 g"), ("code", "<F>"), ("code", "KeyError: 'a'"),
        ]  # fmt: skip
        assert "1 picture" in document.warnings[0]
    assert failure('{"cells": 3, "cell_type": 1}', ".ipynb").reason_code == "damaged_file"
    assert failure("no notebook", ".ipynb").reason_code == "damaged_file"


MAIL = (
    "From: Anna Berg <a@example.org>\r\nTo: b@example.org\r\nDate: Mon, 5 Jan 2026 10:00:00 +0000"
    "\r\nSubject: =?utf-8?q?Gewichte_f=C3=BCr_alle?=\r\nMIME-Version: 1.0\r\n"
)


def test_mail_is_read_with_subject_and_body() -> None:
    body = (
        "Content-Type: text/plain; charset=iso-8859-1\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\nThe weight was 251=A0g.\r\n"
    )
    for extension in (".eml", ".txt"):
        document = parse(MAIL + body, extension)
        assert document.title == "Gewichte für alle"
        assert document.text.split("\n\n") == [
            "Gewichte für alle",
            (
                "From: Anna Berg <a@example.org>\nTo: b@example.org\n"
                "Date: Mon, 05 Jan 2026 10:00:00 +0000"
            ),
            "The weight was 251\xa0g.\n",
        ]


def test_attachments_of_a_mail_are_named() -> None:
    parts = (
        "Content-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\nContent-Type: text/html\r\n\r\n"
        "<p>The weight was 10<sup>5</sup> g.</p>\r\n--B\r\nContent-Type: application/pdf\r\n"
        'Content-Disposition: attachment; filename="a.pdf"\r\n\r\nx\r\n--B--\r\n'
    )
    document = parse(MAIL + parts, ".eml")
    assert document.text.endswith("The weight was 10^5 g.")
    assert "(a.pdf)" in document.warnings[-1]


def test_web_archive_is_read_as_its_page() -> None:
    archive = (
        "From: <Saved by Blink>\nSubject: Lettuce\nMIME-Version: 1.0\n"
        'Content-Type: multipart/related; type="text/html"; boundary="B"\n\n--B\n'
        "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
        "<html><body><h1>Lettuce</h1><p>The weight was 251=20g.</p><p hidden>no</p></body></html>\n"
        "--B\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBO\n--B--\n"
    )
    for extension in (".mht", ".mhtml", ".txt"):
        document = parse(archive, extension)
        assert document.text == "Lettuce\n\nThe weight was 251 g."
        assert document.title == "Lettuce"


@pytest.mark.parametrize(
    "page",
    [
        "<h1>Access Denied</h1><p>You don't have permission to access this server.",
        "<title>403 Forbidden</title><h1>403 Forbidden</h1><p>nginx", "<p>Just a moment...</p>",
        "<p>Verify you are human by completing the action below.</p>", "<h1>Page not found</h1>",
        "<p>Please log in to your institution.</p>", "<p>请登录后查看全文</p>", "<p>页面不存在</p>",
        "<p>Please enable cookies.</p>", "<p>Complete the CAPTCHA to continue.</p>",
    ],
)  # fmt: skip
def test_page_of_an_error_is_no_document(page: str) -> None:
    for extension in (".html", ".pdf", ".txt"):
        refused = failure(f"<html><body>{page}</body></html>", extension)
        assert refused.reason_code == "error_page", extension


def test_page_that_writes_of_an_error_is_read() -> None:
    text = "The captcha was solved by four of ten readers, and access was denied to the others. "
    assert "captcha" in parse(f"<html><body><p>{text * 20}</p></body></html>", ".html").text
