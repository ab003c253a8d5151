"""How long a person waits for the chunk editor of the desk, in a browser, on 2,000 chunks.

    python -m benchmarks.chunk_editor [--chunks 2000] [--rounds 25] [--json OUT]

Makes a PDF of made-up sentences that is cut to about so many chunks, serves it by `rag desk` in a
process of its own and presses keys in headless Chromium, each after the answer to the one before:
goes to a number, steps, edits, leaves out, moves, merges, splits, undoes. Prints of each kind, and
of all, the median and the 95th percentile of the milliseconds from the key to the frame that shows
the answer, as the browser has them; and those of the processor's milliseconds, of the server and of
the page's main thread together, which say the same on a machine that is busy. The picture of a page
comes behind the answer and is not waited for. Of the whole page the load and the first paint; and
the memory of server and page.
"""

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page

from benchmarks.processes import RAG
from rag_assets.chunking.editing import DraftEditor
from rag_assets.workspace import Workspace
from rag_assets_tests.e2e.browsing import browse
from rag_assets_tests.libraries import HASHING, build, make_workspace
from rag_assets_tests.parsing.made_up_pdfs import make_pdf

_LINES_A_PAGE = 44
# As the made-up sentences are cut with these settings.
_CHUNKS_A_PAGE = 11.0
_SETTINGS = {**HASHING, "chunk": {"target_tokens": 60, "min_tokens": 30, "max_tokens": 90}}
_WORDS = [
    "roof",
    "light",
    "heat",
    "night",
    "street",
    "city",
    "air",
    "stone",
    "leaf",
    "water",
    "shade",
    "wall",
    "glass",
    "wind",
    "tree",
]
# In the order of a round; what stands in braces is drawn.
_UNDO = ("undo", ("u",))
_KEYS = (
    ("go to", ("/", "Control+a", "{number}", "Enter")),
    ("next", ("Escape", "j")),
    ("edit", ("e", "Control+End", "x", "Control+Enter")),
    ("leave out", ("Escape", "d")), _UNDO,
    ("move", ("J",)), _UNDO,
    ("merge", ("m",)), _UNDO,
    ("split", ("s", "Enter")), _UNDO,
)  # fmt: skip
# After it the picture of the chunk's page is asked for, where nothing else was.
_SETTLED_MS = 100
# Installed in the page: the time from a key that goes down to the frame behind the answer.
_WATCH = """() => {
  window.watchKey = () => { window.answered = new Promise((resolve, reject) => {
    const notice = document.getElementById("notice");
    setTimeout(() => reject(new Error(notice.textContent || "no answer")), 20000);
    let since = 0;
    const down = (event) => { since = event.timeStamp; };
    addEventListener("keydown", down, { capture: true, once: true });
    const shown = (event) => {
      if (event.target.id !== "chunk") return;
      document.removeEventListener("desk:swapped", shown);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - since)));
    };
    document.addEventListener("desk:swapped", shown);
  }); };
}"""
_FIRST_PAINT = """() => new Promise((resolve) => new PerformanceObserver((list) => {
  resolve(list.getEntriesByName("first-contentful-paint")[0].startTime);
}).observe({ type: "paint", buffered: true }))"""


def made_up_pages(chunks: int, seed: int = 1) -> bytes:
    """Return a PDF that is cut to about so many chunks."""
    draw = random.Random(seed)

    def line() -> str:
        words = " ".join(draw.choice(_WORDS) for _ in range(11))
        return f"{words.capitalize()} {draw.randrange(10**5)}."

    def page() -> list[tuple[float, float, str]]:
        return [(72.0, 72.0 + 16 * n, line()) for n in range(_LINES_A_PAGE)]

    return make_pdf([page() for _ in range(round(chunks / _CHUNKS_A_PAGE))])


