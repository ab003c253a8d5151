"""A model on this machine: a GGUF file, run by llama.cpp in this process. Nothing leaves it.

Half of the time of a single answer goes into the examples that stand before every question of a
task. What the model keeps of them lies beside its file after they were read once; the next process
takes it from there.
"""

import json
import logging
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal
from urllib.request import ProxyHandler, Request, build_opener

from rag_assets.llm.contract import Budget, ChatRequest, Completion
from rag_assets.llm.local_models import KeptModel, default_reader, require_model
from rag_assets.llm.services import missing_extra
from rag_assets.llm.wire import completion_from_wire, prompt_tokens, request_to_wire
from rag_assets.model import (
    ConfigurationError,
    LanguageModelError,
    StorageError,
    hash_fields,
    usable_processors,
)
from rag_assets.model.settings import LlmSettings
from rag_assets.storage import replace_file

_SHOWN_CHARACTERS = 200
# Conversations whose beginnings stay in memory: a task that asks in two languages has two.
_SLOTS = 2
_QUIET = -1
_FOLDER = "beginnings"
# Counts as code: raise it when a kept beginning would be made otherwise.
_VERSION = 1
_SECONDS_TO_COPY = 30.0

_log = logging.getLogger(__name__)
_without_proxy = build_opener(ProxyHandler({}))
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
        if not has_runtime():
            raise missing_extra("reader", "llm: kind local")
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
            limit, _ = budget.limit_call(prompt_tokens(request), limit, settings.timeout_seconds)
        server = find_server(
            self._kept, settings.context_tokens or CONTEXT_TOKENS, usable_processors()
        )
        # What an earlier prompt has in common with this one is not read again.
        body = request_to_wire(request, settings) | {"max_tokens": limit, "cache_prompt": True}
        try:
            answer = server.answer(body, request.shared_messages)
        except RuntimeError as error:
            raise self._failed(str(error)) from error
        if "error" in answer or not answer.get("choices"):
            raise self._failed(json.dumps(answer.get("error", answer)))
        completion = completion_from_wire(
            {**answer, "model": self._kept.name}, request, self._kept.name
        )
        if budget is not None:
            budget.spend(completion.usage.total)
        return completion

    def _failed(self, said: str) -> LanguageModelError:
        return LanguageModelError(
            f"{self._kept.name}: llama.cpp did not answer ({said[:_SHOWN_CHARACTERS]}). A prompt "
            f"may have {self._settings.context_tokens or CONTEXT_TOKENS} tokens "
            f"('llm.context_tokens')."
        )


def has_runtime() -> bool:
    """Say whether the extra `reader` is installed; nothing is imported."""
    from importlib.util import find_spec

    return find_spec("xllamacpp") is not None


def local_reader(settings: LlmSettings) -> KeptModel | None:
    """Return the model that kind `local` would use, None where it or the extra is not here."""
    from rag_assets.llm.local_models import default_folder, find_model

    if not has_runtime():
        return None
    name = settings.model if settings.kind == "local" and settings.model else default_reader()
    return find_model(default_folder(), name)


class LocalServer:
    """A loaded model. Its calls may be made from several threads.

    Args:
        kept: the model, a GGUF file of the cache.

    Raises:
        LanguageModelError: llama.cpp cannot load the file.
    """

    def __init__(self, kept: KeptModel, context_tokens: int, threads: int) -> None:
        # Waiting threads that spin would take the processor from those that work.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import xllamacpp

        self._made_by = (kept.sha256, xllamacpp.__version__, context_tokens, _VERSION)
        self._folder = kept.path.parent / _FOLDER
        # It listens on the loopback: only who holds this key is answered.
        self._key = secrets.token_urlsafe()
        self._begun: list[str] = []
        self._beginning = threading.Lock()
        params = xllamacpp.CommonParams()
        params.model.path = str(kept.path)
        params.n_parallel = _SLOTS
        params.n_ctx = _SLOTS * context_tokens
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
        params.warmup = False
        params.verbosity = _QUIET
        params.ui = False
        # Beginnings are kept in the slots; a second store of gigabytes would hold nothing more.
        params.cache_ram_mib = 0
        params.api_keys = [self._key]
        params.slot_save_path = f"{self._folder}{os.sep}"
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise LanguageModelError(
                f"{kept.path}: llama.cpp cannot load it ({error}). Run `rag models remove` and "
                "`rag models add` with its name."
            ) from error

    def answer(self, body: Mapping[str, Any], shared: int = 0) -> Mapping[str, Any]:
        """Return what llama.cpp answers to a request of the OpenAI protocol.

        Args:
            shared: how many of its first messages all requests of its task have in common.

        Raises:
            RuntimeError: llama.cpp refuses it.
        """
        if shared:
            with self._beginning:
                self._begin(body["messages"][:shared])
        answer: Mapping[str, Any] = self._server.handle_chat_completions(dict(body))
        return answer

    def _begin(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Have a beginning read, from the disk where it was read before."""
        name = hash_fields(*self._made_by, json.dumps(messages)) + ".bin"
        if name in self._begun:
            return
        slot = len(self._begun) % _SLOTS
        self._begun.append(name)
        if (self._folder / name).is_file():
            try:
                self._copy(slot, "restore", name)
            except OSError as error:
                _log.warning("%s: its prompt is read again (%s)", self._folder / name, error)
            else:
                return
        # A question without words: what a person asks is kept nowhere.
        asked = [*messages, {"role": "user", "content": ""}]
        self._server.handle_chat_completions(
            {"messages": asked, "max_tokens": 1, "id_slot": slot, "cache_prompt": True}
        )
        try:
            with replace_file(self._folder / name) as part:
                self._copy(slot, "save", part.name)
        except (OSError, StorageError) as error:
            # Nothing but time is lost.
            _log.warning("%s: the next process reads its prompt again (%s)", self._folder, error)

    def _copy(self, slot: int, action: Literal["save", "restore"], name: str) -> None:
        """Copy what a slot holds to a file of the folder, or back; OSError says why not."""
        request = Request(  # noqa: S310 - the loopback, opened by this process
            f"{self._server.listening_address}/slots/{slot}?action={action}",
            data=json.dumps({"filename": name}).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        with _without_proxy.open(request, timeout=_SECONDS_TO_COPY):
            pass


@lru_cache(maxsize=1)
def _server(kept: KeptModel, context_tokens: int, threads: int) -> LocalServer:
    return LocalServer(kept, context_tokens, threads)


_LOADING = threading.Lock()


def find_server(kept: KeptModel, context_tokens: int, threads: int) -> LocalServer:
    """Return the one server of a model, loaded at the first call and kept.

    Raises:
        LanguageModelError: llama.cpp cannot load the file.
    """
    with _LOADING:
        return _server(kept, context_tokens, threads)
