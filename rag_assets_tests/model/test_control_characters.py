"""Characters that act are dropped, whole sequences at a time; what texts need stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import drop_controls, has_controls


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP+q544e\x1b\\after", "after"),
        ("\x1b_payload\x1b\\after", "after"),
        ("\x1bcreset", "reset"),
        ("\x1b(Bcharset", "charset"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cafter", "after"),
        ("a\x00b\x08c\x7fd\x93e", "abcde"),
        ("Satz\u202e verkehrt\u2066 herum\u2069", "Satz verkehrt herum"),
    ],
)
def test_what_acts_is_dropped_whole(text: str, clean: str) -> None:
    assert drop_controls(text) == clean


def test_a_sequence_that_never_ends_takes_no_words_with_it() -> None:
    assert drop_controls("\x1b]0;title\nSecond line.\x07") == "0;title\nSecond line."
    assert drop_controls("last \x1b") == "last "


def test_words_read_in_a_wrong_encoding_stay() -> None:
    assert drop_controls("\x93quoted\x94 \x9b word \x9d and more \x9cuvre") == (
        "quoted  word  and more uvre"
    )


def test_line_ends_and_separators_still_separate() -> None:
    assert drop_controls("a\r\nb\rc\x0cd\x0be\x85f\x1fg\th") == "a\nb\nc\nd\ne\nf g\th"


@pytest.mark.parametrize(
    "text",
    [
        "tab\tand\nline",
        "soft\u00adhyphen",
        "नमस्\u200dते می\u200cخواهم",
        "❤\ufe0f 葛\U000e0100",
        "\u200eleft\u200f",
        "line\u2028separator",
    ],
)
def test_what_a_text_needs_stays(text: str) -> None:
    assert drop_controls(text) is text


@given(st.text() | st.text("\x1b[]0;m\x07\\\x9b\x9d\x9cP\u202e\r\n a"))
def test_a_dropped_text_has_none_left(text: str) -> None:
    clean = drop_controls(text)
    assert not has_controls(clean)
    assert drop_controls(clean) == clean
    assert has_controls(text) == (clean != text)
