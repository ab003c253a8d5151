"""A row of values is one sentence; cells of running text are sentences of their own."""

import pytest

from rag_assets.retrieval.finding import EvidenceFinder, Sentence, read_sentences
from rag_assets_tests.finding.test_sentences import Passage
from rag_assets_tests.parsing.made_up_office import make_docx, read, word_cell, word_row, word_table


def sentences_of(*rows: tuple[str, ...]) -> list[Sentence]:
    """Return the sentences of a table of Word."""
    table = word_table(*(word_row(*map(word_cell, row)) for row in rows))
    return read_sentences([Passage(read(make_docx(table)).text, 0)])


HEAD = ("Site", "Year", "Wages", "Rents")
TEXTS = (
    "Hill", "2019", "Wages rose by 3 % in the whole of the year",
    "Rents fell in the same time and more",
)  # fmt: skip


def test_cells_of_running_text_are_told_apart() -> None:
    found = sentences_of(HEAD, TEXTS)
    assert [sentence.text for sentence in found] == [
        "| Site | Year | Wages | Rents |", "Hill | 2019", TEXTS[2], TEXTS[3],
    ]  # fmt: skip
    # What names the row, and the header, are told before each of them, and shown with it.
    assert found[3].told == "Site Year Wages Rents Hill 2019"
    assert found[3].leads == (0, 1)


def test_sentences_of_one_cell_are_told_apart() -> None:
    found = sentences_of(("Method", "Finding"), ("BERT", "It wins. The model is large."))
    assert [sentence.text for sentence in found[1:]] == ["BERT", "It wins.", "The model is large."]
    assert found[3].read == "Method Finding BERT The model is large."


@pytest.mark.parametrize(
    "row",
    [
        ("BERT", "93.2", "Smith et al. (2019)"),
        ("Hill", "2019", "Wages rose after the long reform of 2010."),
        ("Lee, J. A.", "approx. 3.5", "n/a"),
    ],
)
def test_a_row_of_values_is_one_sentence(row: tuple[str, ...]) -> None:
    found = sentences_of(("Name", "Number", "Source"), row, row)
    assert [sentence.kind for sentence in found] == ["row"] * 3
    assert found[2].text == f"| {' | '.join(row)} |"


def test_a_long_header_is_no_statement_of_its_columns() -> None:
    head = ("Number of the workers in the towns", "Mean of the wages in each year")
    found = sentences_of(head, ("1,200", "3.1"))
    assert found[1].told == " ".join(head)


def test_the_cell_that_decides_is_shown_with_its_header_and_its_row() -> None:
    other = (
        "Dale",
        "2019",
        "Nothing was known of the wages of that year",
        "Nor was it of rents there",
    )
    table = word_table(*(word_row(*map(word_cell, row)) for row in (HEAD, TEXTS, other)))
    document = EvidenceFinder().open([Passage(read(make_docx(table)).text, 0)])
    window = document.find("Rents fell on the Hill.")[0]
    decisive = window.sentences[window.decisive]
    assert decisive.text == TEXTS[3]
    shown = window.text.split("\n")
    assert shown[:2] == ["| Site | Year | Wages | Rents |", "Hill | 2019"]
    assert TEXTS[3] in shown
