"""Results of an audit that cost time, kept in a file by the hash of all that decides them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from rag_assets.storage import LocalStore, Notify, hold_lock, update

# A result that no audit has asked for so long is made again when it is.
KEPT_DAYS = 180

Result = TypeVar("Result")


@dataclass(slots=True)
class _Kept:
    used: str
    result: Any


@dataclass(slots=True)
class ResultStore(ABC, Generic[Result]):
    """Results in memory, read from and written to one file. A subclass says which they are.

    Args:
        store: None keeps them in memory only.
        key: of the file.
        lock: held while it is written.
    """

    what: ClassVar[str]
    most: ClassVar[int]

    store: LocalStore | None = None
    key: str = ""
    lock: Path | None = None
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _touched: dict[str, _Kept] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the file. What a damaged line held is made again."""
        if self.store is not None:
            self._kept = _read(self.store, self.key)

    @staticmethod
    @abstractmethod
    def to_json(result: Result) -> Any:
        """Return a result as values that JSON knows."""

    @staticmethod
    @abstractmethod
    def from_json(stored: Any) -> Result:
        """Return what `to_json` made.

        Raises:
            TypeError, KeyError, ValueError: it was made by another version of the product.
        """

    def find(self, key: str) -> Result | None:
        """Return the result with this key, None where there is none."""
        kept = self._touched.get(key) or self._kept.get(key)
        if kept is None:
            return None
        try:
            found = self.from_json(kept.result)
        except (TypeError, KeyError, ValueError):
            return None  # of another version of the product: it is made again
        today = _today().isoformat()
        if kept.used != today:
            kept.used = today
            self._touched[key] = kept
        return found

    def put(self, results: Iterable[tuple[str, Result]]) -> None:
        """Add results by key."""
        today = _today().isoformat()
        for key, result in results:
            self._touched[key] = _Kept(today, self.to_json(result))

    def save(self, notify: Notify) -> None:
        """Write what was added or asked for, beside what others have written since; prune."""
        if self.store is None or self.lock is None or not self._touched:
            return

        def merge(found: bytes | None) -> bytes:
            self._kept = {**_parse(found), **self._touched}
            return "".join(_lines(self._pruned(self._kept))).encode()

        with hold_lock(self.lock, self.what, notify):
            update(self.store, self.key, merge)
        self._touched = {}

    def _pruned(self, kept: dict[str, _Kept]) -> dict[str, _Kept]:
        oldest = date.fromordinal(_today().toordinal() - KEPT_DAYS).isoformat()
        living = {key: item for key, item in kept.items() if item.used >= oldest}
        newest = sorted(living, key=lambda key: (living[key].used, key), reverse=True)
        return {key: living[key] for key in sorted(newest[: self.most])}


def _today() -> date:
    return datetime.now(UTC).date()


def _read(store: LocalStore, key: str) -> dict[str, _Kept]:
    found = store.get(key)
    return _parse(found.data if found else None)


def _parse(data: bytes | None) -> dict[str, _Kept]:
    kept: dict[str, _Kept] = {}
    for line in (data or b"").decode("utf-8", "replace").splitlines():
        try:
            entry = json.loads(line)
            kept[entry["key"]] = _Kept(entry["used"], entry["result"])
        except (json.JSONDecodeError, KeyError, TypeError):
            continue  # what is kept here can be made again
    return kept


def _lines(kept: dict[str, _Kept]) -> Iterable[str]:
    for key, item in kept.items():
        entry = {"key": key, "used": item.used, "result": item.result}
        yield json.dumps(entry, ensure_ascii=False) + "\n"
