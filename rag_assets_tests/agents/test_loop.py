"""An agent decides from what it saw, within limits, and can be done again from its trace."""

import json
from dataclasses import asdict, replace
from typing import Any

import jsonschema
import pytest
from pydantic import TypeAdapter

from rag_assets.answering.agents import (
    AgentState,
    Decision,
    Limits,
    RulesPolicy,
    Trace,
    replay_agent,
    show_observation,
)
from rag_assets.llm import ScriptedModel, load_chat_model
from rag_assets.model import LanguageModelError, RecordingError, UsageError
from rag_assets_tests.agents.toys import LIMITS, SHELF, TOOLS, act, job, policy_of, run
from rag_assets_tests.llm.models import RulesModel, script_of, settings_for
from rag_assets_tests.llm.server import serve_script

TWO_LOOKS = script_of(
    {"turn": 1, **act("look", word="sedum")},
    {"turn": 2, **act("look", "Nothing; a capital may help.", word="Sedum")},
    {"turn": 3, **act("finish", answer="Sedum roofs were cooler [C1].", sources=["C1"])},
)


def again(trace: Trace, model: Any) -> Trace:
    return replay_agent(job(policy_of(model), trace.limits), trace)


def test_it_decides_the_next_action_from_what_it_saw() -> None:
    model = ScriptedModel(TWO_LOOKS)
    trace = run(model)
    assert [step.action for step in trace.steps] == ["look", "look", "finish"]
    first, second, _ = (step.observation for step in trace.steps)
    assert first is not None
    assert second is not None
    assert show_observation(first, trace.passages) == "Nothing was found."
    assert show_observation(second, trace.passages) == f'- [C1] [roofs:0] "{SHELF["roofs"]}"'
    assert trace.passages["C1"].content_hash == second.lines[0].content_hash
    assert (trace.ended_by, trace.result["sources"]) == ("finish", ["C1"])
    assert trace.tokens == sum(step.tokens for step in trace.steps) > 0


def test_the_model_is_told_tools_observations_and_what_is_left() -> None:
    seen: list[Any] = []

    def answer(request: Any) -> str:
        seen.append(request)
        word = ("Sedum", "cooler")[len(seen) - 1] if len(seen) < 3 else None
        made = act("look", word=word, k=2) if word else act("finish", answer="", sources=[])
        return json.dumps(made["data"])

    run(RulesModel("asked", answer), replace(LIMITS, steps=3))
    first, second, third = (request.messages[-1].content for request in seen)
    assert '"word": {"description": "A word.", "type": "string"}' in seen[0].messages[0].content
    assert "Actions left: 3" in first
    assert "Actions left: 2" in second
    assert "[C1] [roofs:0] (shown above)" in third
    assert SHELF["trees"] in third
    assert "last action: finish" in third
    assert [message.role for message in seen[2].messages[1:]] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip


def test_a_run_is_done_again_from_its_record_without_model_and_tools() -> None:
    trace = run(ScriptedModel(TWO_LOOKS))
    stored = TypeAdapter(Trace).validate_python(json.loads(json.dumps(asdict(trace))))
    assert stored == trace
    assert again(stored, ScriptedModel(script_of())) == trace


@pytest.mark.parametrize("part", ["turn", "call"])
def test_a_replay_that_goes_another_way_is_refused(part: str) -> None:
    trace = run(ScriptedModel(TWO_LOOKS))
    step = trace.steps[0]
    changed = (
        replace(step, turns=(replace(step.turns[0], text=step.turns[0].text + " "),))
        if part == "turn"
        else replace(step, arguments={"word": "other"})
    )
    other = replace(trace, steps=(changed, *trace.steps[1:]), question="How hot?")
    asked = replace(other, question=trace.question) if part == "call" else other
    with pytest.raises(RecordingError, match="otherwise than it did"):
        replay_agent(
            replace(job(policy_of(ScriptedModel(TWO_LOOKS))), question=asked.question), asked
        )


def test_a_tool_that_refuses_is_an_observation() -> None:
    script = script_of(
        {"turn": 1, **act("look", word="forbidden")},
        {"turn": 2, "when": "Error: that word may not be looked for", **act("look", word="Rain")},
        {"turn": 3, **act("finish", answer="Rain changed nothing [C1].", sources=["C1"])},
    )
    trace = run(ScriptedModel(script))
    assert trace.ended_by == "finish"
    refused = trace.steps[0].observation
    assert refused is not None
    assert refused.error == "that word may not be looked for; take another."
    assert again(trace, ScriptedModel(script)) == trace


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"answer": "I would look for roofs."}, "the whole: Invalid JSON"),
        ({"data": {"action": "look", "arguments": {"word": "Rain"}}}, "thought: Field required"),
        (act("fly", word="Rain"), "there is no tool 'fly'; there are look, finish"),
        (act("look", word="Rain", k=0), "look: k: Input should be greater than or equal to 1"),
        (act("look"), "look: word: Missing required argument"),
        (act("finish", answer="x"), "finish: sources: Missing required argument"),
    ],
)
def test_an_answer_that_cannot_be_used_is_asked_for_again(wrong: dict[str, Any], told: str) -> None:
    script = script_of(
        {"turn": 1, **wrong},
        {"when": "^That cannot be used", **act("look", word="Rain")},
        {"when": "^Observation", **act("finish", answer="", sources=[])},
    )
    trace = run(ScriptedModel(script))
    assert [step.action for step in trace.steps] == ["look", "finish"]
    faults = [turn.fault for turn in trace.steps[0].turns]
    assert faults[1:] == [None]
    assert told in (faults[0] or "")
    assert again(trace, ScriptedModel(script)) == trace


