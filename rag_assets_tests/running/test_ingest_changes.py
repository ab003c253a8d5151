"""A source that is added costs its partition, and the library is as built from nothing."""

import asyncio
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from rag_assets import KnowledgeConfig, KnowledgeSource, Workspace
from rag_assets.defs.checks import build_namespace_checks
from rag_assets.knowledge import IngestOutcome
from rag_assets.model import StorageError
from rag_assets.parsing import pool
from rag_assets.parsing.worker_process import WorkerProcess
from rag_assets.running import RunOutcome, ingest, ingest_changes, materialize, open_instance
from rag_assets.storage import current_folder, file_identity, read_manifest, records
from rag_assets.workspace import Namespace, journal, require_inventory
from rag_assets_tests.libraries import make_workspace


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


def test_ingests_at_once_share_a_run_and_each_is_published(tmp_path: Path) -> None:
    config = KnowledgeConfig(
        base_config={
            "vector_store": {"path": str(tmp_path / "library")},
            "embedding": {"provider": "hashing", "model": "words"},
        }
    )

    async def together() -> list[IngestOutcome]:
        sources = [KnowledgeSource(f"{n}.md", f"# {n}\n\nRoof {n} is cool.\n") for n in range(4)]
        ingests = (source.ingest(namespace="demo", config=config) for source in sources)
        return await asyncio.gather(*ingests)

    try:
        outcomes = asyncio.run(together())
    finally:
        pool._spare.close()
    assert sorted(outcome.doc_uid for outcome in outcomes) == ["0", "1", "2", "3"]
    assert all(outcome.run.is_success for outcome in outcomes)
    # What comes before the first run begins goes with it, all else with the second.
    assert len({outcome.run.run_id for outcome in outcomes}) <= 2


def test_all_that_wait_share_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace = make_workspace(tmp_path, {}).namespace("thesis")
    begun, go_on, waiting = threading.Event(), threading.Event(), threading.Semaphore(0)
    runs: list[RunOutcome] = []

    class Watched(Future[RunOutcome]):
        def result(self, timeout: float | None = None) -> RunOutcome:
            waiting.release()
            return super().result(timeout)

    def run(*_: object, **__: object) -> RunOutcome:
        outcome = RunOutcome(str(len(runs)), is_success=True, errors=(), checks=())
        runs.append(outcome)
        begun.set()
        go_on.wait()
        return outcome

    monkeypatch.setattr(materialize, "Future", Watched)
    monkeypatch.setattr(materialize, "materialize_stages", run)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(ingest_changes, namespace)
        begun.wait()
        others = [threads.submit(ingest_changes, namespace) for _ in range(3)]
        for _ in range(2):  # the third waits for the lock
            waiting.acquire()
        go_on.set()
        assert first.result() is runs[0]
        assert [other.result() for other in others] == [runs[1]] * 3
    assert len(runs) == 2


def test_a_run_that_fails_fails_all_that_share_it_and_no_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = make_workspace(tmp_path, {}).namespace("thesis")

    def fail(*_: object, **__: object) -> RunOutcome:
        raise StorageError("the disk is full")

    monkeypatch.setattr(materialize, "materialize_stages", fail)
    for _ in range(2):
        with pytest.raises(StorageError, match="full"):
            ingest_changes(namespace)
    assert not materialize._next_runs


def test_one_more_document_has_each_file_of_the_library_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "library"
    ingest_source(root, "a.md", "# A\n\nRoofs are cool.\n")
    read: list[tuple[Path, object]] = []
    for module, name in ((records, "_read_entries"), (journal, "_read")):
        real = getattr(module, name)

        def counted(path: Path, real: Callable[[Path], object] = real) -> object:
            read.append((path, file_identity(path)))
            return real(path)

        monkeypatch.setattr(module, name, counted)
    ingest_source(root, "b.md", "# B\n\nStreets are warm.\n")
    namespace = Workspace.open(root).namespace("demo")
    held = {namespace.partition_of(c) for c in require_inventory(namespace).contents}
    assert {path for path, _ in read} >= {
        namespace.journal,
        *(namespace.record("chunks", key) for key in held),
    }
    assert len(read) == len(set(read))


def test_the_checks_of_a_stage_are_one_step(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path, {}).namespace("thesis")
    stages = [
        {key.asset_key.path[-1] for key in checks.check_keys}
        for checks in build_namespace_checks(namespace)
    ]
    assert stages == [{"inventory"}, {"parse_reports"}, {"search_index"}]
