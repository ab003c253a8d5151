import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.evidence.locating import suggest_query
from rag_assets.publishing.content_words import content_units, coverage


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("The wages rose by 1,000 and 3.5%", {"wages", "rose", "1000", "3.5%"}),
        ("工资上涨", {"工资", "资上", "上涨"}),
        ("工资的上涨", {"工资", "上涨"}),
        ("ＧＤＰ 增 3％", {"gdp", "增", "3%"}),
        ("GDP增长", {"gdp", "增长"}),
        ("did not fall", {"not", "fall"}),
        ("of the", set()),
    ],
)
def test_content_units_are_words_numbers_and_pairs_of_characters(
    text: str, units: set[str]
) -> None:
    assert content_units(text) == units


def test_coverage_is_the_share_of_the_claim_not_of_the_passage() -> None:
    assert coverage("wages rose", "Wages rose while prices fell and rents held.") == 1.0
    assert coverage("wages rose while prices fell", "wages") == pytest.approx(1 / 4)


def test_wrong_number_is_not_covered() -> None:
    assert coverage("上涨 30", "上涨 3") == 0.5


def test_claim_without_content_is_covered_by_nothing() -> None:
    assert coverage("of the", "of the") == 0.0


def test_query_has_the_content_words_in_order_once() -> None:
    assert suggest_query("The wages of the wages rose, 工资的上涨!") == "wages rose 工资 上涨"


@given(st.text(), st.text())
def test_coverage_is_a_share_and_whole_for_the_text_itself(claim: str, passage: str) -> None:
    assert 0.0 <= coverage(claim, passage) <= 1.0
    assert coverage(claim, claim) == (1.0 if content_units(claim) else 0.0)


def test_the_letter_of_a_unit_is_not_searched_for() -> None:
    assert suggest_query("Vitamin C breaks down at 41.6 °C.") == "vitamin c breaks 41.6"
