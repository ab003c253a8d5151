"""Language models behind one protocol: asked only where configuration names one, and recorded."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
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
    from rag_assets.llm.watched import WatchedModel

PUBLIC_MODULES = ("local_models", "services")

__getattr__ = lazy_names(
    __name__,
    {
        "Budget": "contract",
        "ChatModel": "contract",
        "ChatRequest": "contract",
        "Completion": "contract",
        "Message": "contract",
        "Prompt": "contract",
        "REWRITE_TASK": "rewriting",
        "Recorder": "recording",
        "RecordingModel": "recording",
        "RememberingModel": "recording",
        "Script": "scripted",
        "ScriptedModel": "scripted",
        "TokenLogprob": "contract",
        "Usage": "contract",
        "WatchedModel": "watched",
        "complete_as": "contract",
        "context_tokens": "loading",
        "estimate_tokens": "contract",
        "load_chat_model": "loading",
        "load_prompt": "contract",
        "open_chat_model": "loading",
        "open_local_model": "loading",
        "read_script": "scripted",
        "request_key": "contract",
        "rewrite_question": "rewriting",
        "with_local_reader": "loading",
    },
)
