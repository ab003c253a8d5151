"""Settings and scripts for tests of language models."""

from collections.abc import Callable
from typing import Any

from rag_assets.llm import (
    Budget,
    ChatRequest,
    Completion,
    Message,
    Script,
    Usage,
    estimate_tokens,
)
from rag_assets.model.settings import LlmSettings
from rag_assets.workspace import shipped_settings


def settings_for(**changes: Any) -> LlmSettings:
    """The shipped settings, without waiting between tries."""
    shipped = shipped_settings().llm.model_dump()
    fixed = {"backoff_seconds": 0.0} | {
        name: changes.pop(name) for name in ("attempts", "timeout_seconds") if name in changes
    }
    asked = {**shipped, "kind": "openai_compatible", "model": "demo", **changes}
    return LlmSettings(**asked).model_copy(update=fixed)


def script_of(*answers: dict[str, Any], **more: Any) -> Script:
    return Script.model_validate({"model": "demo", "answers": list(answers), **more})


def ask(text: str, **more: Any) -> ChatRequest:
    return ChatRequest((Message("user", text),), **more)


class RulesModel:
    """Answers by a function of the request; asks nobody.

    Args:
        name: of the rules; raise a number in it when the same request is answered otherwise.
        answer: from the request to the text of the answer.
    """

    def __init__(self, name: str, answer: Callable[[ChatRequest], str]) -> None:
        self._name = name
        self._answer = answer

    @property
    def name(self) -> str:
        """`rules:<name>`."""
        return f"rules:{self._name}"

    def describe(self) -> dict[str, str | int | float]:
        """Return the kind and the name."""
        return {"kind": "rules", "model": self._name}

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Return what the function says. It costs no tokens, so a budget limits time alone."""
        if budget is not None:
            budget.require_time()
        text = self._answer(request)
        prompt = estimate_tokens(*(message.content for message in request.messages))
        usage = Usage(prompt, estimate_tokens(text), is_estimated=True)
        return Completion(text, "stop", usage, self._name)
