"""What is quoted of a passage, and that it stands so in the source."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.evidence import Question, make_pack
from rag_assets.evidence.locating import first_words
from rag_assets.evidence.quoting import QUOTE_WORDS, check_quote, quote_span
from rag_assets.model import DamagedFileError, ParsedDocument, SourceLine
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import Workspace
from rag_assets_tests.evidence.conftest import ROOFS
from rag_assets_tests.parsing.conftest import make_settings

PASSAGES = st.lists(
    st.sampled_from([*"aB1 .?!;|\n，。？的街", "![x](attachment:fig-1)", "| a | b |\n"])
).map("".join)


def quoted(text: str, question: str, *headings: tuple[int, int]) -> str | None:
    span = quote_span(text, question, headings)
    return None if span is None else text[slice(*span)]


@given(PASSAGES, st.text(max_size=20))
def test_quote_is_a_trimmed_piece_of_the_passage_of_at_most_sixty_words(
    text: str, question: str
) -> None:
    quote = quoted(text, question)
    if quote is None:
        assert not any(map(str.isalnum, text.replace("![x](attachment:fig-1)", "")))
        return
    assert quote in text
    assert quote.strip() == quote
    assert "attachment:" not in quote
    assert first_words(quote, QUOTE_WORDS) == quote


def test_question_of_a_pair_is_not_quoted_as_its_answer() -> None:
    text = "Q: How much cooler are sedum roofs?\nA: By sixteen degrees in July."
    assert quoted(text, "How much cooler are sedum roofs?") == "A: By sixteen degrees in July."
    assert quoted("问：行道树使气温降低多少？答：降低1.8度。", "行道树使气温降低多少") == (
        "答：降低1.8度。"
    )


def test_question_is_quoted_where_nothing_else_is_there() -> None:
    assert quoted("How cool are roofs?", "roofs") == "How cool are roofs?"


def test_pack_quotes_the_answer_of_a_chunk_of_question_and_answer(library: Workspace) -> None:
    pack = make_pack(library, Question(question="How much cooler are sedum roofs?"))
    (item,) = [item for item in pack.items if item.doc_uid == "asked"]
    assert "How much cooler" in item.snippet
    assert "How much cooler" not in item.exact_quote


def test_heading_is_not_quoted_beside_text() -> None:
    text = "Sedum roofs cooler\n\nTable of temperatures by month"
    assert quoted(text, "sedum roofs cooler", (0, 18)) == "Table of temperatures by month"
    assert quoted("Sedum roofs cooler", "sedum", (0, 18)) == "Sedum roofs cooler"


def test_row_of_a_table_is_quoted_whole() -> None:
    text = "| roof | cooler |\n| --- | --- |\n| sedum | 16. 7 |\n| bitumen | 0 |"
    assert quoted(text, "sedum") == "| sedum | 16. 7 |"


def test_figure_is_no_words() -> None:
    assert quoted("![Figure 1](attachment:fig-001)", "figure") is None


def test_long_sentence_ends_with_a_clause() -> None:
    long = (
        "向他人出售或者提供公民个人信息，情节严重的，" * 2 + "处三年以下有期徒刑或者拘役" * 3 + "。"
    )
    quote = quoted(long, "公民个人信息")
    assert quote is not None
    assert quote.endswith("情节严重的")


def test_long_sentence_is_not_cut_behind_a_conjunction() -> None:
    before = "行道树的树冠覆盖率每提高百分之十街道午后的气温便会下降约零点三度"
    text = f"{before}，其效果在夏季最为明显，但是，{'冬季的差别很小且随街道走向而不同' * 3}。"
    quote = quoted(text, "行道树")
    assert quote == f"{before}，其效果在夏季最为明显"
    assert quote in text
    english = f"{'roofs were cooler ' * 17}in July, however, {'they warmed up later ' * 9}again."
    assert quoted(english, "roofs") == f"{'roofs were cooler ' * 17}in July"


def test_sentence_without_clauses_is_not_broken_off_behind_a_preposition() -> None:
    text = f"{'cool roofs ' * 29}are of {'the same kind ' * 9}again."
    assert quoted(text, "roofs") == f"{'cool roofs ' * 29}".strip()


def test_an_enumeration_is_cut_only_where_no_clause_ends() -> None:
    kinds = "、".join(["乔木", "灌木", "草坪", "屋顶绿化"] * 6)
    assert quoted(f"城市绿化的种类很多，包括{kinds}。", "绿化") is not None
    quote = quoted(f"城市绿化包括{kinds}。", "绿化")
    assert quote is not None
    assert quote[-1] not in "、，"
    assert kinds[len(quote) - 6] == "、"


def test_words_that_only_ask_are_no_answer() -> None:
    text = "Many plots were planted before the trial. In all, 46 plots were measured."
    assert quoted(text, "How many plots were there?") == "In all, 46 plots were measured."
    text = "树木很多，多少受到影响。调查的街道共有46条。"
    assert quoted(text, "调查了多少条街道？") == "调查的街道共有46条。"


def test_number_of_a_reference_is_not_the_number_asked_for() -> None:
    text = "Plots were measured before [12] (Lee, 2019). Here fifty plots were used."
    assert quoted(text, "How many plots?") == "Here fifty plots were used."


@pytest.mark.parametrize(
    "notice",
    [
        "Copyright 2019 by the cool roof council, sedum roofs section.",
        "© The Authors of cool sedum roofs.",
        "Permission to make digital copies of cool sedum roofs is granted.",
        "Cool sedum roofs is distributed under the terms of the Creative Commons Attribution.",
        "版权所有 cool sedum roofs。",
    ],
)
def test_notice_of_copyright_or_licence_is_not_quoted_beside_text(notice: str) -> None:
    text = f"{notice} Roofs were measured in July."
    assert quoted(text, "cool sedum roofs") == "Roofs were measured in July."
    assert quoted(notice, "cool sedum roofs") == notice
    assert quoted(text, "the licence or copyright of cool sedum roofs") == notice


def test_sentence_about_copyright_is_quoted() -> None:
    text = "Copyright subsists in original works. Patents protect what was invented."
    assert quoted(text, "original works").startswith("Copyright subsists")  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def document() -> ParsedDocument:
    return parse_document(ROOFS, ParseHints(extension=".pdf"), make_settings())


def test_quote_over_a_divided_word_is_what_is_printed(
    document: ParsedDocument,
) -> None:
    quote = "cooler than bitumen in every summer month, and the wet ones"
    start = document.text.index(quote)
    assert check_quote(document, start, quote, "roofs:0") == "printed"


def test_quote_of_which_a_letter_is_not_printed_stops_the_pack(document: ParsedDocument) -> None:
    quote = "Sedum roofs were 16.7 degrees cooler"
    altered = replace(document, text=document.text.replace("16.7", "61.7"))
    with pytest.raises(DamagedFileError, match=r"roofs:0.*61\.7.*16\.7"):
        check_quote(
            replace(altered, lines=tuple(_as_printed(document))),
            altered.text.index("Sedum"),
            quote.replace("16.7", "61.7"),
            "roofs:0",
        )


def test_quote_that_is_not_in_the_text_stops_the_pack(document: ParsedDocument) -> None:
    with pytest.raises(DamagedFileError, match="No pack was made"):
        check_quote(document, 0, "Tin roofs are hot.", "roofs:0")


def _as_printed(document: ParsedDocument) -> list[SourceLine]:
    return [
        replace(line, printed=line.printed or document.text[line.start : line.end])
        for line in document.lines
    ]


def test_quote_has_the_boxes_and_page_of_its_own_lines(library: Workspace) -> None:
    pack = make_pack(library, Question(question="cooling in the street below"))
    (item,) = [item for item in pack.items if "street" in item.exact_quote]
    assert (item.page_index, item.page_start, item.page_end) == (1, 2, 2)
    assert item.locator_quality == "page_box"
    (box,) = item.boxes
    assert box.page == 2
    assert box.y0 < 100 < box.y1
    assert item.quote_check == "printed"


def test_text_without_pages_is_compared_with_the_clean_text(library: Workspace) -> None:
    pack = make_pack(library, Question(question="树冠覆盖率"))
    assert (pack.items[0].quote_check, pack.items[0].boxes) == ("clean_text", ())
    assert any("no page" in warning for warning in pack.warnings)
