"""A service that speaks chat completions, as it works and as it fails."""

import math
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, SecretStr

from rag_assets.llm import Budget, WatchedModel, complete_as
from rag_assets.llm.openai_compatible import OpenAiCompatibleModel
from rag_assets.model import AnswerError, BudgetError, ConfigurationError, LanguageModelError
from rag_assets_tests.llm.models import ask, script_of, settings_for
from rag_assets_tests.llm.server import Fault, serve_script

KEY = "sk-not-for-anyone"


def model_at(base_url: str, key: str | None = None, **changes: Any) -> OpenAiCompatibleModel:
    settings = settings_for(base_url=base_url, **changes)
    return OpenAiCompatibleModel(settings, SecretStr(key) if key else None)


def test_answer_comes_with_its_usage_and_finish() -> None:
    with serve_script(script_of({"when": "roof", "answer": "Green roofs cool."})) as server:
        completion = model_at(server.base_url).complete(ask("a roof?", max_tokens=50))
    assert completion.text == "Green roofs cool."
    assert completion.finish_reason == "stop"
    assert completion.usage.completion_tokens > 0
    assert not completion.usage.is_estimated
    assert server.requests[0]["max_tokens"] == 50
    assert server.requests[0]["temperature"] == 0.0


def test_probabilities_of_tokens_come_where_they_are_asked_for() -> None:
    script = script_of({"answer": "Yes", "probabilities": {"No": 0.2, "Yes": 0.8}})
    with serve_script(script) as server:
        plain = model_at(server.base_url).complete(ask("is it?"))
        told = model_at(server.base_url).complete(ask("is it?", top_logprobs=5))
    assert plain.logprobs == ()
    assert "logprobs" not in server.requests[0]
    assert server.requests[1]["top_logprobs"] == 5
    ((first, second),) = told.logprobs
    assert (first.token, second.token) == ("Yes", "No")
    assert first.logprob == pytest.approx(math.log(0.8))


@pytest.mark.parametrize("fault", [429, 500, 503, "truncated", "not_json"])
def test_passing_trouble_is_tried_again(fault: Fault) -> None:
    script = script_of({"answer": "here"})
    with serve_script(script, faults=[fault, fault]) as server:
        completion = model_at(server.base_url, attempts=3).complete(ask("?"))
    assert completion.text == "here"
    assert completion.attempts == 3
    assert len(server.requests) == 3


def test_slow_answer_is_given_up_and_asked_again() -> None:
    with serve_script(script_of({"answer": "here"}), faults=["slow"]) as server:
        completion = model_at(server.base_url, timeout_seconds=0.5).complete(ask("?"))
    assert completion.attempts == 2


def test_trouble_that_stays_names_place_and_settings() -> None:
    with serve_script(script_of({"answer": "here"}), faults=[500] * 9) as server:
        with pytest.raises(LanguageModelError, match=r"failed 2 times.*HTTP 500.*'llm'"):
            model_at(server.base_url, attempts=2).complete(ask("?"))
        assert len(server.requests) == 2


def test_refused_key_is_not_tried_again_and_never_shown() -> None:
    with serve_script(script_of({"answer": "here"}), api_key="another") as server:
        with pytest.raises(LanguageModelError, match="OPENAI_API_KEY") as caught:
            model_at(server.base_url, KEY).complete(ask("?"))
        assert len(server.requests) == 1
    assert KEY not in str(caught.value)


def test_key_that_a_service_repeats_is_not_shown() -> None:
    with serve_script(script_of()) as server, pytest.raises(LanguageModelError) as caught:
        model_at(server.base_url, KEY).complete(ask(f"what is {KEY}?"))
    assert "what is …?" in str(caught.value)
    assert KEY not in str(caught.value)


def test_key_is_sent_and_a_service_without_key_gets_none_of_ours() -> None:
    with serve_script(script_of({"answer": "here"})) as server:
        model_at(server.base_url, KEY).complete(ask("?"))
        model_at(server.base_url).complete(ask("?"))
    assert server.authorizations == [f"Bearer {KEY}", ""]


def test_unknown_model_is_refused_with_the_setting_to_change() -> None:
    with (
        serve_script(script_of({"answer": "here"})) as server,
        pytest.raises(LanguageModelError, match="Check the model's name"),
    ):
        model_at(server.base_url, model="other").complete(ask("?"))


