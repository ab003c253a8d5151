import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.chunking import split_sentences
from rag_assets_tests.chunking.fakes import any_texts, assert_covered_once


def sentences(text: str, breaks: tuple[int, ...] = ()) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, breaks)]


@pytest.mark.parametrize(
    "whole",
    [
        "Smith et al. (2020) found that J. A. Smith and Dr. Brown agree.",
        "See Fig. 3, Figs. S1 and S2, Eq. (2), Sec. IV and No. 5 of vol. 12.",
        "Some pigments, e.g. Chlorophyll, i.e. A and B, cf. Jones vs. Brown.",
        "The effect was large (p < .05) at 3.14 mol in version 1.2.3.",
        "As shown in [3] and (Smith et al., 2020).",
        "Visit example.org or doi:10.1000/xyz.123 for more.",
        "“Stop!” he said.",
        "He waited... then he left.",
        "1. The first step is taken.",
        "U.S. law applies.",
        "光照提高产量；温度没有影响，见图3.2。",
        "他说：“你好。”",
        "这是真的？！",
    ],
)
def test_a_stop_inside_a_sentence_does_not_end_it(whole: str) -> None:
    assert sentences(f"{whole} Then more.") == [whole, "Then more."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two (really.) Three?", ["One is here.", "Two (really.)", "Three?"]),
        (
            "We saw it in Smith et al. The yield rose.",
            ["We saw it in Smith et al.", "The yield rose."],
        ),
        ("He took vitamin C. This helped.", ["He took vitamin C.", "This helped."]),
        ("It rose.[3,4] pH fell. 2019 was dry.", ["It rose.[3,4]", "pH fell.", "2019 was dry."]),
        ("光合作用增强。「真的！」是的。", ["光合作用增强。", "「真的！」", "是的。"]),
        ("结果表明.然而不是.", ["结果表明.", "然而不是."]),
        ("Was it? No! Yes.", ["Was it?", "No!", "Yes."]),
        ("مرحبا؟ نعم.", ["مرحبا؟", "نعم."]),
    ],
)
def test_a_stop_between_sentences_ends_one(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("anchor", ["{#smith2020}", "[@smith2020; @lee]", "{#a}{#论文-2}"])
@pytest.mark.parametrize("space", ["", " ", "\n"])
@pytest.mark.parametrize("stop", [".", "。", "?”"])
def test_an_anchor_behind_the_stop_belongs_to_the_sentence_before(
    anchor: str, space: str, stop: str
) -> None:
    cited = f"Light helps{stop}{space}{anchor}"
    assert sentences(f"{cited} Next one.") == [cited, "Next one."]


def test_a_blank_line_ends_a_sentence_and_a_line_break_does_not() -> None:
    assert sentences("A title\n \nIt runs\nover lines") == ["A title", "It runs\nover lines"]


def test_headings_items_and_table_rows_are_sentences_of_their_own() -> None:
    text = "# A title\nBody runs\non\n- one\n- two\n| a | b |\n| 1 | 2 |\nEnd"
    assert sentences(text) == [
        "# A title",
        "Body runs\non",
        "- one",
        "- two",
        "| a | b |",
        "| 1 | 2 |",
        "End",
    ]


def test_a_wrapped_number_is_no_list_item() -> None:
    assert sentences("as told in chapter\n2. of the book") == ["as told in chapter\n2. of the book"]
    assert sentences("Steps:\n1. one\n2. two") == ["Steps:", "1. one", "2. two"]


def test_records_with_the_same_first_name_are_sentences_of_their_own() -> None:
    assert sentences("city: Rome; age: 3\ncity: Oslo; age: 4") == [
        "city: Rome; age: 3",
        "city: Oslo; age: 4",
    ]


def test_a_break_given_by_the_caller_ends_a_sentence() -> None:
    assert sentences("row one\nrow two", (8,)) == ["row one", "row two"]


def test_a_row_of_dots_is_no_row_of_sentences() -> None:
    assert sentences("Contents . . . . . 3") == ["Contents . . . . . 3"]


def test_lines_of_a_table_of_contents_are_sentences_of_their_own() -> None:
    first, second = "2.1 The state of the art . . . . 24", "2.1.1 Copies . . . . . . . . . 31"
    assert sentences(f"{first} {second}\n3 The end") == [first, second, "3 The end"]


def test_an_item_with_a_letter_in_brackets_begins_a_sentence() -> None:
    assert sentences("(a) One is plain. (b) The second is not.") == [
        "(a) One is plain.",
        "(b) The second is not.",
    ]


@given(any_texts, st.lists(st.integers(0, 300), max_size=5))
def test_sentences_hold_every_visible_character_once(text: str, breaks: list[int]) -> None:
    assert_covered_once(text, split_sentences(text, sorted(breaks)))


@pytest.mark.parametrize(
    "part", ["a", "a.", ". ", "\n ", "\n\n", "{#a", "1. ", "光。", "| ", "e\u0301"]
)
def test_long_monotonous_texts_are_split_in_linear_time(part: str) -> None:
    text = part * 100_000
    assert_covered_once(text, split_sentences(text))


@pytest.mark.parametrize("unit", ["9.8 °C", "300 K", "12 V", "5\u00a0W"])
def test_a_unit_at_the_end_is_no_initial(unit: str) -> None:
    text = f"It shrank to {unit}. Top-floor rooms were cooler."
    assert sentences(text) == [f"It shrank to {unit}.", "Top-floor rooms were cooler."]


def test_an_initial_is_still_a_name() -> None:
    assert sentences("It was J. Smith who said so.") == ["It was J. Smith who said so."]
    assert sentences("Results follow J. A. Smith. They agree.") == [
        "Results follow J. A. Smith.",
        "They agree.",
    ]


def test_an_opening_bracket_at_the_end_is_harmless() -> None:
    assert "".join(sentences("Start. [")).replace(" ", "") == "Start.["
