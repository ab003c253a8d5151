"""The content words of a text."""

import pytest

from rag_assets.judging.terms import read_terms


@pytest.mark.parametrize(
    "amount",
    ["3 %", "about 3 per cent", "around 3%", "approximately 3 percent", "roughly three per cent"],
)
def test_an_amount_has_no_words_however_it_is_written(amount: str) -> None:
    terms = read_terms(f"Prices fell by {amount} in the harbour.")
    assert [term.unit for term in terms.items] == ["price", "fell", "harbor"]


def test_around_a_place_is_a_word() -> None:
    assert "around" in read_terms("Houses around the harbour lost value.").weights
