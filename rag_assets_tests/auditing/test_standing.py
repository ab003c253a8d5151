"""What a passage is, whatever is asked: its place, and whose work it tells of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.auditing.ranking import DocumentRanking
from rag_assets.auditing.standing import standings, without_references

OWN = "We found that wages rose after the reform."
OTHERS = "Wages rose after the reform (Smith, 2020)."
PLAIN = "Wages rose after the reform in most towns."


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (OWN, PLAIN),
        (PLAIN, OTHERS),
        (PLAIN, "Wages rose after the reform [12, 14]."),
        ("本文发现改革以后工资上涨。", "改革以后工资上涨。"),
        ("改革以后工资上涨。", "改革以后工资上涨（张三，2020）。"),
        (f"{OWN} {PLAIN}", f"{OWN} {PLAIN} {PLAIN}"),
    ],
)
def test_a_document_is_cited_for_its_own_work(better: str, worse: str) -> None:
    assert standings([better], [6])[0] > standings([worse], [6])[0]


def test_the_body_stands_before_the_opening_and_before_the_end() -> None:
    opening, body, end = standings([PLAIN] * 3, [200, 3000, 9])
    assert body > opening
    assert body > end


def test_of_two_passages_that_answer_alike_the_document_s_own_comes_first() -> None:
    ranking = DocumentRanking([OTHERS, OWN], {})
    assert ranking.rank("Wages rose after the reform.", {}, range(2), 2) == [1, 0]


def test_a_claim_outweighs_what_a_passage_is() -> None:
    ranking = DocumentRanking([OWN, OTHERS, "We paint bridges every decade."], {})
    assert ranking.rank("Bridges need paint every decade.", {}, range(3), 1) == [2]


@given(st.lists(st.text(max_size=60), max_size=5))
def test_what_is_added_is_bounded(texts: list[str]) -> None:
    added = standings(texts, [len(text) for text in texts])
    assert added.shape == (len(texts),)
    assert all(-1.4 <= value <= 0.3 for value in added)


@pytest.mark.parametrize(
    ("claim", "kept"),
    [
        ("Wages rose (Smith, 2020; Lee et al. 2019).", "Wages rose ."),
        ("Wages rose [12, 13–15].", "Wages rose ."),
        ("Smith and Lee (2003) found rising wages.", "Smith and Lee found rising wages."),
        ("Wages rose, as Smith et al. 2003 say.", "Wages rose, as say."),
        ("Wages rose by 3 % in 2020.", "Wages rose by 3 % in 2020."),
        ("工资上涨（张三，2020）。", "工资上涨 。"),
    ],
)
def test_names_and_years_of_references_are_not_looked_for(claim: str, kept: str) -> None:
    assert without_references(claim) == kept
