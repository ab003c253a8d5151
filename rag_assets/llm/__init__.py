"""Language models behind one protocol: asked only where configuration names one, and recorded."""

from rag_assets.llm.contract import (
    Budget,
    ChatModel,
    ChatRequest,
    Completion,
    Message,
    Prompt,
    TokenLogprob,
    Usage,
    complete_as,
    estimate_tokens,
    load_prompt,
    request_key,
)
from rag_assets.llm.loading import (
    context_tokens,
    load_chat_model,
    open_chat_model,
    open_local_model,
    with_local_reader,
)
from rag_assets.llm.recording import Recorder, RecordingModel, RememberingModel
from rag_assets.llm.rewriting import REWRITE_TASK, rewrite_question
from rag_assets.llm.scripted import Script, ScriptedModel, read_script

__all__ = [
    "REWRITE_TASK",
    "Budget",
    "ChatModel",
    "ChatRequest",
    "Completion",
    "Message",
    "Prompt",
    "Recorder",
    "RecordingModel",
    "RememberingModel",
    "Script",
    "ScriptedModel",
    "TokenLogprob",
    "Usage",
    "complete_as",
    "context_tokens",
    "estimate_tokens",
    "load_chat_model",
    "load_prompt",
    "open_chat_model",
    "open_local_model",
    "read_script",
    "request_key",
    "rewrite_question",
    "with_local_reader",
]
