"""A row of a table is judged with the heads of its columns."""

import pytest

from rag_assets.auditing import CitedSentence, parse_draft
from rag_assets_tests.parsing.made_up_office import make_docx, word_cell, word_row, word_table

from .world import audit_of, make_document

SCORES = """| Method | EM | F1 | Source |
|:--|--:|--:|---|
"""


def sentences(text: str) -> tuple[CitedSentence, ...]:
    return parse_draft("chapter.md", text.encode()).sentences


def claims(text: str) -> list[tuple[str, str]]:
    return [(c.doc_uid, c.claim or s.claim) for s in sentences(text) for c in s.citations]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("| BERT | 87.4 | **93.2** | {#a} |", [("a", "BERT: EM 87.4, F1 93.2")]),
        ("BERT | 87.4 | 93.2 | (see {#a}, p. 3)", [("a", "BERT: EM 87.4, F1 93.2")]),
        ("| BERT {#a} | 87.4 | 93.2 | |", [("a", "BERT: EM 87.4, F1 93.2")]),
        ("| BERT | 87.4 | – | [@a] |", [("a", "BERT: EM 87.4")]),
        ("| BERT | 87.4 {#a} | 93.2 {#b} | |", [("a", "BERT: EM 87.4"), ("b", "BERT: F1 93.2")]),
        ("| BERT | 87.4 {#a} | 93.2 | {#b} |",
         [("a", "BERT: EM 87.4"), ("b", "BERT: EM 87.4, F1 93.2")]),
        ("| Lee et al. | n/a | 93.2 | @a |", [("a", "Lee et al.: F1 93.2")]),
        ("| | 87.4 | 93.2 | {#a} |", [("a", "EM 87.4, F1 93.2")]),
    ],
)  # fmt: skip
def test_a_row_states_its_cells_under_the_heads_of_their_columns(
    row: str, found: list[tuple[str, str]]
) -> None:
    assert claims(f"{SCORES}{row}\n") == found


@pytest.mark.parametrize(
    ("table", "claim"),
    [
        ("| Finding | Evidence |\n|---|---|\n| Wages rose in all the towns. | {#a} |",
         "Wages rose in all the towns."),
        ("| Town | Finding | |\n|---|---|---|\n| Hill | Wages rose after the long reform | {#a} |",
         "Hill: Wages rose after the long reform"),
        ("| 方法 | 准确率 | 召回率 | 来源 |\n|---|---|---|---|\n| 决策树 | 0.93 | 0.9 | {#a} |",
         "决策树：准确率0.93，召回率0.9"),
        ("| Text | n |\n|---|---|\n| a\\|b | 3 {#a} |", "a|b: n 3"),
        ("| | 2019 |\n|---|---|\n| Wages {#a} | 3.1 |\n\nText.\n", "Wages: 2019 3.1"),
        ("> | Town | Wages |\n> |---|---|\n> | Hill | 3.1 {#a} |", "Hill: Wages 3.1"),
    ],
)  # fmt: skip
def test_tables_of_other_kinds(table: str, claim: str) -> None:
    assert claims(table) == [("a", claim)]


def test_every_table_has_its_own_head() -> None:
    one = "| Town | Wages |\n|---|---|\n| Hill | 3.1 {#a} |\n\n"
    other = "| Town | Rents |\n|---|---|\n| Hill | 2.5 {#b} |\n"
    assert claims(one + other) == [("a", "Hill: Wages 3.1"), ("b", "Hill: Rents 2.5")]


def test_the_row_stands_as_written_beside_what_was_judged() -> None:
    text = f"{SCORES}| BERT | 87.4 {{#a}} | 93.2 | {{#b}} |\n"
    documents = [make_document(uid, ["BERT reaches EM 87.4 and F1 93.2."]) for uid in "ab"]
    first, second = audit_of(text, documents).rows
    assert (first.claim, first.is_clause) == ("BERT: EM 87.4", True)
    assert (second.claim, second.is_clause) == ("BERT: EM 87.4, F1 93.2", False)
    assert first.sentence == "BERT | 87.4 {#a} | 93.2 | {#b}"


def test_tables_of_word() -> None:
    rows = ("Method", "F1", "Source"), ("BERT", "93.2", "{#devlin}")
    table = word_table(*(word_row(*map(word_cell, row)) for row in rows))
    (sentence,) = parse_draft("chapter.docx", make_docx(table)).sentences
    assert sentence.claim == "BERT: F1 93.2"


HILL = (
    "Hill",
    "Wages rose because the town grew. Rents fell.",
    "Nobody knows what the winter brought",
)


@pytest.mark.parametrize("name", ["chapter.docx", "chapter.md"])
def test_cells_of_running_text_are_sentences_of_their_own(name: str) -> None:
    rows = ("Town", "Finding", "Limits"), HILL
    table = word_table(*(word_row(*map(word_cell, row)) for row in rows))
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], ("---",) * 3, rows[1])]
    data = make_docx(table) if name.endswith("docx") else "\n".join(lines).encode()
    draft = parse_draft(name, data)
    _, *found = draft.all_sentences
    assert [sentence.claim for sentence in found] == [
        "Hill: Wages rose because the town grew.",
        "Hill: Rents fell.",
        "Hill: Nobody knows what the winter brought",
    ]
    assert [draft.text[sentence.start : sentence.end] for sentence in found] == [
        "Wages rose because the town grew.",
        "Rents fell.",
        HILL[2],
    ]
    assert {sentence.block for sentence in found} == {found[0].block}


def test_values_beside_running_text_are_stated_together() -> None:
    text = f"| Town | n | p | Finding |\n|---|---|---|---|\n| Hill | 12 | 0.1 | {HILL[1]} |\n"
    _, *found = parse_draft("chapter.md", text.encode()).all_sentences
    assert [sentence.claim for sentence in found] == [
        "Hill: n 12, p 0.1",
        "Hill: Wages rose because the town grew.",
        "Hill: Rents fell.",
    ]


def test_a_row_that_cites_stays_one_statement() -> None:
    text = f"| Town | Finding | Limits | |\n|---|---|---|---|\n| {' | '.join(HILL)} | {{#a}} |\n"
    assert len(sentences(text)) == 1
