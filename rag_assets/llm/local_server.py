"""llama.cpp in this process: one server a model, and the beginnings of prompts that it has read.

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

from rag_assets.local_models import KeptModel
from rag_assets.model import LanguageModelError, StorageError, hash_fields
from rag_assets.storage import replace_file

# Conversations whose beginnings stay in memory: a task that asks in two languages has two.
_SLOTS = 2
_QUIET = -1
_FOLDER = "beginnings"
# Counts as code: raise it when a kept beginning would be made otherwise.
_VERSION = 1
_SECONDS_TO_COPY = 30.0

_log = logging.getLogger(__name__)
_without_proxy = build_opener(ProxyHandler({}))


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
                _log.warning("%s: its prompt is read anew (%s)", self._folder / name, error)
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
