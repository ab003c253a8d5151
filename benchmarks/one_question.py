"""Where the seconds of `rag query` go, part by part; then whole packs, warm.

    python benchmarks/one_question.py WORKSPACE QUESTIONS

The workspace's first namespace must be published. `process_s` is the processor's time up to the
first pack, `peak_mib` the most memory that the process ever held.
"""

import json
import resource
import statistics
import sys
import time
from pathlib import Path

_clock = [time.monotonic()]
_laps: dict[str, float] = {}


def _lap(name: str) -> None:
    now = time.monotonic()
    _laps[name] = round(now - _clock[0], 4)
    _clock[0] = now


def main(root: Path, count: int) -> None:
    import rag_assets.cli.asking  # noqa: F401 - the command with all it imports at once

    _lap("imports of the command")
    import duckdb  # noqa: F401
    import lance  # noqa: F401
    import numpy as np

    from rag_assets.evidence import Question, make_pack
    from rag_assets.evidence.rendering import render_pack
    from rag_assets.retrieval import Reader

    _lap("imports of the stores")
    from rag_assets.embedding import load_query_encoder, load_tokenizer, model_fingerprint
    from rag_assets.workspace import Workspace

    workspace = Workspace.open(root)
    namespace = workspace.namespace(workspace.namespace_names[0])
    models = namespace.settings.embed.models
    _lap("workspace and settings")
    for model in models:
        model_fingerprint(model)
    _lap("fingerprints of the models")
    for model in models:
        load_tokenizer(model)
    _lap("load the tokenizers")
    encoders = [load_query_encoder(model) for model in models]
    _lap("load the models")
    vectors = [encoder.encode_queries(["What is known about it?"]) for encoder in encoders]
    assert all(np.isfinite(vector).all() for vector in vectors)
    _lap("encode")
    pack = make_pack(workspace, Question(question="What is known about it?"))
    _lap("search and pack, first")
    render_pack(pack)
    _lap("rendering")

    process_seconds = time.process_time()
    from rag_assets.storage import current_folder

    folder = current_folder(namespace.publications, namespace.name)
    with Reader(folder, namespace.name, folder.name) as reader:
        titles = [t for t in reader.documents()["title"].to_pylist() if t]
    questions = [f"What is known about {titles[n % len(titles)]}?" for n in range(count)]
    warm = []
    for question in questions:
        started = time.monotonic()
        make_pack(workspace, Question(question=question))
        warm.append(time.monotonic() - started)
    ordered = sorted(warm)
    print(
        json.dumps(
            {
                "parts_s": _laps,
                "encoders": [type(encoder).__name__ for encoder in encoders],
                "process_s": round(process_seconds, 3),
                "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                "torch_was_imported": "torch" in sys.modules,
                "warm_questions": count,
                "warm_p50_s": round(statistics.median(warm), 4),
                "warm_p95_s": round(ordered[int(0.95 * (len(ordered) - 1))], 4),
                "warm_raw_s": [round(seconds, 4) for seconds in warm],
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
