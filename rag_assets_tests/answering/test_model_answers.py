"""A scripted model searches, observes and answers, in process and by HTTP."""

import json
from dataclasses import replace
from typing import Any

import pytest

from rag_assets.answering import (
    Answer,
    PaperQuestion,
    answer_from_json,
    answer_papers,
    answer_scorer,
    render_answer,
    replay_answer,
    write_answer,
)
from rag_assets.answering.agents.trace import Limits
from rag_assets.llm import ChatModel, ScriptedModel, load_chat_model
from rag_assets.retrieval import Retriever
from rag_assets.retrieval.papers import Route
from rag_assets.workspace import shipped_settings
from rag_assets_tests.agents.toys import act
from rag_assets_tests.llm.models import script_of, settings_for
from rag_assets_tests.llm.server import serve_script

LIMITS = Limits(steps=5, calls=12, repairs=2)
TRUE = "Irrigated sedum roofs kept an advantage of 15.9 °C through the same dry spells"
FALSE = "Bitumen roofs kept an advantage of 15.9 °C"
ASKED = PaperQuestion(
    "What does irrigation do?", Route("SPECIFIC_PAPER", ("Green roofs",), (3,), "rules:thing")
)
SCRIPT = script_of(
    {"turn": 1, "system": "retrieval agent", **act("search_abstracts", query="irrigated roofs")},
    {"turn": 2, **act("search_by_section", query=TRUE, doc_id="green-roofs-2024", k=1)},
    {
        "turn": 3,
        "when": (
            r"\[Paper: Green roofs.*\n> Context \(Introduction\): .*\n"
            r"> Retrieved Evidence \(Evaluation, green-roofs-2024:\d+\): \[C4\]"
        ),
        **act("finish", answer=f"{TRUE} [C4]. {FALSE} [C4]. I think so.", sources=["C4"]),
    },
)  # fmt: skip


def ask(retriever: Retriever, model: ChatModel, **more: Any) -> Answer:
    return answer_papers(
        retriever, more.pop("asked", ASKED), more.pop("limits", LIMITS), model=model,
        scorer=answer_scorer(shipped_settings()), clock=lambda: 0.0, **more,
    )  # fmt: skip


def test_what_is_supported_is_kept_and_the_rest_is_listed(retriever: Retriever) -> None:
    answer = ask(retriever, ScriptedModel(SCRIPT))
    assert not answer.is_quoted
    assert [one.text for one in answer.statements] == [f"{TRUE}."]
    assert [(one.text, one.reason_code) for one in answer.unsupported] == [
        (f"{FALSE}.", "unread"), ("I think so.", "no_citation"),
    ]  # fmt: skip
    (source,) = answer.sources
    number = answer.trace.passages["C4"].chunk_id.rpartition(":")[2]
    assert (source.aliases, source.chunks) == (("C4",), f"green-roofs-2024: {number}")
    page = render_answer(answer)
    said, _, struck = page.partition("## Not supported by what was found")
    assert TRUE in said
    assert FALSE not in said
    assert FALSE in struck
    assert any("Nobody read" in one for one in answer.notices)
    stored = answer_from_json(json.loads(write_answer(answer)))
    assert write_answer(replay_answer(stored)) == write_answer(answer)


def test_where_nothing_written_stands_the_sources_are_quoted(retriever: Retriever) -> None:
    script = script_of(
        {"turn": 1, **act("search_abstracts", query="irrigated roofs")},
        {"turn": 2, **act("search_by_section", query=TRUE, doc_id="green-roofs-2024", k=1)},
        {"turn": 3, **act("finish", answer=f"{FALSE} [C4].", sources=["C4"])},
    )
    asked = replace(ASKED, question="How much cooler were irrigated sedum roofs in dry spells?")
    answer = ask(retriever, ScriptedModel(script), asked=asked)
    assert answer.is_quoted
    assert answer.statements
    assert [one.text for one in answer.unsupported] == [f"{FALSE}."]
    assert ["none is kept" in one for one in answer.notices[:2]] == [True, False]
    assert answer.reader.name == "word for word"
    stored = answer_from_json(json.loads(write_answer(answer)))
    assert write_answer(replay_answer(stored)) == write_answer(answer)


