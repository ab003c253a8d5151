"""The same passages encoded by this machine, by our actors on Ray, by Ray Data and by Daft.

    python -m benchmarks.engine_spike WORKSPACE NAMESPACE [--texts 2000]
        [--ways local ray ray-data daft daft-ray]
        [--harm row|worker] [--folder FOLDER]

It needs a library that was built, the extra `ray`, for Ray Data `pandas`, and `daft` (0.7.26); what
is missing is said. Each way is a process of its own with two workers of one thread (the local one:
one process, two threads), and prints seconds of the clock and of the processors, the most memory of
all its processes together (10⁶ bytes, shared pages counted in each), how many texts were encoded,
and how far its vectors are from the local ones. Ray's workers, which are nice to others as it
ships (15), have the same priority as the rest. With --harm the text in the middle raises, or ends
its worker the first time. FOLDER keeps the vectors: a second run need not make the local ones.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.two_engines import MODELS
from rag_assets.embedding import EmbeddingModel, embedding_models
from rag_assets.embedding.stage import encode_texts
from rag_assets.model.settings import EmbedSettings
from rag_assets.storage.execution import open_engine

# Texts a batch, where the engine does not decide by itself.
BATCH = 250
FOLDER, HARM = "RAG_SPIKE_FOLDER", "RAG_SPIKE_HARM"


@dataclass(frozen=True, slots=True)
class Watched(EmbeddingModel):
    """The model, with what it was asked for written down, and harm where that is wanted."""

    def passage_encoder(self) -> Any:
        """Return what counts texts and does harm before it encodes."""
        return _Watched(EmbeddingModel.passage_encoder(self))


class _Watched:
    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def encode_passages(self, texts: Any, on_progress: Any = None) -> Any:
        folder, harm = Path(os.environ[FOLDER]), os.environ[HARM]
        if harm and (folder / "harmful.txt").read_text() in texts:
            is_first = not (folder / "harmed").exists()
            (folder / "harmed").touch()
            if harm == "row":
                raise ValueError("this text cannot be encoded")
            if is_first:
                os.kill(os.getpid(), signal.SIGKILL)
        with (folder / "encoded").open("a") as file:
            file.write(f"{len(texts)}\n")
        return self.encoder.encode_passages(list(texts), on_progress)


def _model() -> Watched:
    (found,) = embedding_models(EmbedSettings(models=[MODELS["bundled"]]))  # type: ignore[list-item]
    return Watched(found.settings, found.fingerprint, found.dimension)


def _ours(texts: list[str], name: str) -> Any:
    with open_engine(name) as engine:  # type: ignore[arg-type]
        return encode_texts(
            _model(), texts, engine, lambda said: print("told:", said),
            lambda done, _: print("progress:", done) if done % BATCH == 0 else None,
        )  # fmt: skip


def _ray_data(texts: list[str], _: str) -> Any:
    import ray

    class Encoder:
        def __init__(self) -> None:
            self.encoder = _model().passage_encoder()

        def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
            batch["vector"] = self.encoder.encode_passages(batch["text"].tolist())
            return batch

    ray.init("local", num_cpus=3, include_dashboard=False, object_store_memory=200_000_000)
    rows = [{"place": place, "text": text} for place, text in enumerate(texts)]
    found = ray.data.from_items(rows, override_num_blocks=8).map_batches(
        Encoder, batch_size=BATCH, concurrency=2, num_cpus=1
    )
    by_place = {row["place"]: row["vector"] for row in found.take_all()}
    return [by_place[place] for place in range(len(texts))]


def _daft(texts: list[str], way: str) -> Any:
    import daft

    if way == "daft-ray":
        import ray

        ray.init("local", num_cpus=3, include_dashboard=False, object_store_memory=200_000_000)
        daft.set_runner_ray()

    @daft.cls(max_concurrency=2, use_process=True, cpus=1)
    class Encoder:
        def __init__(self) -> None:
            self.encoder = _model().passage_encoder()

        @daft.method.batch(
            return_dtype=daft.DataType.list(daft.DataType.float32()), batch_size=BATCH
        )
        def encode(self, texts: Any) -> Any:
            vectors = self.encoder.encode_passages(texts.to_pylist())
            return [each.tolist() for each in vectors]

    frame = daft.from_pydict({"place": list(range(len(texts))), "text": texts})
    frame = frame.into_batches(BATCH).with_column("vector", Encoder().encode(daft.col("text")))
    found = frame.sort("place").to_pydict()["vector"]
    return [np.array(each, np.float32) for each in found]


WAYS = {"local": _ours, "ray": _ours, "ray-data": _ray_data, "daft": _daft, "daft-ray": _daft}


def _work(way: str) -> None:
    """Encode in this process; the vectors lie in the folder, figures are printed."""
    folder = Path(os.environ[FOLDER])
    texts = json.loads((folder / "texts.json").read_text())
    most, ended = [0], threading.Event()
    # By process, as last seen: Ray's workers are nobody's children once they have ended.
    seconds: dict[int, float] = {}

    def watch() -> None:
        while not ended.wait(0.2):
            total = 0
            for process in (me := psutil.Process(), *me.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                    times = process.cpu_times()
                except psutil.NoSuchProcess:
                    continue
                seconds[process.pid] = times.user + times.system
            most[0] = max(most[0], total)

    watching = threading.Thread(target=watch)
    watching.start()
    clock = time.monotonic()
    try:
        vectors = WAYS[way](texts, way)
        wall = time.monotonic() - clock
    finally:
        ended.set()
        watching.join()
    figures = {
        "wall": round(wall, 1),
        "processor": round(sum(seconds.values()), 1),
        "megabytes": most[0] // 1_000_000,
    }
    np.save(folder / f"{way}.npy", np.array(vectors))
    print(json.dumps(figures))


def _texts(workspace: Path, name: str, count: int) -> list[str]:
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue
    from rag_assets.storage import current_folder
    from rag_assets.workspace import Workspace

    namespace = Workspace.open(workspace).namespace(name)
    folder = current_folder(namespace.publications, name)
    with open_catalogue(folder / catalogue_name(folder.name)) as catalogue:
        rows = catalogue.execute(
            "SELECT DISTINCT text FROM chunks ORDER BY hash(text) LIMIT ?", [count]
        ).fetchall()
    return [row[0] for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("namespace")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--harm", choices=["row", "worker"], default="")
    parser.add_argument("--folder", type=Path, help="where the vectors are kept")
    parser.add_argument("--work", choices=WAYS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        _work(asked.work)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = asked.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        texts = _texts(asked.workspace, asked.namespace, asked.texts)
        (folder / "texts.json").write_text(json.dumps(texts))
        (folder / "harmful.txt").write_text(texts[len(texts) // 2])
        for way in asked.ways:
            for path in (folder / "encoded", folder / "harmed"):
                path.unlink(missing_ok=True)
            environment = {
                **os.environ, FOLDER: str(folder), HARM: asked.harm, "DO_NOT_TRACK": "1",
                "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0",
            }  # fmt: skip
            # Ray gives each of our actors a thread, where nothing else is said.
            environment.pop("OMP_NUM_THREADS", None)
            if way not in {"local", "ray"}:
                environment["OMP_NUM_THREADS"] = "1"
            print(f"== {way}", flush=True)
            words = [str(asked.workspace), asked.namespace, "--work", way]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.engine_spike", *words],
                env=environment, check=False,
            )  # fmt: skip
            path = folder / "encoded"
            counts = path.read_text().split() if path.exists() else []
            print(f"exit code {done.returncode}; {sum(map(int, counts))} texts were encoded")
            own, local = folder / f"{way}.npy", folder / "local.npy"
            if done.returncode == 0 and local.exists():
                print(f"vectors at most {np.abs(np.load(own) - np.load(local)).max():.1e} apart")


if __name__ == "__main__":
    main()
