"""A citation that is the subject of its sentence leaves a sentence behind, and its own clause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.auditing.draft import parse_draft
from rag_assets.judging.statement import state

FLAT = "Bare roofs showed no change."
SENTENCES = [
    "@moreau2019 found that bare roofs showed no change.",
    "@moreau2019 and @lee2020 found that bare roofs showed no change.",
    "As @moreau2019 shows, bare roofs showed no change.",
    r"\citet{moreau2019} reported that bare roofs showed no change.",
    "According to @moreau2019 [p. 3], bare roofs showed no change.",
    "Moreau {#moreau2019} found that bare roofs showed no change.",
    "Moreau (2019) {#moreau2019} found that bare roofs showed no change.",
    "Moreau and Lee [@moreau2019] showed that bare roofs showed no change.",
    "Moreau's study {#moreau2019} found that bare roofs showed no change.",
    "It was shown by {#moreau2019} that bare roofs showed no change.",
    "The study of @moreau2019 showed that bare roofs showed no change.",
    "In @moreau2019, bare roofs showed no change.",
    "Bare roofs showed no change, as reported by @moreau2019.",
    "Bare roofs showed no change {#moreau2019}.",
]
CHINESE = [
    "根据{#moreau2019}，裸露屋顶没有变化。",
    "{#moreau2019}指出裸露屋顶没有变化。",
    "莫兰{#moreau2019}认为裸露屋顶没有变化。",
]
TWO = (
    "While @moreau2019 found that bare roofs showed no change, @lee2020 showed that planted roofs"
    " cooled the air."
)


def _claims(text: str) -> list[str]:
    (sentence,) = parse_draft("draft.md", text.encode()).sentences
    return [citation.claim or sentence.claim for citation in sentence.citations]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_statement_is_left(sentence: str) -> None:
    assert {state(claim) for claim in _claims(sentence)} == {FLAT}


@pytest.mark.parametrize("sentence", CHINESE)
def test_the_chinese_statement_is_left(sentence: str) -> None:
    assert [state(claim) for claim in _claims(sentence)] == ["裸露屋顶没有变化。"]


def test_each_of_two_subjects_is_asked_about_its_own_clause() -> None:
    assert [state(claim) for claim in _claims(TWO)] == [
        "Bare roofs showed no change",
        "Planted roofs cooled the air.",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The results {#a} show that roofs cool.",
        "Prices rose in London {#a} and fell in Leeds {#b}.",
        "Roofs cool offices [@a].",
    ],
)
def test_other_anchors_leave_the_sentence_as_it_is(sentence: str) -> None:
    (found,) = parse_draft("draft.md", sentence.encode()).sentences
    assert "cited work" not in found.claim


@given(st.lists(st.sampled_from(["@a", "{#b}", "found", "that", "roofs", "cool", ",", "while"])))
def test_no_placeholder_is_left(words: list[str]) -> None:
    for sentence in parse_draft("draft.md", (" ".join(words) + ".").encode()).sentences:
        shown = sentence.claim + "".join(c.claim for c in sentence.citations)
        assert not any("\ue000" <= character <= "\uf8ff" for character in shown)


@pytest.mark.parametrize(
    ("text", "claim", "place"),
    [
        ("@u [p. 2] say that wages rose.", "The cited work say that wages rose.", "p. 2"),
        ("@u [pp. 2-3] says that wages rose.", "The cited work says that wages rose.", "pp. 2-3"),
        ("@u[p. 2] found that wages rose.", "The cited work found that wages rose.", "p. 2"),
        ("As @u [2] says, wages rose.", "As the cited work says, wages rose.", "2"),
        (
            "Lee (2006: 12) {#u} found that wages rose.",
            "The cited work found that wages rose.",
            "12",
        ),
        ("@{甲}［第3页］认为，工资上涨。", "该文献认为，工资上涨。", "第3页"),
    ],
)
def test_the_page_beside_a_subject_is_its_place(text: str, claim: str, place: str) -> None:
    (sentence,) = parse_draft("chapter.md", text.encode()).sentences
    (citation,) = sentence.citations
    assert sentence.claim == claim
    assert citation.hint is not None
    assert citation.hint.text == place


def test_what_somebody_says_is_judged_without_who_says_it() -> None:
    said = "wages rose by three percent in all towns."
    for verb in ("say that", "says that", "said"):
        assert state(f"The cited work {verb} {said}") == said.capitalize()
