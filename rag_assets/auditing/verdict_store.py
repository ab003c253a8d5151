"""Judgements that were made before, kept by all that decides them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from rag_assets.auditing.judged import Judged, judged_from_json, judged_to_json
from rag_assets.model import hash_fields
from rag_assets.storage import Notify, hold_lock, write_text
from rag_assets.workspace import Workspace

# A judgement that no audit has asked for so long is made again when it is.
KEPT_DAYS = 180
# About 50 MB; a thesis has some hundreds.
KEPT_JUDGEMENTS = 20_000
_FILE = "judgements.jsonl"


@dataclass(slots=True)
class _Kept:
    used: str
    judged: dict[str, Any]


@dataclass(slots=True)
class VerdictStore:
    """Judgements in memory, read from and written to one file.

    Args:
        path: the file; None keeps them in memory only.
        lock: held while it is written.
    """

    path: Path | None = None
    lock: Path | None = None
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _touched: dict[str, _Kept] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the file. A line that is damaged is judged again."""
        if self.path is not None:
            self._kept = _read(self.path)

    def find(self, key: str) -> Judged | None:
        """Return the judgement with this key, None where there is none."""
        kept = self._touched.get(key) or self._kept.get(key)
        if kept is None:
            return None
        today = _today().isoformat()
        if kept.used != today:
            kept.used = today
            self._touched[key] = kept
        try:
            return judged_from_json(kept.judged)
        except (TypeError, KeyError, ValueError):
            return None  # of another version of the product: it is made again

    def put(self, judgements: Iterable[tuple[str, Judged]]) -> None:
        """Add judgements by key."""
        today = _today().isoformat()
        for key, judged in judgements:
            self._touched[key] = _Kept(today, judged_to_json(judged))

    def save(self, notify: Notify) -> None:
        """Write what was added or asked for, beside what others have written since; prune."""
        if self.path is None or self.lock is None or not self._touched:
            return
        with hold_lock(self.lock, "judgements of citations", notify):
            kept = {**_read(self.path), **self._touched}
            write_text(self.path, "".join(_lines(_pruned(kept))))
        self._kept, self._touched = kept, {}


def open_verdicts(workspace: Workspace) -> VerdictStore:
    """Return the judgements that a workspace keeps."""
    return VerdictStore(workspace.judgements / _FILE, workspace.locks / "citation_judgements.lock")


def judgement_key(**decisive: Any) -> str:
    """Return the key of a judgement: SHA-256 of all that decides it, JSON-able, by name."""
    return hash_fields(decisive)


def _today() -> date:
    return datetime.now(UTC).date()


def _read(path: Path) -> dict[str, _Kept]:
    kept: dict[str, _Kept] = {}
    if not path.is_file():
        return kept
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            kept[entry["key"]] = _Kept(entry["used"], entry["judged"])
        except (json.JSONDecodeError, KeyError, TypeError):
            continue  # a cache: what cannot be read is judged again
    return kept


def _pruned(kept: dict[str, _Kept]) -> dict[str, _Kept]:
    oldest = date.fromordinal(_today().toordinal() - KEPT_DAYS).isoformat()
    living = {key: item for key, item in kept.items() if item.used >= oldest}
    newest = sorted(living, key=lambda key: (living[key].used, key), reverse=True)
    return {key: living[key] for key in sorted(newest[:KEPT_JUDGEMENTS])}


def _lines(kept: dict[str, _Kept]) -> Iterable[str]:
    for key, item in kept.items():
        entry = {"key": key, "used": item.used, "judged": item.judged}
        yield json.dumps(entry, ensure_ascii=False) + "\n"
