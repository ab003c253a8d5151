"""A Chinese question becomes an English one, or an error that shows what came back."""

import pytest

from rag_assets.llm import load_prompt, rewrite_question
from rag_assets.llm.contract import ChatRequest
from rag_assets.model import AnswerError
from rag_assets_tests.llm.models import RulesModel


def saying(answer: str) -> RulesModel:
    return RulesModel("fixed", lambda _: answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("绿色屋顶能降温多少？", "How much do green roofs cool?"),
        ("Cu2Mo2催化剂在500℃下的产率", "Yield of Cu2Mo2 catalysts at 500 °C"),
        ("2020年CO2排放下降了3.5%吗？", "Did CO2 emissions fall by 3.5% in 2020?"),
        ("样本有3万人，5月开始", "The sample has 30,000 people and starts in May"),
        ("为什么有2种机制？", "Why are there two mechanisms?"),
        ("1000米以上", "Above 1,000 m"),
        ("α-突触核蛋白的作用", "Role of α-synuclein"),
    ],
)
def test_good_rewriting_is_returned(question: str, answer: str) -> None:
    assert rewrite_question(saying(f" {answer}\n"), question) == answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty"),
        ("Here it is:\nHow much does CO2 rise?", "several lines"),
        ("二氧化碳CO2上升多少", "Latin"),
        ("12 + 5", "Latin"),
        ("How much does carbon rise by 2050?", "lost CO2"),
        ("How much does CO2 rise by 205?", "lost 2050"),
        ("CO2 rises by 2050 " + "and so on " * 60, "far longer"),
    ],
)
def test_bad_rewriting_is_an_error_with_what_came_back(answer: str, why: str) -> None:
    with pytest.raises(AnswerError, match=why) as caught:
        rewrite_question(saying(answer), "到2050年CO2上升多少？")
    assert caught.value.answer == answer


def test_request_carries_prompt_hash_and_task() -> None:
    seen: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        seen.append(request)
        return "What is it?"

    rewrite_question(RulesModel("seen", answer), "这是什么？")
    prompt = load_prompt("rewrite_question")
    (request,) = seen
    assert (request.task, request.prompt_hash) == ("rewrite_question", prompt.hash)
    assert [message.content for message in request.messages] == [prompt.text, "这是什么？"]
    assert request.temperature == 0.0
