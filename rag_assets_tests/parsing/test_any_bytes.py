"""Whatever the bytes: a document that keeps its contract, or a failure with a known reason."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing import PARSE_REASONS, ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

EXTENSIONS = st.sampled_from(["", ".md", ".csv", ".tsv", ".txt", ".pdf"])
SMALL_PDF = make_pdf([paragraph("A first line,", "and a second."), paragraph("On page two.")])


def assert_keeps_the_contract(document: ParsedDocument) -> None:
    text = document.text
    text.encode("utf-8")
    assert "\x00" not in text
    if document.pages:
        assert document.pages[0].start == 0
        assert document.pages[-1].end == len(text)
        assert [page.number for page in document.pages] == list(range(1, len(document.pages) + 1))
        for before, after in zip(document.pages, document.pages[1:], strict=False):
            assert before.start <= before.end == after.start
    position = 0
    for block in document.blocks:
        assert position <= block.start < block.end <= len(text)
        cut = text[block.start : block.end]
        assert cut.strip()
        assert cut == cut.rstrip()
        assert not text[position : block.start].strip() or document.media_type == "text/markdown"
        position = block.end


def parse_or_known_reason(data: bytes, extension: str) -> None:
    try:
        document = parse_document(data, ParseHints(extension), make_settings())
    except ParseFailure as failure:
        assert failure.reason_code in PARSE_REASONS
        assert len(failure.message) > 20
    else:
        assert_keeps_the_contract(document)


@given(st.binary(max_size=400), EXTENSIONS)
def test_any_bytes_give_a_document_or_a_known_reason(data: bytes, extension: str) -> None:
    parse_or_known_reason(data, extension)


@given(st.text(max_size=300), EXTENSIONS, st.sampled_from(["utf-8", "utf-16", "gb18030"]))
def test_any_text_gives_a_document_or_a_known_reason(
    text: str, extension: str, encoding: str
) -> None:
    parse_or_known_reason(text.encode(encoding, "replace"), extension)


MARKDOWN_LINES = st.sampled_from(
    ["# Head", "## Sub *it*", "", "words words", "- item", "  - inner", "1. one", "> said", "```",
     "    code", "| a | b |", "|---|---|", "| 1 | 2 |", "***", "<div>", "<!-- no -->", "---",
     "[a]: http://x.y", "\tx", "中文句子。", "Setext", "==="]
)  # fmt: skip


@given(st.lists(MARKDOWN_LINES, max_size=25))
def test_any_markdown_is_cut_into_exact_blocks(lines: list[str]) -> None:
    parse_or_known_reason("\n".join(lines).encode(), ".md")


@given(st.lists(st.tuples(st.integers(0, len(SMALL_PDF) - 1), st.integers(0, 255)), max_size=30))
@rules(suppress_health_check=[HealthCheck.too_slow])
def test_a_broken_pdf_gives_a_document_or_a_known_reason(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL_PDF)
    for place, value in changes:
        data[place] = value
    parse_or_known_reason(bytes(data), ".pdf")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_pdf_gives_a_document_or_a_known_reason(share: float) -> None:
    parse_or_known_reason(SMALL_PDF[: int(share * len(SMALL_PDF))], ".pdf")