def test_nothing_listens() -> None:
    with serve_script(script_of()) as server:
        url = server.base_url
    with pytest.raises(LanguageModelError, match="Look whether the service"):
        model_at(url, attempts=2).complete(ask("?"))


def test_model_must_be_named() -> None:
    with pytest.raises(ConfigurationError, match="'model'"):
        model_at("http://127.0.0.1:9/v1", model="")


def test_password_in_the_address_is_refused_without_showing_it() -> None:
    with pytest.raises(ConfigurationError, match="'base_url'") as caught:
        model_at(f"http://user:{KEY}@127.0.0.1:9/v1")
    assert KEY not in str(caught.value)


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    supported: bool


def test_values_follow_the_schema_that_was_sent() -> None:
    script = script_of(
        {"when": "good", "data": {"supported": True}}, {"data": {"supported": "perhaps"}}
    )
    with serve_script(script) as server:
        model = model_at(server.base_url)
        assert complete_as(model, ask("good"), Verdict) == Verdict(supported=True)
        with pytest.raises(AnswerError, match="supported") as caught:
            complete_as(model, ask("bad"), Verdict)
    assert "perhaps" in caught.value.answer
    sent = server.requests[0]["response_format"]["json_schema"]
    assert sent["strict"]
    assert sent["schema"]["properties"]["supported"]["type"] == "boolean"


def test_budget_of_tokens_limits_the_answer_then_the_task() -> None:
    with serve_script(script_of({"answer": "word " * 60})) as server:
        model = model_at(server.base_url)
        budget = Budget(tokens=130)
        model.complete(ask("a question"), budget)
        with pytest.raises(BudgetError, match="130 tokens"):
            model.complete(ask("another question " * 6), budget)
        assert len(server.requests) == 1
        assert server.requests[0]["max_tokens"] < 130


def test_budget_of_time_ends_a_task_between_two_calls() -> None:
    now = [0.0]
    with serve_script(script_of({"answer": "one two three"})) as server:
        model = model_at(server.base_url)
        budget = Budget(seconds=10, clock=lambda: now[0])
        model.complete(ask("?"), budget)
        now[0] = 11.0
        with pytest.raises(BudgetError, match="10 seconds"):
            model.complete(ask("?"), budget)
        assert len(server.requests) == 1


def test_a_seed_is_sent_and_left_out_where_a_service_refuses_it() -> None:
    script = script_of({"answer": "Yes."})
    with serve_script(script, faults=["no_seed"]) as server:
        model = model_at(server.base_url)
        for _ in range(2):
            assert model.complete(replace(ask("Roofs?"), seed=7)).text == "Yes."
        assert [body.get("seed") for body in server.requests] == [7, None, None]
    with serve_script(script) as server:
        model_at(server.base_url).complete(replace(ask("Roofs?"), seed=7))
        assert server.requests[0]["seed"] == 7


def watched_at(base_url: str, budget: Budget, hear: Any) -> WatchedModel:
    return WatchedModel(model_at(base_url, attempts=1), budget, lambda: hear)


def test_a_watched_answer_is_heard_while_it_is_written() -> None:
    heard: list[str] = []
    with serve_script(script_of({"answer": "Roofs cool."}), faults=["truncated"]) as server:
        watched = watched_at(server.base_url, Budget(seconds=30), heard.append)
        with pytest.raises(LanguageModelError, match="broke off before the end"):
            watched.complete(ask("?"))
        assert "".join(heard) == "Roofs"
        completion = watched.complete(ask("?"))
    assert completion.text == "Roofs cool."
    assert "".join(heard) == "RoofsRoofs cool."
    assert server.requests[0]["stream"]


def test_a_silent_service_is_left_at_the_limit_of_the_task_or_when_who_waits_gives_up() -> None:
    class GivenUpError(Exception):
        pass

    def give_up(piece: str) -> None:
        raise GivenUpError(piece)

    with serve_script(script_of({"answer": "here"}), faults=["slow", "slow"]) as server:
        with pytest.raises(BudgetError, match=r"may take 0\.3 seconds"):
            watched_at(server.base_url, Budget(seconds=0.3), lambda _: None).complete(ask("?"))
        with pytest.raises(GivenUpError):
            watched_at(server.base_url, Budget(), give_up).complete(ask("?"))
