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
        ("I'm also interested in how owls hear.", "how owls hear."),
        ("We'd like to see reports and articles dealing with wetlands.", "wetlands."),
        ("papers on shock waves", "shock waves"),
        ("Information regarding nests. I need its sources.", "nests. its sources."),
    ],
)
def test_a_request_is_taken_off_its_topic(question: str, topic: str) -> None:
    assert strip_request(question) == topic


@pytest.mark.parametrize(
    "question",
    [
        "The use of force",
        "The role of the jury in murder trials",
        "Sources of microplastics in rivers",
        "Documents of title",
        "The main issue is whether the contract is void.",
        "How do owls, as opposed to hawks, hear mice?",
        "How much cooler are green roofs?",
        "What information does a parse report hold?",
        "Which papers did Salton write in 1975?",
        "Do paper documents last longer than tapes?",
        "Who found the references?",
        "Why does the role of the father matter?",
        "Give me liberty",
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
    query = make_query("I need papers about owls", [], settings)
    assert query.text == "I need papers about owls"
    assert query.texts == {"q_en": "owls"}
