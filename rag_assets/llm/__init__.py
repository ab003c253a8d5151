"""Language models behind one protocol: asked only where configuration names one, and recorded."""

from rag_assets.llm.asking import complete_as
from rag_assets.llm.budget import Budget, estimate_tokens
from rag_assets.llm.contract import (
    ChatModel,
    ChatRequest,
    Completion,
    Message,
    Piece,
    TokenLogprob,
    Tool,
    ToolCall,
    Usage,
    request_key,
)
from rag_assets.llm.loading import (
    context_tokens,
    load_chat_model,
    open_chat_model,
    open_local_model,
    with_local_reader,
)
from rag_assets.llm.prompting import Prompt, load_prompt
from rag_assets.llm.recording import Recorder, RecordingModel, RememberingModel, ReplayingModel
from rag_assets.llm.rewriting import REWRITE_TASK, rewrite_question
from rag_assets.llm.rules import RulesModel
from rag_assets.llm.scripted import Script, ScriptedModel, read_script
from rag_assets.llm.scripted_server import ScriptedServer, serve_script

__all__ = [
    "REWRITE_TASK",
    "Budget",
    "ChatModel",
    "ChatRequest",
    "Completion",
    "Message",
    "Piece",
    "Prompt",
    "Recorder",
    "RecordingModel",
    "RememberingModel",
    "ReplayingModel",
    "RulesModel",
    "Script",
    "ScriptedModel",
    "ScriptedServer",
    "TokenLogprob",
    "Tool",
    "ToolCall",
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
    "serve_script",
    "with_local_reader",
]
