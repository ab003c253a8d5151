"""When two titles are one, and which headings of two lists are one another."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.headings.titles import (
    f1,
    fold_text,
    match_in_order,
    normalise_title,
    token_f1,
)


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        ("1 Introduction", "Introduction"),
        ("1. Introduction", "Introduction"),
        ("2.3.1 Data", "Data"),
        ("2 . 3 Data", "Data"),
        ("IV. RESULTS", "Results"),
        ("Ⅳ. Results", "Results"),
        ("A.1 Proofs", "Proofs"),
        ("b) The second case", "The second case"),
        ("Appendix B: Proofs", "Proofs"),
        ("Chapter 3 Methods", "Methods"),
        ("第一章 绪论", "绪论"),
        ("一、问题重述", "问题重述"),
        ("（二）模型", "模型"),
        ("1引言", "引言"),
        ("2.1问题分析", "问题分析"),
        ("摘 要", "摘要"),
        ("Metal–Organic Frameworks (MOFs)", "metal-organic frameworks, MOFs"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("ﬁndings", "Findings"),
        ("Introduction.", "Introduction"),
    ],
)
def test_numbering_case_and_punctuation_do_not_part_two_titles(printed: str, title: str) -> None:
    assert normalise_title(printed) == normalise_title(title)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Results", "Result"),
        ("Phase 2 trial", "Phase 3 trial"),
        ("A method", "Method"),
        ("I know", "Know"),
        ("3D printing", "D printing"),
        ("2opt Algorithm", "Algorithm"),
        ("Method S. cerevisiae", "Method cerevisiae"),
        ("问题3模型的建立", "问题4模型的建立"),
        ("Resultsand discussion", "Results and discussion"),
    ],
)
def test_other_words_are_other_titles(one: str, other: str) -> None:
    assert normalise_title(one) != normalise_title(other)


def test_title_of_nothing_but_a_number_stays() -> None:
    assert normalise_title("2019") == "2019"
    assert normalise_title("3.") == "3"


@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_matches_are_a_longest_common_subsequence(expected: list[str], found: list[str]) -> None:
    pairs = match_in_order(expected, found)
    assert all(expected[i] == found[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    assert len(pairs) == longest(expected, found)


def longest(one: list[str], other: list[str]) -> int:
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest(one[1:], other[1:])
    return max(longest(one[1:], other), longest(one, other[1:]))


def test_heading_found_out_of_its_order_is_not_matched() -> None:
    assert match_in_order(["a", "b", "c"], ["b", "c", "a"]) == [(1, 0), (2, 1)]


def test_token_f1_counts_words_as_often_as_they_stand() -> None:
    assert token_f1("one two two", "one two") == pytest.approx(2 * 2 / 5)
    assert token_f1("深度学习", "深度") == pytest.approx(2 * 2 / 6)
    assert token_f1("a", "b") == 0
    assert token_f1("", "") == 1


def test_f1_of_counts() -> None:
    assert f1(3, 4, 6) == pytest.approx(0.6)


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)
