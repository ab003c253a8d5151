"""The words around a topic are not searched; the topic is, whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.retrieval.queries import make_query
from rag_assets.retrieval.request_frames import strip_request
from rag_assets.workspace import shipped_settings


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("I am looking for papers about green roofs.", "green roofs."),
        ("What articles exist which deal with time sharing?", "time sharing?"),
        ("Could you please find me some recent studies on owl hearing", "owl hearing"),
        ("We'd like to see reports and articles describing wetlands.", "wetlands."),
        ("Are there any papers on heat islands in Oslo?", "heat islands in Oslo?"),
        ("papers on shock waves", "shock waves"),
        ("The role of owls in vineyards", "owls in vineyards"),
        ("Barn owls. The main issues are noise and light.", "Barn owls. noise and light."),
        ("Aspects of particular interest include nesting", "nesting"),
        ("Owls at night. Bats are also of interest.", "Owls at night. Bats."),
        ("帮我找一些关于绿色屋顶的论文", "绿色屋顶"),
        ("请查找绿色屋顶降温相关的文献。", "绿色屋顶降温"),
        ("有哪些关于碳排放的文献?", "碳排放"),
    ],
)
def test_a_request_is_taken_off_its_topic(question: str, topic: str) -> None:
    assert strip_request(question) == topic


def test_what_is_not_wanted_is_not_searched() -> None:
    question = "I'm interested in robot arms. We are not interested in their motors."
    assert strip_request(question) == "robot arms."
    question = "How do owls, as opposed to hawks, hear mice, and where?"
    assert strip_request(question) == "How do owls hear mice, and where?"


@pytest.mark.parametrize(
    "question",
    [
        "How much cooler are green roofs?",
        "What information does a parse report hold?",
        "Which papers did Salton write in 1975?",
        "Do paper documents last longer than tapes?",
        "Who found the references?",
        "Why does the role of the father matter?",
        "Is the main issue of interest the cost?",
        "我想了解离婚财产分割",
        "第二十条规定了什么?",
        "论文数据从哪里来?",
        "I am looking for",
    ],
)
def test_a_question_without_a_request_stays_as_it_is(question: str) -> None:
    assert strip_request(question) == question


@given(st.text(max_size=200))
def test_something_is_left_to_search(question: str) -> None:
    assert strip_request(question).strip() or not question.strip()


def test_the_topic_is_searched_and_the_question_kept() -> None:
    settings = shipped_settings().retrieve.model_copy(update={"method": "lexical"})
    query = make_query("Find papers about owls", [], settings)
    assert query.text == "Find papers about owls"
    assert query.texts == {"q_en": "owls"}
