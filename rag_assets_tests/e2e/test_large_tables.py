"""A table of many rows is ingested in memory that grows with its text, not with its objects."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets_tests.libraries import make_workspace

ROWS, MORE_ROWS = 10_000, 80_000
# Bytes of memory for each byte of the file beyond the smaller one. The clean text repeats the
# column's names in each row: it alone is twice the file. With an object for each row, sentence and
# unit it was 24 bytes in the worker and 33 in what it was called by; in columns it is 8 and 17, of
# which some 2 are noise. Publishing (27) copies vectors and makes two text indexes and a catalogue.
MOST = {"parse worker": 13, "parents": 20, "chunks": 24, "embeddings": 25, "publication": 40}


def table_of(rows: int) -> bytes:
    places = ("upper", "lower", "north", "south", "east")
    lines = ["date,station,level,flow,remark"]
    lines += [
        f"20{n % 25:02}-{n % 12 + 1:02}-{n % 28 + 1:02},{places[n % 5]} {n % 997},{n % 1009 / 10},"
        f"{n * 7919 % 1_000_003 / 1000},{places[n % 3]} bridge {places[n % 4]} gauge"
        for n in range(rows)
    ]
    return "\n".join(lines).encode()


def most_memory(folder: Path, table: bytes) -> dict[str, int]:
    """Return step → most bytes that an ingest of this table needed up to its end."""
    workspace = make_workspace(folder, {"evidence/table.csv": table})
    command = [sys.executable, "-m", "rag_assets_tests.e2e.ingest_in_steps", str(workspace.root)]
    # One arena and one thread, so that figures are those of the data.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, int] = json.loads(done.stdout)
    return told


@pytest.mark.slow
def test_memory_grows_by_few_bytes_for_each_byte_of_a_table(tmp_path: Path) -> None:
    small, large = table_of(ROWS), table_of(MORE_ROWS)
    before = most_memory(tmp_path / "small", small)
    after = most_memory(tmp_path / "large", large)
    grown = {step: (after[step] - before[step]) / (len(large) - len(small)) for step in before}
    assert {step: share for step, share in grown.items() if share > MOST.get(step, 0.0)} == {}
