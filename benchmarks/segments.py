"""A large publication, fresh and grown from the one before it: what each costs and finds.

    python -m benchmarks.segments FOLDER --chunks 1000000 --dimension 128 [--json OUT]

Made-up passages (Zipf words, clustered vectors). Each publication is made by a process of its own,
as `rag index` would from rows that are joined already: search table, catalogue, digests, checks.
Processor seconds and bytes are those of that process without the making up of rows; the peak of
its resident memory has the added rows in it, which for a fresh table are all. Recall and the drift
of BM25 are told against a fresh table of the same rows. FOLDER needs some 15 GB for 10⁶ chunks.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import made_up_passages as made
from rag_assets.publishing import segments
from rag_assets.publishing.document_keys import (
    compare_documents,
    read_document_keys,
    write_document_keys,
)
from rag_assets.publishing.search_check import check_search_table
from rag_assets.publishing.search_reading import TABLE_NAME, SearchTable
from rag_assets.publishing.segments import Grown
from rag_assets.publishing.writing import grow_tables, write_tables

_QUESTIONS = 200
_DEPTHS = (10, 50)


def _silent(step: int, what: str) -> None:
    """Nobody listens."""


def _written() -> int:
    told = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(told["write_bytes"])


def publish(job: dict[str, Any]) -> dict[str, Any]:
    """Make one publication in this process and say what it cost."""
    folder = Path(job["folder"])
    documents = [(n, v) for n, v in job["documents"]]
    keys = made.keys_of(documents)
    contents = {made.uid(each): str(position) for position, each in enumerate(documents)}
    before = Path(job["before"]) if job["before"] else None
    growth = compare_documents(before.name, read_document_keys(before), keys, contents) \
        if before else None  # fmt: skip
    added = (
        [documents[int(each)] for each in sorted(growth.added, key=int)] if growth else documents
    )
    tables = made.tables_of(added, documents, job["dimension"])
    for name, value in job["bounds"].items():
        setattr(segments, name, value)
    folder.mkdir()
    cpu, clock, wrote = time.process_time(), time.monotonic(), _written()
    parts: dict[str, float] = {}
    if growth:
        told = Grown(**{**job["told"], "indexes": []}) if job["told"] else None
        result = grow_tables(
            folder, folder.name, tables, growth, told, job["ann_rows"], _laps(parts, cpu)
        )
    else:
        result = write_tables(folder, folder.name, tables, job["ann_rows"], _laps(parts, cpu))
    write_document_keys(folder, keys)
    parts["written"] = time.process_time() - cpu
    check_search_table(folder, result.counts["chunks"], result.added)
    os.sync()
    return {
        "rows": result.counts["chunks"],
        "added": len(added) * made.CHUNKS_A_DOCUMENT,
        "processor_seconds": round(time.process_time() - cpu, 1),
        "clock_seconds": round(time.monotonic() - clock, 1),
        "written_mb": round((_written() - wrote) / 1e6, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
        "at": {name: round(value, 1) for name, value in parts.items()},
        "digests": [result.digests["chunks"], result.digests["parents"]],
        "grown": asdict(result.grown) if result.grown else None,
        **_shape(folder),
    }


def _laps(parts: dict[str, float], start: float) -> Callable[[int, str], None]:
    def say(_: int, what: str) -> None:
        parts[what] = time.process_time() - start

    return say


def _shape(folder: Path) -> dict[str, Any]:
    import lance

    dataset = lance.dataset(str(folder / TABLE_NAME))
    physical = sum(fragment.physical_rows for fragment in dataset.get_fragments())
    size = sum(path.stat().st_size for path in (folder / TABLE_NAME).rglob("*") if path.is_file())
    return {
        "fragments": len(dataset.get_fragments()),
        "parts": max(len(each.segments) for each in dataset.describe_indices()),
        "deleted": physical - dataset.count_rows(),
        "table_mb": round(size / 1e6),
        "catalogue_mb": round(next(folder.glob("*.duckdb")).stat().st_size / 1e6),
    }


def compare(job: dict[str, Any]) -> dict[str, Any]:
    """Ask two tables of the same rows the same questions; the second is fresh."""
    tables = [SearchTable(Path(each), uses_shared_cache=False) for each in job["folders"]]
    documents = [(n, v) for n, v in job["documents"]]
    rng = np.random.default_rng(3)
    chosen = [documents[n] for n in rng.integers(0, len(documents), _QUESTIONS)]
    words = [made.texts_of([each])[0].split() for each in chosen]
    texts = [" ".join(rng.choice(each, rng.integers(2, 7), replace=False)) for each in words]
    vectors = made.vectors_of(chosen, job["dimension"])[:: made.CHUNKS_A_DOCUMENT].astype(float)
    vectors += 0.3 * rng.normal(size=vectors.shape)
    answers: list[dict[str, Any]] = []
    costs: list[dict[str, Any]] = []
    for table in tables:
        found: dict[str, Any] = {}
        cost: dict[str, Any] = {}
        table.search_text(texts[0], 50)
        table.search_vectors("vector", vectors[0].tolist(), 50)
        found["text"] = _timed(
            lambda text, own=table: own.search_text(text, 50), texts, cost, "text"
        )
        ask = [each.tolist() for each in vectors]
        found["near"] = _timed(
            lambda vector, own=table: own.search_vectors("vector", vector, 50), ask, cost, "near"
        )
        table._indexes = {}  # now every row is compared
        found["exact"] = [table.search_vectors("vector", each, 50) for each in ask[:50]]
        answers.append(found)
        costs.append(cost)
    ours, fresh = answers
    drifts = _drifts(ours["text"], fresh["text"])
    firsts = [
        a[:1] == b[:1] for a, b in zip(_ids(ours["text"]), _ids(fresh["text"]), strict=True)
    ]  # fmt: skip
    few, exact = [each["near"][: len(fresh["exact"])] for each in answers], fresh["exact"]
    return {
        "exact_search_is_equal": ours["exact"] == exact,
        "text_recall": {k: _recall(ours["text"], fresh["text"], k) for k in _DEPTHS},
        "text_first_is_equal": float(np.mean(firsts)),
        "bm25_drift": {"median": float(np.median(drifts)), "largest": float(np.max(drifts))},
        "near_recall": {k: _recall(few[0], exact, k) for k in _DEPTHS},
        "near_recall_of_fresh": {k: _recall(few[1], exact, k) for k in _DEPTHS},
        "milliseconds": costs[0],
        "milliseconds_of_fresh": costs[1],
    }


def _timed(
    ask: Callable[[Any], Any], questions: Sequence[Any], cost: dict[str, Any], name: str
) -> list[Any]:
    found, cpu, clock = [], [], []
    for question in questions:
        begun = time.process_time(), time.monotonic()
        found.append(ask(question))
        cpu.append(time.process_time() - begun[0])
        clock.append(time.monotonic() - begun[1])
    cost[name] = {
        "processor": round(1000 * statistics.median(cpu), 1),
        "clock": round(1000 * statistics.median(clock), 1),
    }
    return found


def _ids(rankings: Sequence[Any]) -> list[list[str]]:
    return [[key for key, _ in ranking] for ranking in rankings]


def _recall(ours: Sequence[Any], theirs: Sequence[Any], depth: int) -> float:
    shares = [
        len(set(a[:depth]) & set(b[:depth])) / max(1, len(b[:depth]))
        for a, b in zip(_ids(ours), _ids(theirs), strict=True)
    ]
    return round(float(np.mean(shares)), 4)


def _drifts(ours: Sequence[Any], theirs: Sequence[Any]) -> list[float]:
    """Return how far the score of each chunk that both found differs, as a share of it."""
    found = [0.0]
    for a, b in zip(ours, theirs, strict=True):
        scores = dict(b)
        found += [abs(score - scores[k]) / scores[k] for k, score in a if k in scores]
    return found


class Library:
    """The documents, and the publications made of them."""

    def __init__(self, root: Path, chunks: int, dimension: int, ann_rows: int) -> None:
        self.root, self.dimension, self.ann_rows = root, dimension, ann_rows
        self.documents = [(number, 0) for number in range(chunks // made.CHUNKS_A_DOCUMENT)]
        self._next, self._made = len(self.documents), 0
        self._rng = np.random.default_rng(11)
        self.current: Path | None = None
        self.told: dict[str, Any] | None = None

    def change(self, added: float = 0, edited: float = 0, removed: float = 0) -> None:
        """Change shares of the documents."""
        size = len(self.documents)
        edit, remove = round(edited * size), round(removed * size)
        drawn = self._rng.permutation(size)
        for place in drawn[:edit]:
            number, version = self.documents[place]
            self.documents[place] = (number, version + 1)
        gone = set(drawn[edit : edit + remove].tolist())
        self.documents = [own for place, own in enumerate(self.documents) if place not in gone]
        more = round(added * size)
        self.documents += [(number, 0) for number in range(self._next, self._next + more)]
        self._next += more

    def publish(
        self, what: str, *, fresh: bool = False, aside: bool = False, **bounds: Any
    ) -> Path:
        """Make a publication of the documents and print what it cost.

        Args:
            aside: to compare with; the next one does not grow from it.
        """
        self._made += 1
        folder = self.root / f"p{self._made:02d}"
        job = {
            "step": "publish", "folder": str(folder), "documents": self.documents,
            "dimension": self.dimension, "ann_rows": self.ann_rows, "bounds": bounds,
            "before": str(self.current) if self.current and not fresh else None,
            "told": self.told,
        }  # fmt: skip
        result = _run(job)
        _tell(what, result)
        if not aside:
            if self.current is not None:
                shutil.rmtree(self.current)
            self.current, self.told = folder, result["grown"]
        return folder

    def compare(self, what: str, ours: Path, fresh: Path) -> None:
        """Print how the answers of two publications differ."""
        _tell(what, _run({"step": "compare", "folders": [str(ours), str(fresh)],
                          "documents": self.documents, "dimension": self.dimension}))  # fmt: skip


_results: list[dict[str, Any]] = []


def _tell(what: str, result: dict[str, Any]) -> None:
    _results.append({"what": what, **result})
    print(json.dumps(_results[-1]), flush=True)


def _run(job: dict[str, Any]) -> Any:
    """Do a job in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.segments", "--job"]
    done = subprocess.run(
        command, input=json.dumps(job), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr[-4000:])
    return json.loads(done.stdout.splitlines()[-1])


