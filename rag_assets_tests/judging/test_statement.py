"""Who says it is no part of what is said; what narrows or denies it is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.judging.statement import state

FLAT = "Bare roofs showed no change."
FRAMED = [
    "It was reported that bare roofs showed no change.",
    "It has recently been shown that bare roofs showed no change.",
    "Moreau et al. (2019) reported that bare roofs showed no change.",
    "Moreau et al. found bare roofs showed no change.",
    "Moreau, Lindqvist, and van der Berg (2010) observed that bare roofs showed no change.",
    "According to Moreau and Lindqvist (2019), bare roofs showed no change.",
    "As Moreau (2019) has shown, bare roofs showed no change.",
    "In their study, Moreau (2019) found that bare roofs showed no change.",
    "The authors found that bare roofs showed no change.",
    "Moreau and Lindqvist report that bare roofs showed no change.",
    "Results in Table 7 show that bare roofs showed no change.",
    "However, a recent study suggests that bare roofs showed no change [12, 14–16].",
    "Bare roofs showed no change (Moreau et al., 2019; Lindqvist 2020a, p. 12).",
    "Bare roofs showed no change, as reported by Moreau (2019).",
    "In addition, bare roofs showed no change.",
    "Bare roofs showed no change [?].",
    "Bare roofs showed no change (see Section 2.3 and Table 2).",
    "Bare roofs showed no change (Fig. 3).",
    "Bare roofs showed no change ([citation needed]).",
]
FRAMED_ZH = [
    "研究表明，裸露屋顶没有变化。",
    "莫兰等（2019）发现裸露屋顶没有变化。",
    "根据莫兰（2019）的研究，裸露屋顶没有变化。",
    "然而，Moreau等（2019）认为裸露屋顶没有变化。",
    "已有大量研究证实了裸露屋顶没有变化（莫兰等，2018）。",
    "据报道，裸露屋顶没有变化。",
    "裸露屋顶没有变化（莫兰，2018；Lindqvist等，2020）。",
    "裸露屋顶没有变化（如表2所示）。",
]
FRAMED_LAW = [
    "《劳动合同法》第二十条规定，试用期工资不得低于百分之八十。",
    "根据我国《劳动合同法》（2012年修正）第二十条第一款的规定，试用期工资不得低于百分之八十。",
    "依照第二十条第（二）项，试用期工资不得低于百分之八十。",
    "该文献第二十条进一步规定：试用期工资不得低于百分之八十。",
    "试用期工资不得低于百分之八十（参见《劳动合同法》第20条）。",
]
FRAMED_ENGLISH_LAW = [
    "Under Article 17 of the Small Ferries Regulation, owners of ferries shall be fined.",
    "According to Art. 3(2), owners of ferries shall be fined.",
    "Article 5 of Regulation (EU) 2031/77 states that owners of ferries shall be fined.",
    "Pursuant to Section 2 of the Harbour Lights Act 1994, owners of ferries shall be fined.",
    "Under Article 1 of the Treaty on the Safety of Ferries, owners of ferries shall be fined.",
    "The HLA, section 7, provides that owners of ferries shall be fined.",
    "Owners of ferries shall be fined (see § 12a SFR).",
]
KEPT = [
    "Under the Clean Harbour Act, owners are fined.",
    "In the USA, owners of ferries are fined.",
    "NASA says that the moon is near.",
    "Article 17 was repealed in May.",
    "第四十条规定的情形消失后，合同终止。",
    "《劳动合同法》的修订经历了四次审议。",
    "No study has shown that roofs cool offices.",
    "Few studies have shown that roofs cool offices.",
    "The study did not find that roofs cool offices.",
    "The ministry said that prices fell in May.",
    "Studies in mice show that tea lowers the risk.",
    "A survey of 500 teachers found that classes were too large.",
    "They hypothesised that roofs cool offices.",
    "In 2019, prices fell by 5 %.",
    "Prices fell (from 2012 to 2019).",
    "Prices fell again (March 2020).",
    "The first results were published in May.",
    "The value lies in the interval [0, 1].",
    "研究没有发现裸露屋顶有变化。",
    "研究人员在三个城市工作。",
]


@pytest.mark.parametrize("sentence", FRAMED)
def test_frames_references_and_connectives_go(sentence: str) -> None:
    assert state(sentence) == FLAT


@pytest.mark.parametrize("sentence", FRAMED_ZH)
def test_chinese_frames_go(sentence: str) -> None:
    assert state(sentence) == "裸露屋顶没有变化。"


@pytest.mark.parametrize("sentence", FRAMED_ENGLISH_LAW)
def test_an_english_law_and_its_article_go(sentence: str) -> None:
    assert state(sentence) == "Owners of ferries shall be fined."


@pytest.mark.parametrize("sentence", FRAMED_LAW)
def test_where_a_statute_says_it_is_no_part_of_what_it_says(sentence: str) -> None:
    assert state(sentence) == "试用期工资不得低于百分之八十。"


@pytest.mark.parametrize("sentence", [FLAT, *KEPT])
def test_what_is_part_of_the_claim_stays(sentence: str) -> None:
    assert state(sentence) == sentence


@pytest.mark.parametrize("subject", ["Moreau et al. (2019)", "Moreau (2019)", "Moreau et al. have"])
def test_a_work_that_does_something_is_no_part_of_what_it_does(subject: str) -> None:
    stated = "Introduce a model of bare roofs in summer."
    assert state(f"{subject} introduce a model of bare roofs in summer.") == stated


def test_a_work_that_something_is_said_of_stays() -> None:
    for sentence in (
        "Moreau et al. (2019) and others measured bare roofs in summer.",
        "Moreau et al. (2019) were among the first to measure roofs.",
        "Moreau hardly measured bare roofs in summer.",
    ):
        assert state(sentence) == sentence


def test_a_frame_without_a_statement_stays() -> None:
    assert state("Moreau (2019) found nothing.") == "Moreau (2019) found nothing."


@given(st.text(max_size=120))
def test_nothing_is_invented(text: str) -> None:
    left = re.findall(r"\w", state(text).casefold())
    given_ = iter(re.findall(r"\w", text.casefold()))
    assert all(character in given_ for character in left)


@given(
    st.lists(
        st.sampled_from(["Lee", "et al.", "(2019)", "and", ",", "(", ")", "[3]", "found", "that"]),
        max_size=40,
    )
)
def test_a_heap_of_references_ends(words: list[str]) -> None:
    assert len(state(" ".join(words))) <= len(" ".join(words))
