"""A source that is added costs its partition, and the library is as built from nothing."""

import shutil
from pathlib import Path

import pytest
import yaml

from rag_assets import KnowledgeConfig, KnowledgeSource, Workspace
from rag_assets.parsing import pool
from rag_assets.parsing.process import WorkerProcess
from rag_assets.running import ingest, open_instance
from rag_assets.storage import current_folder, read_manifest
from rag_assets.workspace import Namespace


def ingest_source(root: Path, name: str, text: str) -> str:
    config = KnowledgeConfig(
        base_config={
            "vector_store": {"path": str(root)},
            "embedding": {"provider": "hashing", "model": "words"},
        }
    )
    outcome = KnowledgeSource(name, text).ingest_sync(namespace="demo", config=config)
    return outcome.run.run_id


def materialized(namespace: Namespace, run_id: str) -> set[str]:
    with open_instance(namespace.workspace) as instance:
        return {
            record.dagster_event.step_materialization_data.materialization.partition
            for record in instance.all_logs(run_id)
            if record.dagster_event is not None
            and record.dagster_event.is_step_materialization
            and record.dagster_event.asset_key.path[-1] == "chunks"
        }


def digests(namespace: Namespace) -> dict[str, str]:
    return dict(read_manifest(current_folder(namespace.publications, namespace.name))["tables"])


@pytest.mark.slow
def test_a_run_is_of_the_partitions_that_changed_and_of_all_where_more_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "WorkerProcess", WorkerProcess)
    root = tmp_path / "library"
    first = ingest_source(root, "a.md", "# A\n\nRoofs are cool.\n")
    namespace = Workspace.open(root).namespace("demo")
    assert len(materialized(namespace, first)) == 16
    try:
        second = ingest_source(root, "b.md", "# B\n\nStreets are warm.\n")
        spare = pool._spare._found
        assert spare is not None
        pid = spare.pid
        assert len(materialized(namespace, second)) == 1
        # A file that somebody put there since is taken in too.
        by_hand = namespace.roots[0] / "evidence/by hand.md"
        by_hand.write_text("# By hand\n\nWater cools.\n")
        ingest_source(root, "c.md", "# C\n\nTrees give shade.\n")
        assert pool._spare._found is not None
        assert pool._spare._found.pid == pid
        assert read_manifest(current_folder(namespace.publications, "demo"))["counts"][
            "documents"
        ] == 4  # fmt: skip
        grown = digests(namespace)
        # Other settings concern every document.
        path = root / "namespaces/demo.yaml"
        settings = yaml.safe_load(path.read_text())
        path.write_text(yaml.safe_dump({**settings, "chunk": {"mode": "general"}}))
        recut = ingest_source(root, "d.md", "# D\n\nRivers.\n")
        assert len(materialized(namespace, recut)) == 16
        path.write_text(yaml.safe_dump(settings))
        (namespace.roots[0] / "evidence/ingested/d.md").unlink()
        (namespace.roots[0] / "evidence/ingested/d.md.meta.yaml").unlink()
        for derived in ("data", "index"):
            shutil.rmtree(root / derived)
        assert ingest(Workspace.open(root).namespace("demo")).is_success
        assert digests(namespace) == grown
    finally:
        pool._spare.close()
    assert pool._spare._found is None
