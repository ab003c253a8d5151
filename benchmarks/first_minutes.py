"""How long a new user waits: a first library, and the small tasks of every day.

    python -m benchmarks.first_minutes [--papers DIR] [--count 12]

Runs the installed `rag` on the papers of middle size and prints seconds by the clock and of the
processor (median of three where a task is repeated). Run it on a quiet machine.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

RAG = Path(sys.executable).parent / "rag"
_SMALL = "Cool roofs lower the temperature of the rooms below them.\n"
_QUESTIONS = ("What was measured?", "Which method was compared?", "How large was the sample?")
_REPEATS = 3


def _cost(*command: str | Path, pointers: Path | None = None) -> tuple[float, float, float]:
    """Run a command; return its seconds, its processor seconds, and when a publication appeared."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    child = subprocess.Popen([RAG, *command], stdout=subprocess.DEVNULL)
    published = 0.0
    while pointers and not published and child.poll() is None:
        time.sleep(0.1)
        published = time.monotonic() - started if any(pointers.glob("*/current.json")) else 0.0
    if child.wait():
        raise SystemExit(f"rag {' '.join(map(str, command))} failed with code {child.returncode}.")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - started, processor, published


def _show(task: str, costs: Iterable[tuple[float, float, float]], wanted: str = "") -> None:
    wall, processor, _ = (statistics.median(column) for column in zip(*costs, strict=True))
    print(f"{task:28}{wall:8.1f} s{processor:8.1f} processor s   {wanted}")


def main() -> None:
    """Print the table."""
    shared = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--papers", type=Path, default=shared / "papers", help="folder of files")
    parser.add_argument("--count", type=int, default=12, help="files of the middle sizes")
    given = parser.parse_args()
    files = sorted(given.papers.glob("*.*"), key=lambda path: path.stat().st_size)
    first = max(0, (len(files) - given.count) // 2)
    # With this variable every command would compile its imports again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="rag-benchmark-") as folder:
        workspace = Path(folder) / "workspace"
        raw = workspace / "raw" / "evidence"
        _cost("init", workspace, "--template", "papers")
        for path in files[first : first + given.count]:
            shutil.copy(path, raw)
        rag = ("--workspace", workspace)
        whole = _cost(*rag, "ingest", pointers=workspace / "index")
        print(f"{'time until first query':28}{whole[2]:8.1f} s{'':22}at most 60 s")
        _show("whole ingest", [whole])
        unchanged = [_cost(*rag, "ingest") for _ in range(_REPEATS)]
        _show("unchanged ingest", unchanged, "at most 3 s")
        added = []
        for number in range(_REPEATS):
            (raw / f"note-{number}.md").write_text(f"{number}. {_SMALL}")
            added.append(_cost(*rag, "ingest"))
        _show("one small file added", added, "at most 10 s")
        _show("rag query, cold", [_cost(*rag, "query", q) for q in _QUESTIONS], "at most 2 s")


if __name__ == "__main__":
    main()
