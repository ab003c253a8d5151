"""A model that lies: no lie is kept, every one is listed, with its reason."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from rag_assets.answering import (
    Answer,
    PaperQuestion,
    answer_papers,
    answer_scorer,
    render_answer,
    replay_answer,
    write_answer,
)
from rag_assets.answering.agents.trace import Limits
from rag_assets.llm import ChatRequest, Message
from rag_assets.retrieval import Retriever
from rag_assets.retrieval.papers import Route
from rag_assets.workspace import shipped_settings
from rag_assets_tests.answering.lies import FACTS, lies_of, truths_of
from rag_assets_tests.llm.models import RulesModel

SEARCHES = [{"query": fact.text, "k": 6} for fact in FACTS[:-1]]
ZH_SEARCH = {"query": FACTS[-1].text, "k": 6}
_SHOWN = re.compile(r'^> [^\n]*?: \[(C\d+)\] "(.*)"$', re.MULTILINE)
QUESTION = "How cool are roofs, streets and car parks?"
TOLD = {
    "no citation": {"no_citation"},
    "unknown passage": {"unknown_alias"},
    "wrong credit": {"wrong_credit"},
}


class Liar:
    """Searches, then says what it was told to say of the passages that it saw."""

    def __init__(self, write: Any) -> None:
        self.write = write
        self.passages: dict[str, str] = {}

    def answer(self, request: ChatRequest) -> str:
        turn = sum(message.role == "assistant" for message in request.messages)
        self.look(request.messages[-1])
        searches = [*SEARCHES, ZH_SEARCH]
        if turn < len(searches):
            return act("search_by_section", searches[turn])
        return act("finish", {"answer": self.write(self.passages), "sources": []})

    def look(self, message: Message) -> None:
        self.passages |= dict(_SHOWN.findall(message.content))


def act(action: str, arguments: dict[str, Any]) -> str:
    return json.dumps({"thought": "So.", "action": action, "arguments": arguments})


def holding(passages: dict[str, str], text: str) -> tuple[str, str]:
    """Return the alias of a passage that holds a text, and one of a passage that does not."""
    words = " ".join(text.split())
    holders = [alias for alias, said in passages.items() if words in said]
    others = [alias for alias in passages if alias not in holders]
    assert holders, f"no passage that was found holds {text!r}"
    return holders[0], others[0]


@pytest.fixture(scope="module")
def ask(retriever: Retriever) -> Any:
    def run(write: Any) -> Answer:
        liar = Liar(write)
        return answer_papers(
            retriever,
            PaperQuestion(QUESTION, Route("TOPIC_SURVEY")),
            Limits(steps=len(FACTS) + 1, calls=20, repairs=0),
            model=RulesModel("liar", liar.answer),
            scorer=answer_scorer(shipped_settings()),
            clock=lambda: 0.0,
        )

    return run


def test_no_lie_is_kept_and_every_lie_is_listed(ask: Any) -> None:
    planted: list[tuple[str, str]] = []

    def write(passages: dict[str, str]) -> str:
        for fact in FACTS:
            planted.extend(lies_of(fact, *holding(passages, fact.text)))
        return "\n".join(text for _, text in planted)

    answer = ask(write)
    kinds = Counter(kind for kind, _ in planted)
    assert len(planted) >= 50
    assert len(kinds) == 11
    # What stands in their place are the sources' own sentences.
    assert answer.is_quoted
    assert not {one.text for one in answer.statements} & {text for _, text in planted}
    assert len(answer.unsupported) == len(planted)
    page = render_answer(answer)
    assert "Not supported by what was found" in page
    for (kind, _), listed in zip(planted, answer.unsupported, strict=True):
        assert listed.reason
        assert not listed.is_supported
        assert listed.reason_code in TOLD.get(kind, {listed.reason_code}), kind
        if kind not in TOLD:
            assert listed.quote is not None
    assert write_answer(replay_answer(answer)) == write_answer(answer)


def test_true_sentences_close_to_the_words_are_kept(ask: Any) -> None:
    told: list[tuple[str, str]] = []

    def write(passages: dict[str, str]) -> str:
        for fact in FACTS:
            told.extend(truths_of(fact, holding(passages, fact.text)[0]))
        return "\n".join(text for _, text in told)

    answer = ask(write)
    numbers = {one.number for one in answer.statements}
    kept = Counter(kind for place, (kind, _) in enumerate(told, start=1) if place in numbers)
    asked = Counter(kind for kind, _ in told)
    assert kept["word for word"] == asked["word for word"]
    assert kept["mark behind the stop"] == asked["mark behind the stop"]
    assert kept["in a list"] == asked["in a list"]
    assert len(numbers) / len(told) >= 0.9, f"{dict(kept)} of {dict(asked)}"


def test_lies_among_truths_take_no_truth_with_them(ask: Any) -> None:
    def write(passages: dict[str, str]) -> str:
        said = []
        for fact in FACTS:
            alias, wrong = holding(passages, fact.text)
            said += [next(text for _, text in truths_of(fact, alias))]
            said += [next(text for _, text in lies_of(fact, alias, wrong))]
        return " ".join(said)

    answer = ask(write)
    assert [one.text.rstrip(".。") for one in answer.statements] == [
        fact.text.rstrip(".。") for fact in FACTS
    ]
    assert len(answer.unsupported) == len(FACTS)
    for one in answer.statements:
        assert one.quote is not None
        passage = answer.trace.passages[one.quote.alias]
        start = one.quote.char_start - passage.char_start
        assert passage.text[start : start + len(one.quote.text)] == one.quote.text
        assert one.quote.place
