import subprocess
import sys

import pymupdf
import pytest

from rag_assets.model import ParseFailure
from rag_assets.parsing import ParseHints
from rag_assets.parsing.document import finish_document
from rag_assets.parsing.pdf.providers import Pymupdf4llmParser, _join_pages, _without_tags
from rag_assets.parsing.rendering import render_markdown
from rag_assets_tests.parsing.conftest import make_settings


def test_sections_of_converted_markdown_have_titles_without_marks() -> None:
    pages = ["# **Roofs**\n\n## **1. Introduction**\n\nText.", "### _1.1 Sites_\n\nMore."]
    document = finish_document(_join_pages(pages, "Roofs"), Pymupdf4llmParser())
    assert [section.title for section in document.sections][-2:] == ["1. Introduction", "1.1 Sites"]
    assert [page.number for page in document.pages] == [1, 2]
    assert render_markdown(document) == document.text


def test_tags_of_converted_markdown_are_no_text() -> None:
    source = (
        "## <u>Open Access</u>\n\n<!-- Start of picture text -->\nBMC<br>Medicine<br>\n"
        "<!-- End of picture text -->\n\nAt 10<sup>5</sup> by Lee<sup>a</sup>, where a < b."
    )
    expected = "## Open Access BMC Medicine At 10^5 by Leea, where a < b."
    assert " ".join(_without_tags(source).split()) == expected


@pytest.mark.parametrize(
    ("password", "reason"), [(None, "password_required"), ("no", "password_wrong")]
)
def test_locked_file_is_told_from_a_wrong_password(password: str | None, reason: str) -> None:
    pytest.importorskip("pymupdf4llm")
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "Locked.")
        data = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="yes", owner_pw="o")
    with pytest.raises(ParseFailure) as caught:
        Pymupdf4llmParser().parse(data, ParseHints(".pdf", password), make_settings())
    assert caught.value.reason_code == reason


IMPORTS = """
import sys
from rag_assets.parsing.pdf.library import load_pymupdf
pymupdf = load_pymupdf()
withheld = {"onnxruntime", "pymupdf.layout", "pymupdf4llm"} & sys.modules.keys()
assert not withheld, withheld
assert pymupdf.TOOLS.unset_quad_corrections() is True
import pymupdf4llm
assert callable(pymupdf._get_layout), "PyMuPDF4LLM looks at pages without its model"
"""


def test_the_layout_model_is_loaded_for_who_asks_for_it_alone() -> None:
    pytest.importorskip("pymupdf4llm")
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
