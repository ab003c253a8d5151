"""A model on this machine: a GGUF file, run by llama.cpp in this process. Nothing leaves it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rag_assets.llm.budget import Budget, estimate_tokens
from rag_assets.llm.contract import (
    ChatRequest,
    Completion,
    FinishReason,
    Piece,
    ToolCall,
    Usage,
    stream_whole,
)
from rag_assets.llm.local_server import LocalServer, find_server
from rag_assets.llm.wire import logprobs_from_wire, message_to_wire, tool_to_wire
from rag_assets.local_models import KeptModel, default_reader, require_model
from rag_assets.model import ConfigurationError, LanguageModelError, usable_processors
from rag_assets.services import missing_extra
from rag_assets.settings import LlmSettings

_FINISHES: Mapping[str, FinishReason] = {
    "stop": "stop", "length": "length", "tool_calls": "tool_calls",
}  # fmt: skip
_SHOWN_CHARACTERS = 200
# Of one prompt with its answer; more takes more memory.
CONTEXT_TOKENS = 4096


class LocalModel:
    """Answers in this process. The file is loaded at the first question and stays loaded.

    Args:
        settings: `model` is a name of the cache (`rag models list`); "" for the shipped reader.

    Raises:
        ConfigurationError: the extra `reader` or the model is missing, or it is no GGUF file.
    """

    def __init__(self, settings: LlmSettings) -> None:
        require_runtime()
        self._kept = require_model(settings.model or default_reader())
        if self._kept.kind != "gguf":
            raise ConfigurationError(
                f"llm: 'model': '{self._kept.name}' is a folder of transformers, which an earlier "
                "version added. Name a GGUF file: `rag models list` shows what is here."
            )
        self._settings = settings

    @property
    def name(self) -> str:
        """`local:<model>`."""
        return f"local:{self._kept.name}"

    def describe(self) -> dict[str, str | int | float]:
        """Return kind, model and the SHA-256 of its file."""
        return {"kind": "local", "model": self._kept.name, "sha256": self._kept.sha256}

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Return the answer.

        Raises:
            LanguageModelError: the prompt is longer than `llm.context_tokens`, or llama.cpp fails.
            BudgetError: the task has no tokens or seconds left.
        """
        settings = self._settings
        limit = request.max_tokens or settings.max_tokens
        if budget is not None:
            asked = estimate_tokens(*(message.content for message in request.messages))
            limit, _ = budget.limit_call(asked, limit, settings.timeout_seconds)
        server = find_server(
            self._kept,
            settings.context_tokens or CONTEXT_TOKENS,
            settings.threads or usable_processors(),
        )
        body = self._body(request, limit)
        completion = self._read(self._ask(server, body, request.shared_messages))
        if budget is not None:
            budget.spend(completion.usage.total)
        return completion

    def stream(self, request: ChatRequest, budget: Budget | None = None) -> Iterator[Piece]:
        """Yield the answer word by word, once it is there whole."""
        yield from stream_whole(self.complete(request, budget))

    def _body(self, request: ChatRequest, limit: int) -> dict[str, Any]:
        temperature = request.temperature
        body: dict[str, Any] = {
            "messages": [message_to_wire(message) for message in request.messages],
            "temperature": self._settings.temperature if temperature is None else temperature,
            "max_tokens": limit,
            # What an earlier prompt has in common with this one is not read again.
            "cache_prompt": True,
        }
        if request.top_logprobs:
            body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        if request.tools:
            body["tools"] = [tool_to_wire(tool) for tool in request.tools]
        if request.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": request.task or "answer", "schema": request.schema},
            }
        return body

    def _ask(self, server: LocalServer, body: dict[str, Any], shared: int) -> Mapping[str, Any]:
        try:
            answer = server.answer(body, shared)
        except RuntimeError as error:
            raise self._failed(str(error)) from error
        if "error" in answer or not answer.get("choices"):
            raise self._failed(json.dumps(answer.get("error", answer)))
        found: Mapping[str, Any] = answer
        return found

    def _read(self, answer: Mapping[str, Any]) -> Completion:
        choice = answer["choices"][0]
        message, used = choice["message"], answer["usage"]
        calls = tuple(
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or ()
        )
        return Completion(
            message.get("content") or "",
            _FINISHES.get(choice["finish_reason"], "stop"),
            Usage(int(used["prompt_tokens"]), int(used["completion_tokens"])),
            self._kept.name,
            calls,
            logprobs=logprobs_from_wire(choice.get("logprobs")),
        )

    def _failed(self, said: str) -> LanguageModelError:
        return LanguageModelError(
            f"{self._kept.name}: llama.cpp did not answer ({said[:_SHOWN_CHARACTERS]}). A prompt "
            f"may have {self._settings.context_tokens or CONTEXT_TOKENS} tokens "
            f"('llm.context_tokens'); `rag models test {self._kept.name}` tries the model."
        )


def has_runtime() -> bool:
    """Say whether the extra `reader` is installed; nothing is imported."""
    from importlib.util import find_spec

    return find_spec("xllamacpp") is not None


def require_runtime() -> None:
    """Raise ConfigurationError with the install command where the extra `reader` is missing."""
    if not has_runtime():
        raise missing_extra("reader", "llm: kind local")


def local_reader(settings: LlmSettings) -> KeptModel | None:
    """Return the model that kind `local` would use, None where it or the extra is not here."""
    from rag_assets.local_models import default_folder, find_model

    if not has_runtime():
        return None
    name = settings.model if settings.kind == "local" and settings.model else default_reader()
    return find_model(default_folder(), name)
