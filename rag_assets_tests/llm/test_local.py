"""A model of this machine: found by name, asked in process, with a runtime that is a stand-in."""

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from rag_assets.llm import (
    Budget,
    ChatModel,
    ChatRequest,
    Message,
    load_chat_model,
    with_local_reader,
)
from rag_assets.llm.contract import request_key
from rag_assets.llm.local import LocalModel, _server
from rag_assets.llm.local_models import KeptModel, add_from_path
from rag_assets.llm.local_models.cache import write_card
from rag_assets.model import BudgetError, ConfigurationError, LanguageModelError
from rag_assets_tests.llm.models import ask, settings_for

YES: dict[str, Any] = {
    "choices": [
        {
            "message": {"content": "Yes"},
            "finish_reason": "length",
            "logprobs": {
                "content": [
                    {
                        "token": "Yes",
                        "logprob": -0.1,
                        "top_logprobs": [
                            {"token": "Yes", "logprob": -0.1},
                            {"token": "No", "logprob": -2.3},
                        ],
                    }
                ]
            },
        }
    ],
    "usage": {"prompt_tokens": 12, "completion_tokens": 1},
}


class Runtime:
    """Stands where xllamacpp would; remembers what it was asked."""

    asked: ClassVar[list[dict[str, Any]]] = []
    answer: ClassVar[Any] = YES

    class CommonParams:
        def __init__(self) -> None:
            self.model = SimpleNamespace(path="")
            self.cpuparams = SimpleNamespace(n_threads=0)
            self.cpuparams_batch = SimpleNamespace(n_threads=0)

    __version__ = "1"
    address: ClassVar[str] = "http://127.0.0.1:9"
    folder: ClassVar[Path]
    key: ClassVar[str]
    copied: ClassVar[list[str]] = []
    refused: ClassVar[set[str]] = set()

    class Server:
        def __init__(self, params: Any) -> None:
            self.params = params
            self.listening_address = Runtime.address
            Runtime.folder, Runtime.key = Path(params.slot_save_path), params.api_keys[0]

        def handle_chat_completions(self, body: dict[str, Any]) -> Any:
            Runtime.asked.append(body)
            if isinstance(Runtime.answer, Exception):
                raise Runtime.answer
            return Runtime.answer


class Slots(BaseHTTPRequestHandler):
    """The part of llama.cpp's server that copies a slot to a file and back."""

    def do_POST(self) -> None:
        action = self.path.rpartition("=")[2]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.headers["Authorization"] == f"Bearer {Runtime.key}"
        Runtime.copied.append(action)
        if known and action == "save":
            (Runtime.folder / body["filename"]).write_bytes(b"what was read")
        self.send_response(200 if known and action not in Runtime.refused else 500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Slots) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setattr(Runtime, "address", f"http://127.0.0.1:{server.server_port}")
        yield
        server.shutdown()
        thread.join()


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChatModel:
    monkeypatch.setitem(sys.modules, "xllamacpp", cast("ModuleType", Runtime))
    monkeypatch.setattr("rag_assets.llm.local.has_runtime", lambda: True)
    monkeypatch.setattr(Runtime, "asked", [])
    monkeypatch.setattr(Runtime, "answer", YES)
    monkeypatch.setattr(Runtime, "copied", [])
    monkeypatch.setattr(Runtime, "refused", set())
    monkeypatch.setenv("RAG_MODELS", str(tmp_path / "models"))
    _server.cache_clear()
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF mine")
    add_from_path(tmp_path / "models", "mine", file, lambda _sentence: None)
    found = load_chat_model(settings_for(kind="local", model="mine"))
    assert found is not None
    return found


def test_it_answers_with_the_probabilities_of_its_tokens(model: ChatModel) -> None:
    completion = model.complete(ask("is it?", max_tokens=1, top_logprobs=2))
    assert (completion.text, completion.usage.total) == ("Yes", 13)
    assert [token.token for token in completion.logprobs[0]] == ["Yes", "No"]
    assert (Runtime.asked[0]["max_tokens"], Runtime.asked[0]["top_logprobs"]) == (1, 2)


def test_its_description_holds_the_hash_of_its_file(model: ChatModel) -> None:
    assert model.name == "local:mine"
    assert len(str(model.describe()["sha256"])) == 64


@pytest.mark.parametrize(
    "answer", [RuntimeError("too long"), {"error": {"message": "too long"}}, {"choices": []}]
)
def test_what_the_runtime_refuses_is_said(
    model: ChatModel, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    monkeypatch.setattr(Runtime, "answer", answer)
    with pytest.raises(LanguageModelError, match="context_tokens"):
        model.complete(ask("is it?"))


def test_a_budget_limits_it(model: ChatModel) -> None:
    budget = Budget(tokens=13)
    model.complete(ask("is it?"), budget)
    with pytest.raises(BudgetError):
        model.complete(ask("is it?"), budget)


def test_without_the_extra_the_install_command_is_said(
    model: ChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_assets.llm.local.has_runtime", lambda: False)
    with pytest.raises(ConfigurationError, match=r"pip install 'rag-assets\[reader\]'"):
        LocalModel(settings_for(kind="local", model="mine"))


def test_a_model_that_is_not_there_names_the_command(model: ChatModel) -> None:
    with pytest.raises(ConfigurationError, match="rag models add qwen"):
        LocalModel(settings_for(kind="local", model=""))


def test_a_folder_of_transformers_is_no_language_model(model: ChatModel, tmp_path: Path) -> None:
    old = KeptModel("old", "folder", tmp_path / "models/old/f", 1, "0" * 64, "MIT", "me", "here")
    old.path.mkdir(parents=True)
    write_card(tmp_path / "models", old)
    with pytest.raises(ConfigurationError, match="GGUF"):
        LocalModel(settings_for(kind="local", model="old"))


def test_auto_takes_no_model_that_is_not_there(model: ChatModel) -> None:
    nothing = settings_for(kind="none")
    assert with_local_reader(nothing) == nothing
    named = settings_for(kind="openai_compatible")
    assert with_local_reader(named) == named


def examples_and(question: str) -> ChatRequest:
    told = Message("user", "an example"), Message("assistant", "yes")
    return ChatRequest((*told, Message("user", question)), shared_messages=2)


def asked() -> list[list[str]]:
    return [[message["content"] for message in body["messages"]] for body in Runtime.asked]


@pytest.mark.usefixtures("slots")
def test_the_beginning_of_a_prompt_is_read_once_for_all_processes(model: ChatModel) -> None:
    model.complete(examples_and("my secret"))
    model.complete(examples_and("another"))
    beginning = ["an example", "yes", ""]
    assert asked() == [beginning, [*beginning[:2], "my secret"], [*beginning[:2], "another"]]
    _server.cache_clear()  # another process
    model.complete(examples_and("a third"))
    assert (Runtime.copied, len(asked())) == (["save", "restore"], 4)


@pytest.mark.usefixtures("slots")
@pytest.mark.parametrize("refused", ["save", "restore"])
def test_a_beginning_that_cannot_be_kept_costs_time_alone(
    model: ChatModel, caplog: pytest.LogCaptureFixture, refused: str
) -> None:
    Runtime.refused.add(refused)
    for _process in range(2):
        assert model.complete(examples_and("my secret")).text == "Yes"
        _server.cache_clear()
    assert len(asked()) == 4
    assert "prompt" in caplog.text


def test_requests_are_recorded_under_one_key_whatever_they_share() -> None:
    request = examples_and("x")
    assert request_key("m", request) == request_key("m", replace(request, shared_messages=0))
