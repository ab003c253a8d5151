"""Workspaces in a bucket of a server: builds that are killed, readers elsewhere, two builders."""

import json
import shutil
import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import Result

from rag_assets.embedding import model_fingerprints
from rag_assets.publishing import collect_garbage
from rag_assets.storage import TEMPORARY_PREFIX, read_entries, told_mount
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.e2e.test_crashes import change_raw
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    let_go,
    marked_processes,
    open_namespace,
    published_state,
    start_build,
    until_waiting,
    whole_publication,
)
from rag_assets_tests.laws.driver import clean_build
from rag_assets_tests.libraries import build, make_workspace, write_raw
from rag_assets_tests.storage.buckets import keep_in, other_machine
from rag_assets_tests.storage.object_servers import ObjectServer, fresh_url, using

QUESTION = "How much cooler was a green roof?"


@pytest.fixture(scope="module")
def library(parse_in_process: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace on a disk, published; nothing has changed since."""
    root = tmp_path_factory.mktemp("object-store") / "library"
    build(make_workspace(root, NOTES, SETTINGS).namespace("thesis"))
    return root


@pytest.fixture(scope="module")
def undisturbed(library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What readers see of the changed files after a build on a disk."""
    root = tmp_path_factory.mktemp("undisturbed") / "library"
    shutil.copytree(library, root)
    change_raw(open_namespace(root))
    build(open_namespace(root))
    return published_state(open_namespace(root))


@pytest.fixture
def quick(moto_server: ObjectServer) -> Any:
    """Have the server of the tests that are always run."""
    with using(moto_server):
        yield fresh_url()


@pytest.fixture
def changed(library: Path, tmp_path: Path) -> Namespace:
    """The library whose files have changed since it was published."""
    shutil.copytree(library, tmp_path / "library")
    namespace = open_namespace(tmp_path / "library")
    change_raw(namespace)
    return namespace


def kept(namespace: Namespace, url: str) -> Namespace:
    return keep_in(namespace.workspace.root, url).namespace(namespace.name)


KILLS = [
    "put:index/*/publications/*.json:1",  # all is there, nobody is told
    "put:data/*/chunks/*:1",  # put, and the copy is the one before
    "put:index/*/p-*/*:2",  # between two files
    "put:data/*/parse_reports/*:2",
    "put:index/*/current.json:1",
    "rename:data/*/embeddings/*.parquet:1",
    "answered:2",
    "put:locks/*publishing.lock:1",
]


def survive(namespace: Namespace, undisturbed: dict[str, Any], point: str, elsewhere: Path) -> None:
    before = whole_publication(namespace)
    mark = uuid.uuid4().hex
    process = start_build(namespace, "kill", point, mark=mark)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, f"{point} was never reached"
    assert psutil.wait_procs(marked_processes(mark), timeout=60)[1] == []
    switched = "current.json" in point
    other = other_machine(namespace.workspace, elsewhere).namespace(namespace.name)
    for reader in (namespace, other):
        assert whole_publication(reader) == (undisturbed["publication"] if switched else before)
    build(namespace)
    for reader in (namespace, other):
        assert published_state(reader) == undisturbed
        assert whole_publication(reader) == undisturbed["publication"]
    collect_garbage(namespace, model_fingerprints(namespace.settings.embed), lambda _: None)
    assert [*namespace.workspace.root.rglob(f"{TEMPORARY_PREFIX}*")] == []


@pytest.mark.parametrize("point", KILLS[:1])
def test_a_build_that_is_killed_leaves_every_reader_and_the_next_build_whole(
    changed: Namespace, undisturbed: dict[str, Any], quick: str, point: str, tmp_path: Path
) -> None:
    survive(kept(changed, quick), undisturbed, point, tmp_path / "elsewhere")


@pytest.mark.slow
@pytest.mark.parametrize("point", KILLS)
def test_a_build_that_is_killed_leaves_all_whole_on_each_server(
    changed: Namespace, undisturbed: dict[str, Any], bucket_url: str, point: str, tmp_path: Path
) -> None:
    survive(kept(changed, bucket_url), undisturbed, point, tmp_path / "elsewhere")


def test_a_library_that_is_moved_into_a_bucket_is_not_built_again(
    library: Path, tmp_path: Path, quick: str
) -> None:
    shutil.copytree(library, tmp_path / "library")
    before = published_state(open_namespace(tmp_path / "library"))
    namespace = kept(open_namespace(tmp_path / "library"), quick)
    assert build(namespace).is_new is False
    assert published_state(namespace) == before
    for name in ("data", "index"):
        shutil.rmtree(namespace.workspace.root / name)
    assert build(namespace).is_new is False
    assert published_state(namespace) == before


def test_a_reader_needs_the_bucket_and_the_configuration(
    changed: Namespace, quick: str, tmp_path: Path, rag: Callable[..., Result]
) -> None:
    namespace = kept(changed, quick)
    build(namespace)
    other = other_machine(namespace.workspace, tmp_path / "elsewhere")
    assert sorted(path.name for path in other.root.iterdir()) == ["config.yaml", "namespaces"]

    def ask(*arguments: object) -> Result:
        ran = rag("--workspace", other.root, *arguments)
        assert ran.exit_code == 0, ran.output
        return ran

    assert "8 degrees cooler" in ask("query", QUESTION).stdout
    counted = "SELECT count(*) AS chunks FROM thesis.chunks"
    before = json.loads(ask("sql", counted, "--json").stdout)[0]["chunks"]
    assert quick in ask("status").stdout
    assert f"read from {quick}" in rag("--workspace", other.root, "doctor").output

    write_raw(namespace.workspace, "evidence/ice.md", "# Ice\n\nA slurry of ice stores cold.\n")
    published = build(namespace)
    assert "slurry" in ask("query", "What stores cold?").stdout
    assert published.publication in ask("status").stdout
    assert json.loads(ask("sql", counted, "--json").stdout)[0]["chunks"] > before


@pytest.mark.slow
def test_two_machines_build_at_the_same_time_and_nothing_is_lost(
    changed: Namespace, undisturbed: dict[str, Any], quick: str, tmp_path: Path
) -> None:
    """They share raw/ and meta/; one waits between its records and its publication."""
    first = kept(changed, quick)
    other = other_machine(first.workspace, tmp_path / "elsewhere", "raw", "meta")
    second = other.namespace(first.name)
    waiting = start_build(first, "wait", "before:chunks")
    until_waiting(waiting)
    write_raw(first.workspace, "evidence/ice.md", "# Ice\n\nA slurry of ice stores cold.\n")
    ahead = build(second)
    let_go(waiting)  # publishes what holds now, though it began with older files
    with_ice = published_state(first)
    assert with_ice == published_state(second)
    assert with_ice["publication"] == ahead.publication
    (first.workspace.root / "raw/evidence/ice.md").unlink()
    build(first)
    assert published_state(second) == published_state(first) == undisturbed


@pytest.mark.slow
def test_three_processes_on_two_machines_build_at_once(
    changed: Namespace, quick: str, tmp_path: Path
) -> None:
    """Two share a folder; all share raw/ and meta/. What they leave is what a disk has."""
    first = kept(changed, quick)
    other = other_machine(first.workspace, tmp_path / "elsewhere", "raw", "meta")
    second = other.namespace(first.name)
    for number in range(3):
        for name in ("ice", "snow"):
            text = f"# Note {number}\n\nA slurry of {name} stores cold. Half of it melts.\n"
            write_raw(first.workspace, f"evidence/{name}-{number}.md", text)
        (first.workspace.root / f"raw/evidence/ice-{number - 1}.md").unlink(missing_ok=True)
        building = [start_build(each) for each in (first, second, first)]
        for process in building:
            printed, _ = process.communicate()
            assert process.returncode == 0, printed
        clean = clean_build(first, tmp_path / f"clean-{number}")
        assert published_state(first) == published_state(second) == published_state(clean)


def test_a_document_that_is_parsed_on_one_machine_is_not_parsed_on_the_other(
    changed: Namespace, quick: str, tmp_path: Path
) -> None:
    from rag_assets.parsing import observe_parses

    first = kept(changed, quick)
    build(first)
    other = other_machine(first.workspace, tmp_path / "elsewhere", "raw", "meta")
    second = other.namespace(first.name)
    with observe_parses() as parses:
        assert build(second).is_new is False
    assert parses == []
    partitions = [key for key in second.partition_keys if (second.record("chunks", key)).is_file()]
    assert partitions
    assert all(read_entries(second.record("chunks", key)) for key in partitions)


@pytest.mark.parametrize("arguments", [("query", QUESTION), ("status",), ("ingest",), ("gc",)])
def test_a_bucket_that_is_not_there_is_one_sentence(
    changed: Namespace, quick: str, rag: Callable[..., Result], arguments: tuple[str, ...]
) -> None:
    url = f"s3://not-{uuid.uuid4().hex[:12]}/library"
    namespace = kept(changed, url)
    ran = rag("--workspace", namespace.workspace.root, *arguments)
    assert ran.exit_code == 1
    assert ran.stderr.count("error: ") == 1
    assert url in ran.stderr
    assert "Traceback" not in ran.output


def test_the_setting_holds_for_the_whole_workspace(
    changed: Namespace, rag: Callable[..., Result]
) -> None:
    workspace = changed.workspace
    path = workspace.namespace_file("thesis")
    written = path.read_text(encoding="utf-8")
    path.write_text(written + "store: s3://bucket/library\n", encoding="utf-8")
    ran = rag("--workspace", workspace.root, "status")
    assert ran.exit_code == 2
    assert f"{path}: 'store' holds for the whole workspace" in ran.stderr
    path.write_text(written, encoding="utf-8")
    config = workspace.root / "config.yaml"
    config.write_text("store: /mnt/shared\n", encoding="utf-8")
    ran = rag("--workspace", workspace.root, "status")
    assert ran.exit_code == 2
    assert f"{config}: 'store'" in ran.stderr


def test_settings_that_cannot_be_read_change_no_place(changed: Namespace) -> None:
    moved = kept(changed, "s3://bucket/library").workspace
    records = changed.records
    assert told_mount(records) == (str(moved.root), "s3://bucket/library")
    config = moved.root / "config.yaml"
    config.write_text("store: [", encoding="utf-8")
    Workspace.open(moved.root)
    assert told_mount(records) == (str(moved.root), "s3://bucket/library")
    config.write_text("", encoding="utf-8")
    Workspace.open(moved.root)
    assert told_mount(records) is None


def test_where_it_is_kept_decides_no_build(changed: Namespace) -> None:
    from rag_assets.workspace import configuration_digest, settings_digest

    before = settings_digest(changed), configuration_digest(changed)
    moved = kept(changed, "s3://bucket/library")
    assert (settings_digest(moved), configuration_digest(moved)) == before
    keep_in(Path(moved.workspace.root), None)
    assert Workspace.open(moved.workspace.root).settings.store is None
