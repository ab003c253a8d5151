import pytest
from hypothesis import given

from rag_assets.chunking import preprocess
from rag_assets.model.settings import PreprocessRule
from rag_assets_tests.chunking.fakes import any_texts

ALL: list[PreprocessRule] = ["attachments", "citation_marks", "emails", "urls", "white_space"]


@pytest.mark.parametrize(
    ("rule", "text", "cleaned"),
    [
        ("attachments", "See ![Fig [3] a](attachment:fig-003) here.", "See  here."),
        ("attachments", "See ![Fig](images/a.png) here.", "See ![Fig](images/a.png) here."),
        ("citation_marks", "As shown [3, 7–9]. In a[i]", "As shown. In a[i]"),
        ("emails", "Ask jane.doe+x@uni-x.example.org, please", "Ask , please"),
        ("urls", "At https://a.org/b(c)?d=1. And www.b.org!", "At . And !"),
        ("urls", "参见https://a.org/b。结束", "参见。结束"),
        ("white_space", " a \t b\n \n\n c ", "a b\nc"),
    ],
)
def test_a_rule_removes_what_it_names(rule: PreprocessRule, text: str, cleaned: str) -> None:
    assert preprocess(text, [rule]) == cleaned


def test_a_text_of_nothing_else_stays() -> None:
    assert preprocess("https://a.org", ALL) == "https://a.org"


def test_the_order_of_the_names_does_not_matter() -> None:
    text = "See  a@b.org  [1] and\n\nhttps://a.org."
    assert preprocess(text, ALL) == preprocess(text, ALL[::-1]) == "See and\n."


@given(any_texts)
def test_rules_never_leave_a_visible_text_blank(text: str) -> None:
    assert bool(preprocess(text, ALL).strip()) == bool(text.strip())
    assert preprocess(text, []) == text
