"""Locators."""

import pytest
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


@pytest.mark.parametrize(
    ("first", "last", "labels", "shown"),
    [
        (3, 3, ("455", "456", "457"), "p. 457 (sheet 3)"),
        (2, 3, ("455", "456", "457"), "pp. 456–457 (sheets 2–3)"),
        (3, 3, ("1", "2", "3"), "p. 3"),
        (3, 3, (), "p. 3"),
        (3, 3, ("455", "", ""), "p. 3"),
        (4, 4, ("455",), "p. 4"),
    ],
)
def test_printed_page_is_shown_where_it_differs_from_the_sheet(
    first: int, last: int, labels: tuple[str, ...], shown: str
) -> None:
    found = locate(first, last, 0, 5, (), labels=labels)
    assert found is not None
    assert found.text == shown


def test_labels_of_a_passage_begin_with_its_first_page() -> None:
    found = locate(8, 9, 0, 5, (), labels=("xii", "1"), first_label=8)
    assert found is not None
    assert found.text == "pp. xii–1 (sheets 8–9)"