def _rounds(library: Library, rounds: int) -> None:
    library.publish("fresh")
    library.change(added=0.001)
    library.publish("+0.1 %")
    library.change(added=0.01)
    library.publish("+1 %")
    library.change(edited=0.001)
    library.publish("0.1 % edited")
    library.change(removed=0.01)
    library.publish("1 % removed")
    for number in range(rounds):
        library.change(added=0.0005, edited=0.0005, removed=0.0002)
        library.publish(f"round {number + 1}: +0.05 %, 0.05 % edited, 0.02 % removed")
    fresh = library.publish("fresh, the same rows", fresh=True, aside=True)
    if library.current:
        library.compare("grown against fresh", library.current, fresh)
    library.publish("compaction", MAX_SMALL_FRAGMENTS=0)
    if library.current:
        library.compare("compacted against fresh", library.current, fresh)


def _drift(library: Library) -> None:
    """How far deleted rows move BM25, were the text index never built anew."""
    library.publish("fresh")
    for share in (0.001, 0.0015, 0.0025, 0.005, 0.01, 0.03):
        library.change(removed=share)
        anew = library.publish("text anew", aside=True, MAX_STALE_TEXT=0.0)
        library.publish(f"another {share:.2%} removed", MAX_STALE_TEXT=1.0)
        if library.current:
            library.compare(f"after {share:.2%} more", library.current, anew)
        shutil.rmtree(anew)


def main() -> None:
    """Run the benchmark, or one job of it that comes on standard input."""
    if sys.argv[1:] == ["--job"]:
        job = json.load(sys.stdin)
        print(json.dumps({"publish": publish, "compare": compare}[job["step"]](job)))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=128)
    parser.add_argument("--ann-rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--drift", action="store_true", help="only how far BM25 drifts")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    library = Library(given.folder, given.chunks, given.dimension, given.ann_rows)
    if given.drift:
        _drift(library)
    else:
        _rounds(library, given.rounds)
    if given.json:
        given.json.write_text(json.dumps(_results, indent=1))
    shutil.rmtree(given.folder)


if __name__ == "__main__":
    main()
