"""Every call is kept, and an equal request is not asked again."""

from pathlib import Path

import pytest

from rag_assets.llm import (
    Recorder,
    RememberingModel,
    ScriptedModel,
    load_chat_model,
    open_chat_model,
    request_key,
)
from rag_assets.llm.contract import request_to_json
from rag_assets.model import ConfigurationError, LanguageModelError
from rag_assets.workspace.creating import create_workspace
from rag_assets_tests.llm.models import RulesModel, ask, script_of, settings_for
from rag_assets_tests.llm.server import serve_script


def test_kind_none_loads_nothing() -> None:
    assert load_chat_model(settings_for(kind="none")) is None


def test_probabilities_are_kept_and_remembered(tmp_path: Path) -> None:
    script = script_of({"answer": "Yes", "probabilities": {"Yes": 0.8, "No": 0.2}})
    asked = RememberingModel(ScriptedModel(script), Recorder(tmp_path))
    first = asked.complete(ask("?", top_logprobs=2))
    assert len(first.logprobs[0]) == 2
    assert asked.complete(ask("?", top_logprobs=2)) == first


def test_key_of_a_request_is_that_of_earlier_versions() -> None:
    key = request_key("scripted:demo", ask("how hot?", task="try", temperature=0.0))
    assert key == "597491f1250fed8e8e6bb01ad6771150363f18dced44eacbf0545198e56b0f51"


def test_requests_without_probabilities_keep_their_keys() -> None:
    assert "top_logprobs" not in request_to_json(ask("?"))
    assert request_to_json(ask("?", top_logprobs=2))["top_logprobs"] == 2


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    answers = iter(["first", "second"])
    asked = RememberingModel(RulesModel("r", lambda _: next(answers)), Recorder(tmp_path))
    assert [asked.complete(ask("?")).text for _ in range(3)] == ["first"] * 3
    assert asked.complete(ask("another?")).text == "second"


def test_another_model_under_the_same_name_is_asked_anew(tmp_path: Path) -> None:
    class Reworked(RulesModel):
        def describe(self) -> dict[str, str | int | float]:
            return {**super().describe(), "sha256": "1" * 64}

    recorder = Recorder(tmp_path)
    RememberingModel(RulesModel("r", lambda _: "old"), recorder).complete(ask("?"))
    asked = RememberingModel(Reworked("r", lambda _: "new"), recorder)
    assert asked.complete(ask("?")).text == "new"


def test_failure_is_kept_and_not_remembered(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    asked = RememberingModel(ScriptedModel(script_of()), recorder)
    for _ in range(2):
        with pytest.raises(LanguageModelError):
            asked.complete(ask("?"))
    first, second = recorder.calls()
    assert (first["completion"], second["completion"]) == (None, None)
    assert "has no answer" in first["error"]


def test_workspace_model_reads_its_key_from_dotenv_and_never_records_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEMO_KEY", raising=False)
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    with (workspace.root / ".env").open("a") as handle:
        handle.write("DEMO_KEY=sk-secret\n")
    with serve_script(script_of({"answer": "cool"}), api_key="sk-secret") as server:
        settings = settings_for(base_url=server.base_url, api_key_variable="DEMO_KEY")
        model = open_chat_model(workspace, settings)
        assert model is not None
        model.complete(ask("a roof?", task="try"))
    assert server.authorizations == ["Bearer sk-secret"]
    (file,) = (workspace.meta / "llm").rglob("*.json")
    kept = file.read_text(encoding="utf-8")
    assert "sk-secret" not in kept
    (call,) = Recorder(workspace.meta / "llm").calls()
    assert call["request"]["messages"][0]["content"] == "a roof?"
    assert call["model"]["model"] == "demo"
    assert call["completion"]["text"] == "cool"
    assert call["seconds"] >= 0


def test_calls_can_be_kept_elsewhere(tmp_path: Path) -> None:
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    (workspace.root / "script.yaml").write_text("answers: [{answer: cool}]\n")
    settings = settings_for(kind="scripted", script="script.yaml")
    model = open_chat_model(workspace, settings, recorder=Recorder(tmp_path / "calls"))
    assert model is not None
    assert model.complete(ask("?")).text == "cool"
    assert list((tmp_path / "calls").rglob("*.json"))
    assert not (workspace.meta / "llm").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("answers: [{}]", "exactly one of"),
        ("answers: [{answer: a, when: '('}]", "not a regular expression"),
        ("answer: a", "answer"),
    ],
)
def test_wrong_script_is_an_error_that_names_file_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=said) as caught:
        load_chat_model(settings_for(kind="scripted", script=str(path)))
    assert str(path) in str(caught.value)


def test_missing_script_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="'script'"):
        load_chat_model(settings_for(kind="scripted", script=""))