@contextmanager
def served(workspace: Workspace) -> Iterator[tuple[str, psutil.Process]]:
    """Run `rag desk`; gives the address that it prints and its process."""
    command = [str(RAG), "--workspace", str(workspace.root), "desk", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), psutil.Process(process.pid)
        finally:
            process.terminate()


def press(page: Page, *keys: str) -> float:
    """Press keys, of which the last one asks; returns the milliseconds to the shown answer."""
    for key in keys[:-1]:
        if key.isdigit():
            page.keyboard.type(key)
        else:
            page.keyboard.press(key)
    page.evaluate("watchKey()")
    page.keyboard.press(keys[-1])
    return float(page.evaluate("window.answered"))


def measure(page: Page, server: psutil.Process, rounds: int, chunks: int) -> dict[str, Any]:
    """Return milliseconds waited and of the processor, of each kind of operation and of all."""
    draw = random.Random(2)
    waited: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def processor() -> float:
        told = devtools.send("Performance.getMetrics")["metrics"]
        busy = next(each["value"] for each in told if each["name"] == "TaskDuration")
        spent = server.cpu_times()
        return 1000.0 * (float(busy) + float(spent.user) + float(spent.system))

    for _ in range(rounds):
        for kind, keys in _KEYS:
            drawn = [str(draw.randrange(chunks - 2)) if key == "{number}" else key for key in keys]
            before = processor()
            waited.setdefault(kind, []).append(press(page, *drawn))
            spent.setdefault(kind, []).append(processor() - before)
            page.wait_for_timeout(_SETTLED_MS)
            page.locator("#source:not([aria-busy])").wait_for(state="attached")
    for figures in (waited, spent):
        figures["all"] = [one for each in figures.values() for one in each]
    return {
        kind: {
            "count": len(each),
            "p50_ms": statistics.median(each),
            "p95_ms": _percentile(each),
            "processor_p50_ms": statistics.median(spent[kind]),
            "processor_p95_ms": _percentile(spent[kind]),
        }
        for kind, each in waited.items()
    }


def _percentile(values: Sequence[float]) -> float:
    return float(sorted(values)[min(len(values) - 1, int(0.95 * len(values)))])


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=25, help="of eleven operations each")
    parser.add_argument("--json", type=Path, metavar="OUT")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = {"evidence/long.pdf": made_up_pages(given.chunks)}
        workspace = make_workspace(Path(folder) / "library", files, _SETTINGS)
        namespace = workspace.namespace("thesis")
        build(namespace)
        editor = DraftEditor(namespace, "long", by="nobody")
        editor.create()
        chunks = len(editor.draft().chunks)
        with served(workspace) as (address, server), browse() as page:
            page.goto(address)
            home = address.partition("/open?")[0]
            loads = []
            for _ in range(3):  # the first reads the document and names its chunks
                began = time.perf_counter()
                page.goto(f"{home}/library/thesis/long/chunks")
                loads.append(time.perf_counter() - began)
            paint = float(page.evaluate(_FIRST_PAINT))
            page.evaluate(_WATCH)
            figures = measure(page, server, given.rounds, chunks)
            memory = server.memory_info().rss / 1e6
            heap = float(page.evaluate("performance.memory.usedJSHeapSize")) / 1e6
    result = {
        "chunks": chunks,
        "load_s": loads,
        "first_paint_ms": paint,
        "operations": figures,
        "server_mb": memory,
        "page_heap_mb": heap,
        "load_average": psutil.getloadavg()[0],
    }
    print(f"{chunks} chunks; loads {', '.join(f'{each:.2f}' for each in loads)} s; first paint "
          f"{paint:.0f} ms; server {memory:.0f} MB, page {heap:.0f} MB")  # fmt: skip
    heads = ("count", "p50 ms", "p95 ms", "processor p50", "processor p95")
    print(" " * 12 + "".join(f"{head:>15}" for head in heads))
    for kind, row in figures.items():
        print(f"{kind:12}" + "".join(f"{value:>15.0f}" for value in row.values()))
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
