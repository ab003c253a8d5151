"""Settings and scripts for tests of language models."""

from typing import Any

from rag_assets.llm import ChatRequest, Message, Script
from rag_assets.settings import LlmSettings
from rag_assets.workspace import shipped_settings


def settings_for(**changes: Any) -> LlmSettings:
    """The shipped settings, without waiting between tries."""
    shipped = shipped_settings().llm.model_dump()
    return LlmSettings(
        **{**shipped, "kind": "openai_compatible", "model": "demo", "backoff_seconds": 0.0}
        | changes
    )


def script_of(*answers: dict[str, Any], **more: Any) -> Script:
    return Script.model_validate({"model": "demo", "answers": list(answers), **more})


def ask(text: str, **more: Any) -> ChatRequest:
    return ChatRequest((Message("user", text),), **more)