def test_a_search_that_was_made_is_refused(retriever: Retriever) -> None:
    twice = {**act("search_abstracts", query="roofs")}
    script = script_of(
        {"turn": 1, **twice},
        {"turn": 2, **twice},
        {
            "turn": 3,
            "when": "called with these arguments before",
            **act("finish", answer="", sources=[]),
        },
    )
    answer = ask(retriever, ScriptedModel(script))
    assert [step.action for step in answer.trace.steps][-1] == "finish"
    assert write_answer(replay_answer(answer)) == write_answer(answer)


def test_the_model_is_told_the_route(retriever: Retriever) -> None:
    brief = ask(retriever, ScriptedModel(SCRIPT)).trace.brief
    assert brief == (
        "Intent: SPECIFIC_PAPER. The paper is called: Green roofs. Sections that may answer: "
        "EVALUATION."
    )


def test_a_service_by_http_answers_as_the_script_does(retriever: Retriever) -> None:
    here = ask(retriever, ScriptedModel(SCRIPT))
    with serve_script(SCRIPT, api_key="s3cret") as server:
        model = load_chat_model(
            settings_for(base_url=server.base_url), environment={"OPENAI_API_KEY": "s3cret"}
        )
        assert model is not None
        there = ask(retriever, model)
    assert there.statements == here.statements
    assert there.unsupported == here.unsupported
    assert there.trace.policy["name"] == "openai_compatible:demo"
    assert "s3cret" not in write_answer(there)


def test_a_service_that_is_down_is_told_and_rules_quote(retriever: Retriever) -> None:
    model = load_chat_model(settings_for(base_url="http://127.0.0.1:9/v1", attempts=1))
    assert model is not None
    answer = ask(retriever, model)
    assert answer.is_quoted
    assert answer.statements
    assert any("could not be used, and rules went on" in one for one in answer.notices)
    assert write_answer(replay_answer(answer)) == write_answer(answer)


def test_a_model_that_never_ends_is_ended(retriever: Retriever) -> None:
    forever = ScriptedModel(script_of({**act("search_abstracts", query="roofs")}))
    answer = ask(retriever, forever)
    assert answer.trace.ended_by == "steps"
    assert answer.trace.calls == 5
    assert answer.is_quoted
    assert any("limit of steps" in one for one in answer.notices)


@pytest.mark.parametrize(
    ("said", "told"), [("", "No answer found in this library"), ("Roofs are cool [C1].", "none is")]
)
def test_an_answer_of_which_nothing_is_kept_says_so(
    retriever: Retriever, said: str, told: str
) -> None:
    script = script_of(
        {"turn": 1, **act("search_abstracts", query="roofs")},
        {"turn": 2, **act("finish", answer=said, sources=[])},
    )
    answer = ask(retriever, ScriptedModel(script))
    assert answer.statements == ()
    assert any(told in one for one in answer.notices)
    assert len(answer.unsupported) == bool(said)


def test_a_single_search_leaves_the_model_to_finish(retriever: Retriever) -> None:
    script = script_of({
        "when": r"\[C1\]", "turn": 2, **act("finish", answer=f"{TRUE} [C1].", sources=["C1"]),
    })  # fmt: skip
    single = replace(ASKED, question=TRUE, mode="single")
    answer = answer_papers(
        retriever, single, LIMITS, model=ScriptedModel(script),
        scorer=answer_scorer(shipped_settings()), clock=lambda: 0.0,
    )  # fmt: skip
    assert [step.action for step in answer.trace.steps] == ["search_by_section", "finish"]
    assert len(answer.statements) == 1
    assert write_answer(replay_answer(answer)) == write_answer(answer)
