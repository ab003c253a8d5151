"""Locators."""

from hypothesis import given
from hypothesis import strategies as st

from rag_assets.evidence.locating import anchor_words, first_words, locate


def test_pages_come_before_characters() -> None:
    assert locate(3, 3, 10, 20, ()) is not None
    found = locate(3, 4, 10, 20, ())
    assert found is not None
    assert (found.text, found.quality) == ("pp. 3–4", "page")


def test_without_pages_section_and_characters_locate() -> None:
    found = locate(None, None, 10, 20, ("Methods", "Sites"))
    assert found is not None
    assert (found.text, found.quality) == ("Methods › Sites, characters 10–20", "char_anchor")


def test_without_either_there_is_no_locator() -> None:
    assert locate(None, None, None, None, ()) is None
    assert locate(None, None, 5, 5, ()) is None


@given(st.text())
def test_anchors_are_words_of_the_text(text: str) -> None:
    begin, end = anchor_words(text)
    folded = " ".join(text.split())
    assert begin in folded
    assert end in folded


@given(st.text(), st.integers(1, 80))
def test_first_words_is_a_prefix(text: str, limit: int) -> None:
    assert text.startswith(first_words(text, limit))
    assert first_words("a b c", 2) == "a b"


def test_a_word_with_a_ligature_is_one_word() -> None:
    begin, _ = anchor_words("make a smooth Mg ion diﬀusion path")
    assert begin == "make a smooth Mg ion diﬀusion"
