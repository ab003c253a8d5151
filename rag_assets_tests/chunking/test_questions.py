import pytest

from rag_assets.chunking import chunk_document
from rag_assets.chunking.modes import find_pairs
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


def sheet(*rows: str) -> ParsedDocument:
    starts = [sum(len(row) + 1 for row in rows[:index]) for index in range(len(rows))]
    blocks = tuple(
        Block("row", start, start + len(row)) for start, row in zip(starts, rows, strict=True)
    )
    return with_sections(ParsedDocument("\n".join(rows), "text/csv", blocks=blocks))


def test_rows_of_a_two_column_table_are_pairs_where_it_asks() -> None:
    named = table("| Question | Answer |", r"| Cost \| price | High |", "| Heat | Low |")
    assert [question for question, _ in pairs_of(named)] == ["Cost | price", "Heat"]
    asking = table("| a | b |", "| Why? | So. |", "| 如何？ | 这样。 |")
    assert [question for question, _ in pairs_of(asking)] == ["Why?", "如何？"]
    assert pairs_of(asking)[1][1] == "| 如何？ | 这样。 |"
    assert pairs_of(table("| key | value |", "| cost | 3 |")) == []


def test_rows_of_a_sheet_of_questions_are_pairs() -> None:
    assert pairs_of(
        sheet("question = Why roofs?; answer = They cool.", "问题 = 为什么?; 答案 = 凉。")
    ) == [
        ("Why roofs?", "question = Why roofs?; answer = They cool."),
        ("为什么?", "问题 = 为什么?; 答案 = 凉。"),
    ]
    assert pairs_of(sheet("question = Why?; answer =", "Questionable no: answer = b")) == []


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


def test_a_heading_above_a_pair_stays_with_it_and_takes_no_question_away() -> None:
    chunks = chunks_of(blocks_of(("FAQ", 1), "Q: Why?\nA: So it is.", "Q: How?\nA: Thus."))
    assert [(chunk.question, chunk.text) for chunk in chunks] == [
        ("Why?", "FAQ\n\nQ: Why?\nA: So it is."),
        ("How?", "Q: How?\nA: Thus."),
    ]


def test_a_table_s_header_is_no_chunk_of_its_own() -> None:
    chunks = chunks_of(table("| Question | Answer |", "| Why? | So. |", "| How? | Thus. |"))
    assert [chunk.question for chunk in chunks] == ["Why?", "How?"]
    assert chunks[0].text == "| Question | Answer |\n| --- | --- |\n| Why? | So. |"


def test_questions_and_answers_may_stand_in_any_columns() -> None:
    numbered = table("| No. | Question | Owner | Answer |", "| 1 | Why? | me | So. |")
    assert [question for question, _ in pairs_of(numbered)] == ["Why?"]
    row = "No. 1: Question = Why; how?; Owner = me; Answer = So."
    assert pairs_of(sheet(row)) == [("Why; how?", row)]
