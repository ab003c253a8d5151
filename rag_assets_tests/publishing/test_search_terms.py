import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model.settings import TextSettings
from rag_assets.publishing.search import SearchTable
from rag_assets.publishing.search_table import write_search_table
from rag_assets.publishing.search_terms import MAX_TERMS, find_exact_terms, term_pattern
from rag_assets_tests.publishing.made_up_tables import chunk_row, chunk_table

WEIGHTS = TextSettings(heading_weight=0.25, phrase_boost=1.0)
BODY_ONLY = TextSettings(heading_weight=0.0, phrase_boost=0.0)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("民法典第二十条怎么规定?", ("第二十条",)),
        ("第五条之一与第 20 条", ("第五条之一", "第 20 条")),
        ("see doi:10.1145/3397271.3401075.", ("10.1145/3397271.3401075",)),
        ("https://doi.org/10.1000/182", ("10.1000/182",)),
        ("arXiv:2106.09685v2 (2106.09685)", ("2106.09685",)),
        ("where is foo_bar.py (used)?", ("foo_bar.py",)),
        ("C++ or C#", ("c++", "c#")),
        ("see § 12(3)", ("§ 12(3)",)),
        ('“Land Use” and "carbon  budget" of 《刑法》', ("land use", "carbon budget", "刑法")),
        ("Ca2+ ions, IL-6", ("ca2+", "il-6")),
    ],
)
def test_terms_that_are_written_exactly_are_found(question: str, terms: tuple[str, ...]) -> None:
    assert find_exact_terms(question) == terms


@pytest.mark.parametrize(
    "question",
    [
        "What is the large-scale effect of and/or e.g. the U.S. market?",
        "growth of 3.5 %, 0.05, 24/7 or 1,000 in 2019",
        "It ends.The next begins",
        "it's a dog's life",
        "植物叶片的气孔导度为什么下降?",
        '""" “ ”',
    ],
)
def test_ordinary_words_and_amounts_are_no_terms(question: str) -> None:
    assert find_exact_terms(question) == ()


@given(st.text(max_size=80) | st.text(alphabet='a1._/:()[]+#"“”§第条 ', max_size=60))
def test_any_question_has_few_terms(question: str) -> None:
    terms = find_exact_terms(question)
    assert len(terms) == len(set(terms)) <= MAX_TERMS
    assert all(term == term.lower() and term.strip() for term in terms)


# A chunk that holds the term, and chunks that hold its parts, more often and in less text.
EXACT = [
    ("第二十条", "本法第二十条规定了期限。", "第二款、第二款,另见第十条与第十条、二十条。"),
    ("Cu2Mo2", "The phase Cu2Mo2 was seen.", "The phase Cu2Mo3 was seen; Cu3Mo2 too."),
    ("10.1145/3397271.3401075", "Cite 10.1145/3397271.3401075 here.", "3401075 1145 10 3397271"),
    ("2106.09685", "See arXiv:2106.09685v2.", "09685 2106 09685"),
    ("foo_bar.py", "It lies in foo_bar.py now.", "foo foo bar bar py py"),
    ("C++", "We wrote it in C++ first.", "We wrote it in C first, in C."),
    ("§ 12(3)", "Under § 12(3) it holds.", "Under § 3(12) it holds, 12 of 3, 3 of 12."),
    ('"carbon budget"', "The Carbon\nbudget is spent.", "budget carbon, budget; carbon"),
]


@pytest.mark.parametrize(("term", "text", "parts"), EXACT)
@pytest.mark.parametrize("question", ["{}", "What is said of {} in these texts?", "关于{}的说明"])
def test_exact_term_finds_its_chunk(
    tmp_path: Path, term: str, text: str, parts: str, question: str
) -> None:
    rows = [chunk_row("a", index, f"{parts} {index}") for index in range(12)]
    rows += [chunk_row("z", 0, text), chunk_row("n", 0, "nothing 没有 at all")]
    write_search_table(tmp_path, chunk_table(rows))
    found = SearchTable(tmp_path).search_text(question.format(term), 1, None, WEIGHTS)
    assert [key for key, _ in found] == ["z:0"]


def test_exact_term_obeys_the_filter(tmp_path: Path) -> None:
    rows = [chunk_row("a", 0, "written in C++"), chunk_row("b", 0, "C++ again")]
    write_search_table(tmp_path, chunk_table(rows))
    found = SearchTable(tmp_path).search_text("C++", 5, "doc_uid = 'b'", WEIGHTS)
    assert [key for key, _ in found] == ["b:0"]


def test_term_inside_a_longer_one_is_another(tmp_path: Path) -> None:
    rows = [chunk_row("a", 0, "foo_bar.pyc old_foo_bar.py"), chunk_row("b", 0, "(foo_bar.py)")]
    write_search_table(tmp_path, chunk_table(rows))
    table = SearchTable(tmp_path)
    plain = table.score_text("foo_bar.py", ["a:0", "b:0"], BODY_ONLY)
    scores = table.score_text("foo_bar.py", ["a:0", "b:0"], WEIGHTS)
    assert scores["a:0"] == plain["a:0"]
    assert scores["b:0"] > plain["b:0"] + 0.5


def test_headings_count_once_more(tmp_path: Path) -> None:
    rows = [
        chunk_row("a", 0, "leaf", search_text="Water\nleaf", search_heading="Water"),
        chunk_row("b", 0, "leaf", search_text="Stone\nwater", search_heading="Stone"),
        chunk_row("c", 0, "other things", search_heading="Results"),
    ]
    write_search_table(tmp_path, chunk_table(rows))
    table = SearchTable(tmp_path)
    assert len({score for _, score in table.search_text("water", 5, None, BODY_ONLY)}) == 1
    assert [key for key, _ in table.search_text("water", 5, None, WEIGHTS)] == ["a:0", "b:0"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("劳动合同法第39条", "根据第三十九条的规定"),
        ("第三十九条", "见第 39 条"),
        ("民法典第1191条", "第一千一百九十一条 用人单位"),
        ("第276条之一", "第二百七十六条之一 以转移财产"),
        ("第105条", "第一百零五条"),
        ("第10条", "第十条"),
    ],
)
def test_an_article_is_found_in_either_numerals(query: str, text: str) -> None:
    (term,) = find_exact_terms(query)
    assert re.search(term_pattern(term), text)
    assert not re.search(term_pattern(term), "第三百三十九条 第一百零六条 第十一条")
