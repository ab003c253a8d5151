from rag_assets.parsing.document import finish_document
from rag_assets.parsing.pdf.providers import Pymupdf4llmParser, _join_pages
from rag_assets.parsing.rendering import render_markdown


def test_sections_of_converted_markdown_have_titles_without_marks() -> None:
    pages = ["# **Roofs**\n\n## **1. Introduction**\n\nText.", "### _1.1 Sites_\n\nMore."]
    document = finish_document(_join_pages(pages, "Roofs"), Pymupdf4llmParser())
    assert [section.title for section in document.sections][-2:] == ["1. Introduction", "1.1 Sites"]
    assert [page.number for page in document.pages] == [1, 2]
    assert render_markdown(document) == document.text
