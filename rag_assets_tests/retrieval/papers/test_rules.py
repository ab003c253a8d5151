"""The route of a question by rules: 200 questions of our own, and each rule's own examples.

The sentences show that code runs, and which it was written for: `part` says which were labelled
before there was any rule and not looked at since (`unseen`). QASPER's are other people's.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rag_assets.retrieval.papers import (
    INTENT_RULES,
    SECTION_RULES,
    IntentRule,
    SectionRule,
    route_by_rules,
)
from rag_assets.retrieval.papers.routes import find_names

QUESTIONS = [
    json.loads(line)
    for line in (Path(__file__).parent / "questions.jsonl").read_text("utf-8").splitlines()
]
QASPER = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "retrieval/qasper/papers.jsonl"
REGISTER = (*INTENT_RULES, *SECTION_RULES)


def test_the_questions_are_a_hundred_of_each_language_half_of_them_unseen() -> None:
    assert Counter((one["language"], one["part"]) for one in QUESTIONS) == {
        (language, part): 50 for language in ("en", "zh") for part in ("seen", "unseen")
    }
    assert len({one["question"] for one in QUESTIONS}) == 200


@pytest.mark.parametrize("part", ["seen", "unseen"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_intent_is_told_of_nineteen_in_twenty(language: str, part: str) -> None:
    own = [one for one in QUESTIONS if (one["language"], one["part"]) == (language, part)]
    right = sum(route_by_rules(one["question"]).intent == one["intent"] for one in own)
    assert right / len(own) >= 0.95


@pytest.mark.parametrize("part", ["seen", "unseen"])
def test_sections_are_told_mostly(part: str) -> None:
    """F1 over pairs of question and section: 0.98 seen, 0.97 unseen when this was written."""
    assert _section_f1([one for one in QUESTIONS if one["part"] == part]) >= 0.9


@pytest.mark.parametrize("rule", REGISTER, ids=lambda rule: rule.id)
def test_each_rule_fires_on_its_example_and_is_silent_on_the_other(
    rule: IntentRule | SectionRule,
) -> None:
    assert rule.check(rule.fires)
    assert not rule.check(rule.silent)


def test_rules_have_names_of_their_own() -> None:
    assert len({rule.id for rule in REGISTER}) == len(REGISTER)


def test_the_two_questions_of_the_specification() -> None:
    one = route_by_rules("Llama 3 的训练数据有多少？")
    assert one.to_json() == {
        "intent": "SPECIFIC_PAPER",
        "target_paper_keywords": ["Llama 3"],
        "target_section_category": [2],
    }
    assert route_by_rules("最近有哪些提升 RAG 准确率的方法？").intent == "TOPIC_SURVEY"


def test_a_route_says_which_rule_decided() -> None:
    assert route_by_rules("What do Chen et al. (2021) conclude?").origin == "rules:authors"
    assert route_by_rules("Do owls eat mice?").origin == "rules"


def test_a_name_of_the_library_is_one_whatever_it_looks_like() -> None:
    question = "How does Barnowl find its prey?"
    assert route_by_rules(question).intent == "TOPIC_SURVEY"
    named = route_by_rules(question, ["Barnowl"])
    assert (named.intent, named.target_paper_keywords) == ("SPECIFIC_PAPER", ("Barnowl",))


@pytest.mark.parametrize(
    ("question", "kind", "name"),
    [
        ("In 10.1186/s12906-017-1587-5, what?", "identifiers", "10.1186/s12906-017-1587-5"),
        ("（10.1016/j.x.2019.05）的温度？", "identifiers", "10.1016/j.x.2019.05"),
        ("See arXiv:1706.03762v5 for it", "identifiers", "1706.03762"),
        ("What does {#green-roofs} say?", "identifiers", "green-roofs"),
        ("What does @chen2021 say?", "identifiers", "chen2021"),
        ("In “Deep Residual Learning”, what?", "titles", "Deep Residual Learning"),
        ("《城市热岛》用了什么数据？", "titles", "城市热岛"),
        ("Which BLEU does Attention Is All You Need report?", "titles",
         "Attention Is All You Need"),
        ("Şanli et al. (2017): what?", "works", "Şanli et al. (2017)"),
        ("STOER et al. (1997): what?", "works", "STOER et al. (1997)"),
        ("What did Singh and Rao (2015) find?", "works", "Singh and Rao (2015)"),
        ("李明和张华 2019 年的文章", "works", "李明和张华 2019 年的"),
        ("How is GPT-3 trained?", "things", "GPT-3"),
        ("Llama 3 的训练数据", "things", "Llama 3"),
    ],
)  # fmt: skip
def test_what_a_paper_is_called_by(question: str, kind: str, name: str) -> None:
    assert getattr(find_names(question), kind) == (name,)


@pytest.mark.parametrize(
    "question",
    ["How do CNNs pool?", "Is CO2 soluble?", "What is measured on ImageNet?", "In 2019 it rained"],
)
def test_what_names_no_paper(question: str) -> None:
    assert find_names(question).all == ()


def test_most_questions_of_readers_who_have_their_paper_before_them_are_about_one() -> None:
    """QASPER's questions name no paper; every one is about one (0.64 when this was written)."""
    if not QASPER.is_file():
        pytest.skip(f"no {QASPER}: set RAG_SHARED_DATA to the folder of shared data")
    rows = [json.loads(line) for line in QASPER.read_text("utf-8").splitlines()]
    asked = [one["question"] for row in rows for one in row["questions"]]
    one_paper = sum(route_by_rules(text).intent == "SPECIFIC_PAPER" for text in asked)
    assert one_paper / len(asked) >= 0.6


def _section_f1(questions: list[dict[str, Any]]) -> float:
    found = [set(route_by_rules(one["question"]).target_section_category) for one in questions]
    wanted = [set(one["categories"]) for one in questions]
    both = sum(len(one & other) for one, other in zip(found, wanted, strict=True))
    return 2 * both / (sum(map(len, found)) + sum(map(len, wanted)))
