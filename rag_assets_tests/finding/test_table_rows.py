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
    assert found[1].told == ""
    assert found[1].row == f"{head[0]} 1,200: {head[1]} = 3.1"


def test_a_row_on_a_later_page_has_the_header_that_its_passage_was_told() -> None:
    rows = "| 46 | tray u46 | 338 |\n| 47 | tray v47 | 341 |"
    passage = Passage(rows, 0, context="Results\nTable 3. All trays.\n| No. | Tray | Weight (g) |")
    found = read_sentences([passage])
    assert [sentence.shown for sentence in found] == [
        "No. 46: Tray = tray u46; Weight (g) = 338", "No. 47: Tray = tray v47; Weight (g) = 341",
    ]  # fmt: skip
    assert [sentence.leads for sentence in found] == [(), ()]


def test_the_row_that_is_named_is_found_among_rows_that_differ_in_a_code() -> None:
    rows = "\n".join(f"| {n}{m}-Pd | {n * 7 + 3} |" for n in range(1, 30) for m in "abc")
    document = EvidenceFinder().open(
        [Passage(f"| Complex | Yield (%) |\n| --- | --- |\n{rows}", 0)]
    )
    best = document.sentences[document.rank("The yield of complex 17b-Pd was 12 %.")[0]]
    assert best.shown == "Complex 17b-Pd: Yield (%) = 122"


def test_rows_of_a_sheet_are_sentences_of_their_own() -> None:
    lines = "Sample B7: Yield (%) = 74.8; Count = 3\nSample B8: Count = 5"
    found = read_sentences([Passage(lines, 0)])
    assert [sentence.row for sentence in found] == lines.split("\n")


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
