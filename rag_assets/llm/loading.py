"""From the settings to the one model that they name."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from rag_assets.llm.contract import ChatModel
from rag_assets.llm.recording import Recorder, RecordingModel, RememberingModel
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import LlmRole, LlmSettings
from rag_assets.workspace import Workspace, read_secret, shipped_settings


def load_chat_model(
    settings: LlmSettings,
    *,
    recorder: Recorder | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    remember: bool = False,
) -> ChatModel | None:
    """Return the model that the settings name; None for kind `none`. Nothing is asked yet.

    Args:
        recorder: keeps every call, where given.
        environment: where the key is looked for; the process's own without.
        folder: what a relative `script` is relative to; the current folder without.
        remember: whether the recorder's answer to an equal request is given instead of asking.

    Raises:
        ConfigurationError: model or script are missing or wrong, or the extra is not installed.
    """
    model = _load(settings, os.environ if environment is None else environment, folder)
    if model is None or recorder is None:
        return model
    return (RememberingModel if remember else RecordingModel)(model, recorder)


def open_chat_model(
    workspace: Workspace,
    settings: LlmSettings | None = None,
    *,
    role: LlmRole | None = None,
    remember: bool = False,
    recorder: Recorder | None = None,
) -> ChatModel | None:
    """Return a workspace's model; its key may stand in `.env`, its calls below `meta/llm/`.

    Args:
        settings: instead of the workspace's.
        role: what it is asked for (`llm.roles`); None for what `llm` itself says.
        remember: whether a recorded answer to an equal request is given instead of asking again.
        recorder: keeps the calls elsewhere.

    Raises:
        ConfigurationError: as `load_chat_model`.
    """
    chosen = settings or workspace.settings.llm
    if role is not None:
        chosen = chosen.for_role(role)
    key = read_secret(workspace, chosen.api_key_variable)
    return load_chat_model(
        chosen,
        recorder=recorder or Recorder(workspace.meta / "llm"),
        environment={chosen.api_key_variable: key.get_secret_value()} if key else {},
        folder=workspace.root,
        remember=remember,
    )


def with_local_reader(settings: LlmSettings) -> LlmSettings:
    """Return the settings, or those of the reader on this machine where they name no model."""
    from rag_assets.llm.local import local_reader

    if settings.kind != "none" or local_reader(settings) is None:
        return settings
    return settings.model_copy(update={"kind": "local", "model": ""})


def context_tokens(settings: LlmSettings) -> int | None:
    """Return how many tokens a prompt and its answer may have together; None for no bound."""
    if settings.context_tokens is None and settings.kind == "local":
        from rag_assets.llm.local import CONTEXT_TOKENS

        return CONTEXT_TOKENS
    return settings.context_tokens


def open_local_model(name: str) -> ChatModel:
    """Return a model of `rag models list` with the shipped settings; nothing is recorded.

    Raises:
        ConfigurationError: it is not there, or the extra `reader` is missing.
    """
    from rag_assets.llm.local import LocalModel

    settings = shipped_settings(None).llm
    return LocalModel(settings.model_copy(update={"kind": "local", "model": name}))


def _load(
    settings: LlmSettings, environment: Mapping[str, str], folder: Path | None
) -> ChatModel | None:
    if settings.kind == "none":
        return None
    if settings.kind == "scripted":
        from rag_assets.llm.scripted import ScriptedModel, read_script

        if not settings.script:
            raise ConfigurationError(
                "llm: 'script' must name a YAML file of answers, got '' (config.yaml)."
            )
        return ScriptedModel(read_script((folder or Path()) / settings.script))
    if settings.kind == "local":
        from rag_assets.llm.local import LocalModel

        return LocalModel(settings)
    from rag_assets.llm.openai_compatible import OpenAiCompatibleModel

    value = environment.get(settings.api_key_variable)
    return OpenAiCompatibleModel(settings, SecretStr(value) if value else None)
