"""Every call is kept, one file a call; an equal request need not be asked again."""

import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_assets.llm.contract import (
    Budget,
    ChatModel,
    ChatRequest,
    Completion,
    completion_from_json,
    request_key,
    request_to_json,
)
from rag_assets.model import DamagedFileError, LanguageModelError, hide_credentials
from rag_assets.storage import LocalStore, find_json, match_keys, put_json

SCHEMA = "rag-assets/llm-call/1"
_KEY_CHARACTERS = 16


class Recorder:
    """A folder of recorded calls: `<first digits of the key>/<time>-<random>.json`.

    Args:
        folder: made at the first call.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._store = LocalStore(folder)

    def keep(
        self,
        model: ChatModel,
        request: ChatRequest,
        completion: Completion | None,
        error: str | None,
        seconds: float,
    ) -> Path:
        """Write one call, whole or not at all, and return its file.

        Args:
            completion: None where the call failed; then `error` says how.

        Raises:
            StorageError: the disk is full or refuses the write.
        """
        now = datetime.now(UTC)
        key = request_key(model.name, request)
        written = {
            "schema": SCHEMA,
            "key": key,
            "at": now.isoformat(timespec="milliseconds"),
            "name": model.name,
            "model": model.describe(),
            "request": request_to_json(request),
            "completion": asdict(completion) if completion else None,
            "error": error and hide_credentials(error),
            "seconds": round(seconds, 3),
        }
        name = f"{now:%Y%m%dT%H%M%S%f}-{secrets.token_hex(3)}.json"
        place = f"{key[:_KEY_CHARACTERS]}/{name}"
        put_json(self._store, place, written)
        return self._store.place(place)

    def find(self, key: str) -> list[dict[str, Any]]:
        """Return the recorded calls of one key, oldest first.

        Raises:
            DamagedFileError: a file is not what `keep` wrote.
        """
        return [
            call for call in self._read(f"{key[:_KEY_CHARACTERS]}/*.json") if call["key"] == key
        ]

    def calls(self) -> Iterator[dict[str, Any]]:
        """Yield every recorded call, oldest first.

        Raises:
            DamagedFileError: a file is not what `keep` wrote.
        """
        yield from self._read("*/*.json")

    def _read(self, pattern: str) -> Iterator[dict[str, Any]]:
        keys = [each.key for each in match_keys(self._store, pattern)]
        for key in sorted(keys, key=lambda key: key.rpartition("/")[2]):
            call: Any = find_json(self._store, key, "recorded call")
            if call is not None and call.get("schema") != SCHEMA:
                raise DamagedFileError(
                    f"{self._store.place(key)}: not a recorded call of schema {SCHEMA}. Remove the "
                    "file; the call will be made again."
                )
            if call is not None:
                yield call


class RecordingModel:
    """Asks a model and keeps what was said, failures too."""

    def __init__(self, model: ChatModel, recorder: Recorder) -> None:
        self._model = model
        self._recorder = recorder

    @property
    def name(self) -> str:
        """The name of the model that is asked."""
        return self._model.name

    def describe(self) -> dict[str, str | int | float]:
        """Return what the asked model says of itself."""
        return self._model.describe()

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Ask, keep the call, return the answer."""
        started = time.monotonic()
        try:
            completion = self._model.complete(request, budget)
        except LanguageModelError as error:
            self._recorder.keep(self._model, request, None, str(error), time.monotonic() - started)
            raise
        self._recorder.keep(self._model, request, completion, None, time.monotonic() - started)
        return completion


class RememberingModel(RecordingModel):
    """Asks a model what it has not answered before; an equal request gets the recorded answer.

    For tasks at temperature 0, where asking again would only cost. Only calls to a model that
    describes itself in the same way count: other weights under the same name are asked again.
    """

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Return the recorded answer, or ask and keep the call."""
        described = self._model.describe()
        for call in self._recorder.find(request_key(self.name, request)):
            if call["completion"] is not None and call["model"] == described:
                return completion_from_json(call["completion"])
        return super().complete(request, budget)
