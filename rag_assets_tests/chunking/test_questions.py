import pytest

from rag_assets.chunking import chunk_document
from rag_assets.chunking.questions import find_pairs
from rag_assets.model import Block, Chunk, ParsedDocument
from rag_assets_tests.chunking.fakes import (
    LetterTokenizer,
    blocks_of,
    chunk_settings,
    with_sections,
)


def pairs_of(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(pair.question, document.text[pair.start : pair.end]) for pair in find_pairs(document)]


def chunks_of(document: ParsedDocument, limit: int = 10_000) -> list[Chunk]:
    return chunk_document(document, chunk_settings(mode="qa"), LetterTokenizer(limit))[1]


def plain(text: str) -> ParsedDocument:
    return with_sections(ParsedDocument(text, "text/markdown"))


@pytest.mark.parametrize(
    "text",
    [
        "Q: Why roofs?\nA: They cool.",
        "**Q1:** Why roofs?\n\n**A:** They cool.",
        "Question: Why roofs?\nAnswer: They cool.",
        "问：为什么？\n答：因为凉快。",
        "- 问题1：为什么？\n- 答案：因为凉快。",
    ],
)
def test_marked_questions_are_found_with_their_answers(text: str) -> None:
    document = plain(f"Intro.\n\n{text}\n\n{text}")
    found = pairs_of(document)
    assert [source for _, source in found] == [text, text]
    assert found[0][0] in {"Why roofs?", "为什么？"}


def test_a_heading_that_asks_is_answered_by_its_section() -> None:
    document = blocks_of(("Why roofs?", 1), "They cool.", ("Costs", 1), "High.")
    assert pairs_of(document) == [("Why roofs?", "Why roofs?\n\nThey cool.")]


def test_a_heading_that_asks_without_text_is_no_pair() -> None:
    assert pairs_of(blocks_of(("Why roofs?", 1), ("Costs", 1), "High.")) == []


def table(header: str, *rows: str) -> ParsedDocument:
    text = "\n".join([header, "| --- | --- |", *rows])
    return with_sections(ParsedDocument(text, "text/html", blocks=(Block("table", 0, len(text)),)))


def test_rows_of_a_two_column_table_are_pairs_where_it_asks() -> None:
    named = table("| Question | Answer |", r"| Cost \| price | High |", "| Heat | Low |")
    assert [question for question, _ in pairs_of(named)] == ["Cost | price", "Heat"]
    asking = table("| a | b |", "| Why? | So. |", "| 如何？ | 这样。 |")
    assert pairs_of(asking) == [("Why?", "| Why? | So. |"), ("如何？", "| 如何？ | 这样。 |")]
    assert pairs_of(table("| key | value |", "| cost | 3 |")) == []


def test_rows_of_a_sheet_of_questions_are_pairs() -> None:
    text = "question: Why roofs?; answer: They cool."
    document = with_sections(ParsedDocument(text, "text/csv", blocks=(Block("row", 0, len(text)),)))
    assert pairs_of(document) == [("Why roofs?", text)]


def test_the_question_is_embedded_and_the_pair_is_the_chunk() -> None:
    document = plain(
        "Before it.\n\nQ: Why roofs?\nA: " + "They cool. " * 12 + "\n\nQ: Costs?\nA: 3."
    )
    before, first, second = chunks_of(document)
    assert (before.kind, before.question) == ("text", None)
    assert (first.kind, first.question, first.token_count > 30) == ("qa", "Why roofs?", True)
    assert first.text == document.text[first.char_start : first.char_end]
    assert (second.question, second.text) == ("Costs?", "Q: Costs?\nA: 3.")
    assert first.input_tokens == 3


def test_an_answer_longer_than_a_parent_is_cut_and_keeps_its_question() -> None:
    chunks = chunks_of(plain("Q: Why roofs?\nA: " + "They cool a lot. " * 40))
    assert len(chunks) > 1
    assert {chunk.question for chunk in chunks} == {"Why roofs?"}


def test_a_question_longer_than_the_model_reads_is_shortened() -> None:
    (chunk,) = chunks_of(plain("Q: " + "why " * 40 + "?\nA: So."), limit=12)
    assert chunk.question == ("why " * 12).strip()
    assert chunk.input_tokens == 12
