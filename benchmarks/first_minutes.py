"""What a new user waits for: twelve papers, then the little things of every day.

    python benchmarks/first_minutes.py [--papers DIR] [--count 12] [--bare MODEL] [--json OUT]

Prints one table: seconds by the clock and of the processor, side by side with one bare model
(MiniLM without --bare) over the same chunks, all in one run.
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from audit_speed import measure_audits
from processes import RAG, Cost, run, run_json

_SMALL = "Cool roofs lower the temperature of the rooms below them.\n"
_QUESTIONS = ("What was measured?", "Which method was compared?", "How large was the sample?")
_REPEATS = 3


def _arguments() -> argparse.Namespace:
    shared = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--papers", type=Path, default=shared / "papers", help="folder of files")
    parser.add_argument("--count", type=int, default=12, help="files of the middle sizes")
    parser.add_argument("--bare", default="all-MiniLM-L6-v2", help="the model to compare with")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--keep", type=Path, help="make the workspace here and leave it there")
    return parser.parse_args()


class _FirstPublication(threading.Thread):
    """Looks when the namespace can be asked for the first time."""

    def __init__(self, workspace: Path) -> None:
        super().__init__(daemon=True)
        self._pointers = workspace / "index"
        self._begun = time.monotonic()
        self.seconds: float | None = None
        self.is_over = False

    def run(self) -> None:
        while not self.is_over:
            if list(self._pointers.glob("*/current.json")):
                self.seconds = time.monotonic() - self._begun
                return
            time.sleep(0.1)


def _median(costs: list[Cost]) -> dict[str, float]:
    return {
        "wall_s": round(statistics.median(cost.wall for cost in costs), 2),
        "processor_s": round(statistics.median(cost.processor for cost in costs), 2),
    }


def _measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    workspace = folder / "workspace"
    files = sorted(arguments.papers.glob("*.*"), key=lambda path: path.stat().st_size)
    first = max(0, (len(files) - arguments.count) // 2)
    chosen = files[first : first + arguments.count]
    if not chosen:
        raise SystemExit(f"{arguments.papers}: no files; give a folder of them with --papers.")
    run([RAG, "init", workspace, "--template", "papers"])
    for path in chosen:
        shutil.copyfile(path, workspace / "raw" / "evidence" / path.name)
    rag = [RAG, "--workspace", workspace]
    watcher = _FirstPublication(workspace)
    watcher.start()
    ingest = run([*rag, "ingest", "--json"])
    watcher.is_over = True
    watcher.join()
    result: dict[str, Any] = {
        "papers": len(chosen),
        "ingest": _median([ingest]),
        "can_be_asked_s": watcher.seconds,
        "stages": json.loads(ingest.output)["papers"]["stages"],
    }
    bare, _ = run_json("bare.py", workspace / "raw", workspace / "data" / "papers", arguments.bare)
    result["chunks"] = bare["chunks"]
    result["bare_encode"] = bare["encode"]
    result["unchanged"] = _median([run([*rag, "ingest"]) for _ in range(_REPEATS)])
    added = []
    for number in range(_REPEATS):
        (workspace / "raw" / "evidence" / f"note-{number}.md").write_text(f"{number}. {_SMALL}")
        added.append(run([*rag, "ingest"]))
    result["small_file"] = _median(added)
    result["query"] = _median([run([*rag, "query", question]) for question in _QUESTIONS])
    result["audits"] = measure_audits(workspace, folder)
    return result


def _table(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    bare = result["bare_encode"]["user_plus_sys_s"]
    encoded = result["ingest"]["processor_s"]
    return [
        ("can be asked after", f"{result['can_be_asked_s']:.1f} s", "<= 60 s"),
        ("ingest to its end", f"{result['ingest']['wall_s']:.1f} s", ""),
        ("  processor seconds", f"{encoded:.0f}", ""),
        (f"bare encode of {result['chunks']} chunks", f"{bare:.0f}", ""),
        ("whole ingest ÷ bare encode, processor", f"{encoded / bare:.2f}", ""),
        ("unchanged ingest", f"{result['unchanged']['wall_s']:.1f} s", "<= 3 s"),
        ("one small file added", f"{result['small_file']['wall_s']:.1f} s", "<= 10 s"),
        ("rag query, cold", f"{result['query']['wall_s']:.1f} s", "<= 2 s"),
        *(
            (
                f"rag {command}, a sentence after the first",
                f"{result['audits'][command]['sentence_wall_s']:.3f} s",
                f"<= {target} s",
            )
            for command, target in (("verify-citations", 0.1), ("audit", 0.3))
        ),
    ]


def main() -> None:
    arguments = _arguments()
    # Where an image sets it, every command would compile its imports again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="rag-benchmark-") as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = _measure(arguments, folder)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    for what, measured, target in _table(result):
        print(f"{what:46s} {measured:>10s}  {target}")


if __name__ == "__main__":
    main()
