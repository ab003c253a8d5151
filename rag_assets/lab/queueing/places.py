"""Where a run's trace lies, and how it is frozen."""

import json
from pathlib import Path
from typing import Any

from rag_assets.lab.store import Run
from rag_assets.model import LockedError, hash_text
from rag_assets.storage import hold_lock, write_bytes
from rag_assets.workspace import Workspace

ATTEMPT = "attempt"


def attempt_of(run: Run) -> int:
    """Return how often a run was begun."""
    found = run.snapshot.get(ATTEMPT, 0)
    return found if isinstance(found, int) else 0


def run_folder(workspace: Workspace, run: Run) -> Path:
    """Return the folder of a run's last attempt: `trace.jsonl`, `calls/`."""
    return workspace.root / "data" / "lab" / "runs" / run.id / f"attempt-{attempt_of(run)}"


def trace_file(workspace: Workspace, run: Run) -> Path:
    """Return where the trace of a run's last attempt lies."""
    return run_folder(workspace, run) / "trace.jsonl"


def trace_digest(path: Path) -> str | None:
    """Return the SHA-256 of a trace; None where there is none."""
    return hash_text(path.read_text(encoding="utf-8")) if path.is_file() else None


def worker_file(workspace: Workspace) -> Path:
    """Return where the working process leaves its signs of life."""
    return workspace.root / "data" / "lab" / "worker.json"


def worker_lock(workspace: Workspace) -> Path:
    """Return the lock that lets one process work on the queue at a time; it ends with it."""
    return workspace.locks / "lab-worker.lock"


def is_worked_on(workspace: Workspace) -> bool:
    """Say whether a process works on the queue now."""
    try:
        with hold_lock(worker_lock(workspace), "the queue", lambda _: None, seconds=0.0):
            return False
    except LockedError:
        return True


def write_beat(workspace: Workspace, **values: Any) -> None:
    """Leave a sign of life: which process, which run, when."""
    path = worker_file(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, (json.dumps(values, ensure_ascii=False) + "\n").encode())


def read_beat(workspace: Workspace) -> dict[str, Any] | None:
    """Return the last sign of life; None where nothing was ever worked on."""
    path = worker_file(workspace)
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