def test_fenced_json_can_be_used() -> None:
    said = json.dumps(act("finish", answer="", sources=[])["data"])
    trace = run(ScriptedModel(script_of({"answer": f"Here it is:\n```json\n{said}\n```"})))
    assert (trace.ended_by, trace.calls) == ("finish", 1)


FOREVER = script_of({**act("look", word="cooler", k=2)})


@pytest.mark.parametrize(
    ("limits", "ended_by", "acted"),
    [
        (replace(LIMITS, steps=3), "steps", 3),
        (replace(LIMITS, calls=2), "calls", 2),
        (replace(LIMITS, tokens=600), "tokens", 1),
        (replace(LIMITS, seconds=2.5), "seconds", 1),
    ],
)
def test_at_a_limit_it_finishes_from_what_was_found(
    limits: Limits, ended_by: str, acted: int
) -> None:
    moments = iter(range(100))
    trace = run(ScriptedModel(FOREVER), limits, clock=lambda: float(next(moments)))
    assert trace.ended_by == ended_by
    assert trace.answered_by == "rules:all"
    assert SHELF["roofs"] in trace.result["answer"]
    assert sum(step.action is not None for step in trace.steps) == acted
    assert again(trace, ScriptedModel(FOREVER)) == trace


def rules(name: str = "toy") -> RulesPolicy:
    def decide(state: AgentState) -> Decision:
        if state.passages:
            return Decision("finish", {"answer": "From rules [C1].", "sources": ["C1"]})
        return Decision("look", {"word": "Rain"}, "Rules look.")

    return RulesPolicy(name, decide)


def test_rules_alone_ask_nobody() -> None:
    from rag_assets.answering.agents import LiveWorld, run_agent
    from rag_assets.llm import Budget

    made = job(rules())
    trace = run_agent(made, LiveWorld(TOOLS, SHELF, None, Budget(clock=lambda: 0.0)))
    assert (trace.answered_by, trace.calls) == ("rules:toy", 0)
    assert replay_agent(made, trace) == trace


@pytest.mark.parametrize("fallback", [None, rules()])
def test_where_repairs_are_used_up_it_is_said_and_rules_go_on(fallback: Any) -> None:
    model = ScriptedModel(script_of(otherwise="No."))
    trace = run(model, fallback=fallback)
    assert len(trace.steps[0].turns) == 3
    assert "answered 3 times what cannot be used" in trace.notes[0]
    expected = ("finish", "rules:toy") if fallback else ("repairs", "rules:all")
    assert (trace.ended_by, trace.answered_by) == expected


class Silent:
    """A model that cannot be reached."""

    name = "scripted:demo"

    def describe(self) -> dict[str, str | int | float]:
        return {"kind": "scripted", "model": "demo"}

    def complete(self, *_: object) -> Any:
        raise LanguageModelError("nobody answers at 127.0.0.1; is the service running?")

    stream = complete


def test_where_the_model_does_not_answer_it_is_said_and_rules_go_on() -> None:
    trace = run(Silent(), fallback=rules())
    assert trace.notes == ("nobody answers at 127.0.0.1; is the service running?",)
    assert (trace.ended_by, trace.answered_by) == ("finish", "rules:toy")
    made = replace(job(policy_of(Silent())), fallback=rules())
    assert replay_agent(made, trace) == trace


def test_a_service_by_http_is_asked_as_the_model_in_process_is() -> None:
    here = run(ScriptedModel(TWO_LOOKS))
    with serve_script(TWO_LOOKS) as server:
        model = load_chat_model(settings_for(base_url=server.base_url, attempts=1))
        assert model is not None
        there = run(model)
        sent = server.requests[0]
    assert sent["response_format"]["json_schema"]["name"] == "agent"
    assert there.result == here.result
    assert [step.observation for step in there.steps] == [step.observation for step in here.steps]
    assert there.policy["name"] == "openai_compatible:demo"


def test_the_schema_of_a_tool_is_one_and_leaves_out_what_it_works_on() -> None:
    schema = TOOLS.get("look").schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == {"word", "k"}
    assert TOOLS.get("look").check({"word": "Rain"}) == {"word": "Rain", "k": 1}
    with pytest.raises(UsageError, match="no tool 'fly'"):
        TOOLS.get("fly")
