"""What it costs a program to add one line to a library and to take it out, again and again.

    python -m benchmarks.one_source [TIMES]

A library of its own with the `hashing` model, in a temporary folder. Printed are seconds by the
clock and of the processor for the first source, for the median of those after it, for taking one
out, and for a run over all partitions, such as `rag ingest` makes; `of_a_whole_run` is what a
source after the first takes of that.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rag_assets import KnowledgeConfig, KnowledgeSource, Workspace
from rag_assets.knowledge import retire_sync


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return seconds by the clock and of this process and those that it has waited for."""
    before, started = os.times(), time.perf_counter()
    work()
    after = os.times()
    return time.perf_counter() - started, sum(after[:4]) - sum(before[:4])


def main(times: int) -> None:
    """Print the figures as JSON."""
    from rag_assets.running import ingest

    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "library"
        config = KnowledgeConfig(
            base_config={
                "vector_store": {"path": str(root)},
                "embedding": {"provider": "hashing", "model": "words"},
            }
        )

        def add(number: int) -> None:
            source = KnowledgeSource(f"n{number}.md", f"Roof number {number} was cool at noon.")
            source.ingest_sync(namespace="demo", config=config)

        first = _timed(partial(add, 0))
        later = [_timed(partial(add, number)) for number in range(1, times + 1)]
        out = _timed(lambda: retire_sync("n1.md", namespace="demo", config=config))
        namespace = Workspace.open(root).namespace("demo")
        (namespace.roots[0] / "evidence/by-hand.md").write_text("Streets were warm.\n")
        whole = _timed(lambda: ingest(namespace))
    clock, processor = (statistics.median(each[kind] for each in later) for kind in (0, 1))
    print(
        json.dumps(
            {
                "first_s": [round(each, 2) for each in first],
                "later_median_s": [round(clock, 2), round(processor, 2)],
                "later_raw_s": [round(each[0], 2) for each in later],
                "retire_s": [round(each, 2) for each in out],
                "whole_run_s": [round(each, 2) for each in whole],
                "of_a_whole_run": [round(clock / whole[0], 2), round(processor / whole[1], 2)],
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
