"""Run a command and say what it cost: wall, processor seconds, memory of its whole tree."""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

RAG = Path(sys.executable).parent / "rag"
# Short against any stage; some 1 % of one core.
_SAMPLE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command cost. Memory in bytes, times in seconds; `started` since the epoch."""

    started: float
    wall: float
    processor: float
    peak_tree: int
    peak_process: int
    first_output: float | None
    output: str

    def to_json(self) -> dict[str, Any]:
        """Return the figures without the output."""
        return {
            "wall_s": round(self.wall, 3),
            "user_plus_sys_s": round(self.processor, 3),
            "peak_tree_mb": round(self.peak_tree / 1e6, 1),
            "peak_process_mb": round(self.peak_process / 1e6, 1),
        }


def run(command: Sequence[str | Path], *, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end.

    Raises:
        RuntimeError: it ended with another code than 0; the text holds the end of its errors.
    """
    before = _children_seconds()
    started, clock = time.time(), time.monotonic()
    child = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    )
    peaks = [0, 0]
    watcher = threading.Thread(target=_watch, args=(child.pid, peaks), daemon=True)
    watcher.start()
    errors: list[bytes] = []
    drain = threading.Thread(target=lambda: errors.append(child.stderr.read()), daemon=True)  # type: ignore[union-attr]
    drain.start()
    assert child.stdout is not None
    first_line = child.stdout.readline()
    first = time.monotonic() - clock if first_line else None
    output = first_line + child.stdout.read()
    code = child.wait()
    wall = time.monotonic() - clock
    drain.join()
    watcher.join()
    if code != 0:
        tail = errors[0].decode("utf-8", "replace")[-2000:]
        raise RuntimeError(f"{' '.join(map(str, command))} ended with code {code}: {tail}")
    processor = _children_seconds() - before
    return Cost(started, wall, processor, peaks[0], peaks[1], first, output.decode())


def run_json(script: str, *arguments: str | Path) -> tuple[dict[str, Any], Cost]:
    """Run a script of this folder in a fresh process; its last line of output is JSON."""
    cost = run([sys.executable, Path(__file__).with_name(script), *arguments])
    found: dict[str, Any] = json.loads(cost.output.strip().splitlines()[-1])
    return found, cost


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watch(pid: int, peaks: list[int]) -> None:
    try:
        root = psutil.Process(pid)
        while root.is_running() and root.status() != psutil.STATUS_ZOMBIE:
            sizes = []
            for process in [root, *root.children(recursive=True)]:
                try:
                    sizes.append(process.memory_info().rss)
                except psutil.NoSuchProcess:
                    continue  # ended between listing and looking
            peaks[0] = max(peaks[0], sum(sizes))
            peaks[1] = max(peaks[1], *sizes, 0)
            time.sleep(_SAMPLE_SECONDS)
    except psutil.NoSuchProcess:
        return  # the command has ended
