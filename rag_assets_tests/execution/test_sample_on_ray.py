"""The sample library, ingested by Dagster with either engine, is one and the same."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.embedding.stage import embeddings_schema
from rag_assets.running import ingest
from rag_assets.storage import current_folder, read_manifest, read_rows
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.laws.driver import state_of
from rag_assets_tests.libraries import make_workspace

pytest.importorskip("ray", reason="ray is not installed (extra `ray`)")

RAW = Path(__file__).parents[2] / "samples/raw"
# Equal but for the order of sums.
_TOLERANCE = 1e-5


def ingested(root: Path, engine: str) -> tuple[Namespace, list[tuple[str, int, int]]]:
    settings = {
        "engine": engine,
        "embed": {"models": [{"kind": "hashing", "model": "words"}]},
        "hex_digits": 1,
    }
    make_workspace(root, {}, settings)
    shutil.copytree(RAW, root / "raw", dirs_exist_ok=True)
    namespace = Workspace.open(root).namespace("thesis")
    told: list[tuple[str, int, int]] = []
    outcome = ingest(namespace, on_progress=lambda *figures: told.append(figures))
    assert outcome.is_success, outcome.errors
    return namespace, told


def vectors(namespace: Namespace) -> dict[tuple[str, str], Any]:
    return {
        (row["model"], row["input_hash"]): np.array(row["vector"])
        for key in namespace.partition_keys
        for row in read_rows(namespace.record("embeddings", key), embeddings_schema(), None)
        .to_pylist()
    }  # fmt: skip


@pytest.mark.slow
def test_both_engines_build_the_same_library(tmp_path: Path) -> None:
    (here, told_here), (there, told_there) = (
        ingested(tmp_path / engine, engine) for engine in ("local", "ray")
    )
    assert state_of(there) == state_of(here)
    manifests = [
        read_manifest(current_folder(each.publications, each.name)) for each in (here, there)
    ]
    for name in ("publication", "stages", "tables", "counts", "embedders", "config_hash"):
        assert manifests[0][name] == manifests[1][name], name
    ours, theirs = vectors(here), vectors(there)
    assert ours.keys() == theirs.keys()
    assert max(np.abs(ours[key] - theirs[key]).max() for key in ours) <= _TOLERANCE
    parsed = [[f for f in told if f[0] == "parsing"] for told in (told_here, told_there)]
    assert parsed[0] == parsed[1]
    encoded = [[f for f in told if f[0] == "encoding passages"] for told in (told_here, told_there)]
    assert encoded[0][-1] == encoded[1][-1]
