"""What a person waits for who reviews a draft of 300 citations by keys alone.

    python benchmarks/review_desk.py [--citations 300] [--json OUT]

Makes a workspace of the samples and a draft that cites them so often, serves it by `rag desk`, and
presses one key after another in a headless Chromium. An interaction ends when the next citation is
painted; the picture of its page may come behind. Needs Chromium and the development extras.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from shutil import which
from typing import Any
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import Page, sync_playwright
from processes import RAG, run

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
NAME = "long.md"
_CITED = re.compile(r"[^.。\n]+\{#[^}]+\}[.。]")
# Every so many are judged wrong, or for work with a comment of so many letters.
_WRONG, _WORK = 7, 12
_COMMENT = "which hour of the day?"
_MARGIN = 1000
# Of one interaction: from the key to the frame in which the next citation is painted, and to that
# in which the picture of its page is.
_WATCH = """
window.waited = [];
let begun = 0;
const painted = (then) => requestAnimationFrame(() => setTimeout(() => then(performance.now())));
addEventListener('keydown', () => { begun = performance.now(); }, true);
window.settled = (number) => new Promise((done) => {
  const look = () => {
    const one = window.waited[number];
    const is_done = one && ('picture' in one || !document.querySelector('#picture[data-load]'));
    if (is_done) done(); else requestAnimationFrame(look);
  };
  look();
});
document.addEventListener('desk:swapped', (event) => {
  const from = begun;
  if (event.target.id === 'item') painted((now) => window.waited.push({ item: now - from }));
  if (event.target.id === 'picture') {
    const image = new Image();
    const source = event.target.querySelector('image');
    const told = () => painted((now) => { window.waited.at(-1).picture = now - from; });
    if (!source) { told(); return; }
    image.onload = told; image.onerror = told; image.src = source.href.baseVal;
  }
});
"""


_FIRST_PAINT = """
() => new Promise((done) => new PerformanceObserver((list) => {
  const found = list.getEntriesByName('first-contentful-paint')[0];
  if (found) done(Math.round(found.startTime));
}).observe({ type: 'paint', buffered: true }))
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--citations", type=int, default=300, help="how many the draft has")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    return parser.parse_args()


def make_draft(citations: int) -> str:
    """Return a draft of so many cited sentences: those of the samples, each with its number."""
    text = (SAMPLES / "drafts" / "thesis-chapter-2.md").read_text(encoding="utf-8")
    sentences = [one.strip() for one in _CITED.findall(text) if ";" not in one]
    lines = ["# A long draft", ""]
    for number in range(citations):
        said = sentences[number % len(sentences)]
        lines += [f"Round {number // len(sentences) + 1}: {said}", ""]
    return "\n".join(lines)


def _make_workspace(folder: Path, citations: int) -> Path:
    root = folder / "library"
    rag = (RAG, "--workspace", root)
    run([RAG, "init", root])
    # What is measured needs no vectors: those of words are made at once.
    (root / "config.yaml").write_text("embed: {kind: hashing, model: words}\n", encoding="utf-8")
    shutil.copytree(SAMPLES / "raw", root / "raw", dirs_exist_ok=True)
    (root / "drafts" / NAME).write_text(make_draft(citations), encoding="utf-8")
    run([*rag, "ingest"])
    run([*rag, "verify-citations", root / "drafts" / NAME])
    return root


def _review(page: Page, citations: int) -> dict[str, Any]:
    """Judge every citation by keys; returns what was waited for."""
    keys = 0
    page.evaluate(_WATCH)
    for number in range(citations):
        if number % _WORK == _WORK - 1:
            page.keyboard.press("c")
            page.keyboard.type(_COMMENT)
            page.keyboard.press("Escape")
            page.keyboard.press("x")
            keys += len(_COMMENT) + 3
        else:
            page.keyboard.press("w" if number % _WRONG == _WRONG - 1 else "a")
            keys += 1
        page.evaluate("number => window.settled(number)", number)
    waited = page.evaluate("window.waited")
    items = sorted(one["item"] for one in waited)
    pictures = sorted(one["picture"] for one in waited if "picture" in one)
    return {
        "citations": citations,
        "keys": keys,
        "keys_each": round(keys / citations, 2),
        "waited_s": round(sum(items) / _MARGIN, 1),
        "waited_for_pictures_s": round(sum(pictures) / _MARGIN, 1),
        "item_p50_ms": round(statistics.median(items)),
        "item_p95_ms": round(items[int(0.95 * (len(items) - 1))]),
        "item_max_ms": round(items[-1]),
        "picture_p50_ms": round(statistics.median(pictures)),
        "picture_p95_ms": round(pictures[int(0.95 * (len(pictures) - 1))]),
    }


def _memory(process: psutil.Process) -> int:
    family = [process, *process.children(recursive=True)]
    return round(sum(one.memory_info().rss for one in family) / 1e6)


def measure(citations: int) -> dict[str, Any]:
    """Return the figures of one review."""
    chromium = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder:
        root = _make_workspace(Path(folder), citations)
        command = [str(RAG), "--workspace", str(root), "desk", "--port", "0", "--person", "Ada"]
        begun = time.monotonic()
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().strip()  # type: ignore[union-attr]
            started = time.monotonic() - begun
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
                )
                page = browser.new_page(viewport={"width": 1700, "height": 1050})
                page.goto(address)
                review = f"{urlsplit(address).scheme}://{urlsplit(address).netloc}/review/{NAME}"
                page.goto(review)
                page.wait_for_selector("#now", state="attached")
                found = {
                    "started_s": round(started, 2),
                    "first_paint_ms": page.evaluate(_FIRST_PAINT),
                }
                process = psutil.Process(server.pid)
                before = process.cpu_times()
                found |= _review(page, citations)
                after = process.cpu_times()
                used = after.user + after.system - before.user - before.system
                found |= {"server_processor_s": round(used, 1), "server_mb": _memory(process)}
                browser.close()
        finally:
            server.terminate()
            server.wait()
    return found


def main() -> None:
    """Measure and print one table."""
    arguments = _arguments()
    found = measure(arguments.citations)
    for name, value in found.items():
        print(f"{name:24} {value}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
