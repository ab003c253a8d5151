"""From the settings to the one model that they name."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from rag_assets.llm.contract import ChatModel
from rag_assets.llm.recording import Recorder, RecordingModel
from rag_assets.model import ConfigurationError
from rag_assets.workspace import Workspace
from rag_assets.workspace.secrets import read_secret
from rag_assets.workspace.settings import LlmSettings


def load_chat_model(
    settings: LlmSettings,
    *,
    recorder: Recorder | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> ChatModel | None:
    """Return the model that the settings name; None for kind `none`. Nothing is asked yet.

    Args:
        recorder: keeps every call, where given.
        environment: where the key is looked for; the process's own without.
        folder: what a relative `script` is relative to; the current folder without.

    Raises:
        ConfigurationError: model or script are missing or wrong, or the extra is not installed.
    """
    model = _load(settings, os.environ if environment is None else environment, folder)
    if model is None or recorder is None:
        return model
    return RecordingModel(model, recorder)


def open_chat_model(workspace: Workspace, settings: LlmSettings | None = None) -> ChatModel | None:
    """Return a workspace's model; its key may stand in `.env`, its calls below `meta/llm/`.

    Args:
        settings: instead of the workspace's.

    Raises:
        ConfigurationError: as `load_chat_model`.
    """
    chosen = settings or workspace.settings.llm
    key = read_secret(workspace, chosen.api_key_variable)
    return load_chat_model(
        chosen,
        recorder=Recorder(workspace.meta / "llm") if chosen.record else None,
        environment={chosen.api_key_variable: key.get_secret_value()} if key else {},
        folder=workspace.root,
    )


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
    from rag_assets.llm.openai_compatible import OpenAiCompatibleModel

    value = environment.get(settings.api_key_variable)
    return OpenAiCompatibleModel(settings, SecretStr(value) if value else None)
