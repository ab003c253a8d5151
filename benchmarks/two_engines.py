"""Build a library on this machine and on Ray, with one worker and with two.

    python -m benchmarks.two_engines [--copies N] [--model hashing|bundled|shipped]
        [--raw FOLDER [--template papers|law|...]] [--places "local, 2" "ray, 2"]

The library is the sample, with copies, or what FOLDER holds. Each build is a process of its own,
and prints what it made and took: the seconds of its stages, of the clock and of the processors (its
own and those of the processes it has started, Ray's included), besides the start of Ray; how many
documents and chunks there are, the bytes of each place, and the most memory that the process of the
run has had after each stage (10⁶ bytes).
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import yaml

SAMPLES = Path(__file__).parents[1] / "samples"
MODELS = {
    "hashing": {"kind": "hashing", "model": "words"},
    "bundled": {"kind": "bundled", "model": "all-MiniLM-L6-v2", "dtype": "int8"},
}
# The models of the namespace's template, else the three of configs/rag.yaml.
SHIPPED = "shipped"
PLACES = {"local, 2": ("local", 2), "ray, 1": ("ray", 1), "ray, 2": ("ray", 2)}
# Equal vectors, but for the order in which sums were made.
_TOLERANCE = 1e-5
_WORDS = 60


def _processor_seconds() -> float:
    """Return the seconds of this process and of its children, living and ended."""
    found = 0.0
    for process in (me := psutil.Process(), *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        found += times.user + times.system + times.children_user + times.children_system
    return found


def _make(root: Path, asked: argparse.Namespace) -> None:
    from rag_assets.workspace import create_workspace

    create_workspace(root, asked.template)
    path = root / "namespaces" / f"{asked.template}.yaml"
    settings = {**yaml.safe_load(path.read_text(encoding="utf-8")), "hex_digits": 1}
    if asked.model != SHIPPED:
        settings["embed"] = {"models": [MODELS[asked.model]]}
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    if asked.raw:
        shutil.copytree(asked.raw, root / "raw", dirs_exist_ok=True)
    else:
        _make_copies(root, asked.copies)


def _make_copies(root: Path, copies: int) -> None:
    shutil.copytree(SAMPLES / "raw", root / "raw", dirs_exist_ok=True)
    notes = (SAMPLES / "raw" / "evidence" / "field-notes.md").read_text(encoding="utf-8")
    paper = (SAMPLES / "raw" / "evidence" / "green-roofs-2024.pdf").read_bytes()
    for number in range(copies):
        # The words of the notes in another order: nothing that has a vector already.
        words = notes.split() * 2
        random.Random(number).shuffle(words)
        lines = (" ".join(words[first : first + _WORDS]) for first in range(0, len(words), _WORDS))
        body = f"# Notes {number}\n\n" + ".\n\n".join(lines) + ".\n"
        (root / "raw/evidence" / f"notes-{number}.md").write_text(body, encoding="utf-8")
        # Bytes behind the end of a PDF change its hash and nothing of its text.
        (root / "raw/evidence" / f"paper-{number}.pdf").write_bytes(
            paper + f"% {number}\n".encode()
        )


def _build(root: Path, name: str, engine_name: str, workers: int) -> None:
    """Build in this process; print a line of JSON."""
    from rag_assets.chunking.editing import refresh_chunk_edits
    from rag_assets.chunking.stage import refresh_chunks, refresh_parents
    from rag_assets.embedding import embedding_models, joint_tokenizer
    from rag_assets.embedding.stage import refresh_embeddings
    from rag_assets.parsing.pool import ParseKind
    from rag_assets.parsing.stage import refresh_parse_reports
    from rag_assets.publishing import publish
    from rag_assets.storage.execution import open_engine
    from rag_assets.workspace import Workspace, require_inventory, take_inventory

    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:workers]))
    said: list[str] = []
    namespace = Workspace.open(root).namespace(name)
    keys, embed = namespace.partition_keys, namespace.settings.embed
    made: dict[str, Any] = {}

    def timed(name: str, act: Any, seconds: Any = time.process_time) -> Any:
        clock, processor = time.monotonic(), seconds()
        result = act()
        made[name] = {
            "wall": round(time.monotonic() - clock, 2),
            "processor": round(seconds() - processor, 2),
            "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
        }
        return result

    timed("inventory", lambda: take_inventory(namespace, notify=said.append))
    inventory = require_inventory(namespace)
    done = {}
    # The clocks stop inside the block: the processes whose seconds are counted live until its end.
    with open_engine(engine_name) as engine:  # type: ignore[arg-type]
        parsing = ParseKind(namespace.settings.parse)
        timed("start", lambda: engine.at_once(parsing), _processor_seconds)
        done["parse_reports"] = timed(
            "parse",
            lambda: refresh_parse_reports(
                namespace, inventory, keys, said.append, execution=engine
            ),
            _processor_seconds,
        )
    tokenizer = joint_tokenizer(embed)
    chunking = {
        "parents": refresh_parents, "chunks": refresh_chunks, "chunk_edits": refresh_chunk_edits,
    }  # fmt: skip
    for stage, refresh in chunking.items():
        # The loop's function is called before the next round.
        done[stage] = timed(
            stage,
            lambda refresh=refresh: refresh(namespace, inventory, keys, tokenizer, said.append),
        )
    models = embedding_models(embed)
    with open_engine(engine_name) as engine:  # type: ignore[arg-type]
        done["embeddings"] = timed(
            "encode",
            lambda: refresh_embeddings(
                namespace, inventory, keys, models, said.append, execution=engine
            ),
            _processor_seconds,
        )
    published = timed("publish", lambda: publish(namespace, models, said.append, is_whole=True))
    made["digests"] = {
        stage: {key: outcome.digest for key, outcome in parts.items()}
        for stage, parts in done.items()
    }
    made["publication"] = published.publication
    made["sizes"] = _sizes(namespace)
    print(json.dumps(made))


def _sizes(namespace: Any) -> dict[str, int]:
    """Return the documents and chunks of a library, and the bytes and files of each place."""
    from rag_assets.storage import current_folder, read_manifest

    publication = current_folder(namespace.publications, namespace.name)
    counts = read_manifest(publication)["counts"]
    places = {
        "raw": namespace.roots, "records": [namespace.records], "publication": [publication],
    }  # fmt: skip
    sizes = {name: counts[name] for name in ("documents", "parents", "chunks")}
    for place, folders in places.items():
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        sizes[f"{place}_bytes"] = sum(path.stat().st_size for path in files)
        sizes[f"{place}_files"] = len(files)
    return sizes


def _vectors(root: Path, name: str) -> dict[tuple[str, str], Any]:
    """Return the vectors of a library by model and hash of what it was given."""
    from rag_assets.embedding.stage import embeddings_schema
    from rag_assets.storage import read_rows
    from rag_assets.workspace import Workspace

    namespace = Workspace.open(root).namespace(name)
    found = {}
    for key in namespace.partition_keys:
        path = namespace.record("embeddings", key)
        for row in read_rows(path, embeddings_schema(), None).to_pylist():
            if row["vector"] is not None:
                found[row["model"], row["input_hash"]] = np.array(row["vector"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=0, help="notes and papers besides")
    parser.add_argument("--model", choices=[*MODELS, SHIPPED], default="bundled")
    parser.add_argument("--raw", type=Path, help="a folder of files instead of the sample")
    parser.add_argument("--template", default="thesis", help="of the namespace")
    parser.add_argument("--places", choices=PLACES, nargs="+", default=list(PLACES))
    parser.add_argument("--build", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.build:
        root, name, engine, workers = asked.build
        _build(Path(root), name, engine, int(workers))
        return
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, dict[str, Any]] = {}
        vectors = {}
        for place in asked.places:
            engine, workers = PLACES[place]
            root = Path(folder) / engine / str(workers)
            _make(root, asked)
            words = ["--build", str(root), asked.template, engine, str(workers)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.two_engines", *words],
                stdout=subprocess.PIPE, check=True, text=True,
            )  # fmt: skip
            found[place] = json.loads(done.stdout.strip().splitlines()[-1])
            vectors[place] = _vectors(root, asked.template)
            print(place, {k: v for k, v in found[place].items() if k != "digests"}, flush=True)
    first, *others = found
    for other in others:
        assert found[other]["digests"] == found[first]["digests"], other
        assert found[other]["publication"] == found[first]["publication"], other
        assert vectors[other].keys() == vectors[first].keys(), other
        apart = max(np.abs(v - vectors[first][k]).max() for k, v in vectors[other].items())
        assert apart <= _TOLERANCE, (other, apart)
        print(f"{other}: digests equal, {len(vectors[other])} vectors at most {apart:.1e} apart")
    if not {"ray, 1", "ray, 2"} <= found.keys():
        return
    for stage in ("parse", "encode"):
        one, two = found["ray, 1"][stage], found["ray, 2"][stage]
        clock = one["wall"] / two["wall"] / 2
        processor = one["processor"] / two["processor"]
        print(
            f"{stage}: efficiency of two workers {clock:.2f} (clock), {processor:.2f} (processor)"
        )


if __name__ == "__main__":
    main()
