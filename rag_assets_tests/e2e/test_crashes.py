"""Law 4: after any kill or damage readers see one whole publication, and the next build mends."""

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
from rag_assets.model import DamagedFileError
from rag_assets.parsing import observe_parses, pool
from rag_assets.parsing.stored import ParseJob
from rag_assets.parsing.worker_process import WorkerProcess
from rag_assets.publishing import collect_garbage
from rag_assets.storage import TEMPORARY_PREFIX, current_folder, read_entries, read_pointer
from rag_assets.workspace import Namespace, read_journal
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    marked_processes,
    open_namespace,
    published_state,
    run_rag,
    start_build,
    whole_publication,
)
from rag_assets_tests.libraries import build, make_workspace, write_raw

EDITED = "# Roofs\n\nA green roof was 8 degrees cooler than bitumen. Half of the rain stayed.\n"
ADDED = "# Ponds\n\nA pond cools the air beside it by one degree at night.\n"


def change_raw(namespace: Namespace) -> None:
    write_raw(namespace.workspace, "evidence/roofs.md", EDITED)
    write_raw(namespace.workspace, "evidence/ponds.md", ADDED)
    (namespace.workspace.root / "raw/evidence/streets.md").unlink()


@pytest.fixture(scope="module")
def library(parse_in_process: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that is published and whose raw/ has changed since."""
    root = tmp_path_factory.mktemp("crashes") / "library"
    workspace = make_workspace(root, NOTES, SETTINGS)
    build(workspace.namespace("thesis"))
    change_raw(workspace.namespace("thesis"))
    return root


@pytest.fixture(scope="module")
def undisturbed(library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What readers see after a build that nothing disturbed."""
    root = tmp_path_factory.mktemp("undisturbed") / "library"
    shutil.copytree(library, root)
    build(open_namespace(root))
    return published_state(open_namespace(root))


@pytest.fixture
def namespace(library: Path, tmp_path: Path) -> Namespace:
    shutil.copytree(library, tmp_path / "library")
    return open_namespace(tmp_path / "library")


@pytest.mark.parametrize(
    "point",
    [
        pytest.param("rename:meta/inventory/*.parquet:1", marks=pytest.mark.slow),
        "answered:2",
        pytest.param("rename:data/*/parse_reports/*:2", marks=pytest.mark.slow),
        pytest.param("rename:data/*/parents/*:2", marks=pytest.mark.slow),
        pytest.param("renamed:data/*/chunks/*:1", marks=pytest.mark.slow),
        pytest.param("rename:data/*/embeddings/*:2", marks=pytest.mark.slow),
        pytest.param("rename:index/*/manifest.json:1", marks=pytest.mark.slow),
        pytest.param("rename:index/*/p-*:1", marks=pytest.mark.slow),
        "rename:index/*/current.json:1",
        "renamed:index/*/current.json:1",
    ],
)
def test_a_build_that_is_killed_leaves_readers_and_the_next_build_whole(
    namespace: Namespace, undisturbed: dict[str, Any], point: str
) -> None:
    before = whole_publication(namespace)
    mark = uuid.uuid4().hex
    process = start_build(namespace, "kill", point, mark=mark)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, f"{point} was never reached"
    left = marked_processes(mark)
    assert psutil.wait_procs(left, timeout=60)[1] == [], "a worker outlived its parent"

    seen = whole_publication(namespace)
    switched = point.startswith("renamed:index")
    assert seen == (undisturbed["publication"] if switched else before)

    build(namespace)
    assert published_state(namespace) == undisturbed
    assert whole_publication(namespace) == undisturbed["publication"]
    assert whole_uids(namespace) == ["ponds", "roofs", "rubric", "streets", "树荫"]
    collect_garbage(namespace, model_fingerprints(namespace.settings.embed), lambda _: None)
    assert [*namespace.workspace.root.rglob(f"{TEMPORARY_PREFIX}*")] == []


def whole_uids(namespace: Namespace) -> list[str]:
    return sorted({binding.doc_uid for binding in read_journal(namespace.journal).bindings})


def truncate(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])


def first(namespace: Namespace, pattern: str) -> Path:
    return next(iter(sorted(namespace.workspace.root.glob(pattern))))


DAMAGED = [
    "data/thesis/parse_reports/*.parquet",
    "data/thesis/parents/*.parquet",
    "data/thesis/chunks/*.parquet",
    "data/thesis/embeddings/*.parquet",
    "data/thesis/parsed/*/*.parquet",
    "meta/inventory/thesis.parquet",
    "meta/inventory/thesis.hashes.json",
    "index/thesis/current.json",
]


@pytest.mark.parametrize("pattern", DAMAGED)
def test_a_truncated_file_is_mended_by_the_next_build(
    namespace: Namespace, undisturbed: dict[str, Any], pattern: str
) -> None:
    if pattern.endswith("hashes.json"):
        namespace.hash_cache.write_text('{"raw/evidence/roofs.md": [1, 2', encoding="utf-8")
    else:
        truncate(first(namespace, pattern))
    build(namespace)
    assert published_state(namespace) == undisturbed
    assert whole_publication(namespace) == undisturbed["publication"]
    for stage in ("parse_reports", "parents", "chunks", "embeddings"):
        for record in (namespace.records / stage).glob("*.parquet"):
            read_entries(record)


def test_a_pointer_that_was_mended_still_knows_the_publications_before(
    namespace: Namespace,
) -> None:
    before = current_folder(namespace.publications, "thesis").name
    truncate(namespace.publications / "current.json")
    with pytest.raises(DamagedFileError, match=r"pointer is damaged.*rag ingest"):
        current_folder(namespace.publications, "thesis")
    build(namespace)
    pointer = read_pointer(namespace.publications)
    assert pointer is not None
    assert [entry.publication for entry in pointer.history][1:] == [before]
    assert pointer.history[1].superseded_at is not None


def test_a_half_written_journal_line_is_cut_and_every_uid_stays(
    namespace: Namespace, undisturbed: dict[str, Any]
) -> None:
    whole = namespace.journal.read_bytes()
    with namespace.journal.open("ab") as handle:
        handle.write(b'{"event": "bind", "content_hash": "ab')
    build(namespace)
    assert namespace.journal.read_bytes().startswith(whole)
    assert b'"ab{' not in namespace.journal.read_bytes()
    assert published_state(namespace) == undisturbed


def test_a_damaged_publication_says_which_folder_to_delete_and_is_built_again(
    namespace: Namespace,
) -> None:
    build(namespace)
    expected = published_state(namespace)
    folder = current_folder(namespace.publications, "thesis")
    truncate(folder / "manifest.json")
    with pytest.raises(DamagedFileError, match=f"Delete the folder {folder.name}.*rag ingest"):
        whole_publication(namespace)
    shutil.rmtree(folder)
    build(namespace)
    assert published_state(namespace) == expected


@pytest.mark.slow
def test_the_commands_name_what_they_mended(
    namespace: Namespace, rag: Callable[..., Result]
) -> None:
    """Through the front door: one ingest that meets four kinds of damage."""
    record = first(namespace, "data/thesis/chunks/*.parquet")
    for path in (record, namespace.inventory, namespace.publications / "current.json"):
        truncate(path)
    with namespace.journal.open("ab") as handle:
        handle.write(b'{"event": "bi')
    ran = run_rag("--workspace", namespace.workspace.root, "ingest")
    assert ran.returncode == 0, ran.stderr
    for words in (
        f"{record}: the record was damaged and is being rebuilt",
        "the inventory is damaged",
        "the pointer was damaged",
        "the last line was half-written (13 bytes",
    ):
        assert words in ran.stderr
    again = rag("--workspace", namespace.workspace.root, "ingest", "--json")
    assert json.loads(again.stdout)["thesis"]["warnings"] == []


def test_what_was_parsed_before_a_kill_is_not_parsed_again(
    namespace: Namespace, undisturbed: dict[str, Any]
) -> None:
    mark = uuid.uuid4().hex
    killed = start_build(namespace, "kill", "rename:data/*/parse_reports/*:1", mark=mark)
    assert killed.wait(300) == -signal.SIGKILL
    # A worker of it may still be writing; what a living process has begun is not removed.
    psutil.wait_procs(marked_processes(mark))
    with observe_parses() as parses:
        build(namespace)
    done = [what for what, _ in parses]
    # The killed run was writing the record of the first; its worker may have begun the second.
    assert len(done) == 2
    assert "reused" in done
    assert [*namespace.records.glob("parsed/*/.*")] == []
    assert published_state(namespace) == undisturbed


def test_a_file_saved_between_hashing_and_parsing_is_never_stored_under_the_wrong_hash(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = "# Ponds\n\nThis was saved after the inventory had hashed the file.\n"

    class SavesFirst(WorkerProcess):
        def parse(self, job: ParseJob) -> Any:
            if job.path.name == "ponds.md" and job.path.read_text("utf-8") == ADDED:
                job.path.write_text(saved, encoding="utf-8")
            return super().parse(job)

    monkeypatch.setattr(pool, "WorkerProcess", SavesFirst)
    outcome = build(namespace)
    (ponds,) = [f for f in outcome.facts if f.living.first.source_uri.endswith("ponds.md")]
    assert (ponds.status, ponds.reason_code) == ("failed", "changed_while_reading")
    assert not [*namespace.records.glob(f"parsed/*/{ponds.content_hash}*")]
    assert "roofs" in {f.doc_uid for f in outcome.facts if f.status == "published"}

    again = build(namespace)
    (ponds,) = [f for f in again.facts if f.living.first.source_uri.endswith("ponds.md")]
    assert ponds.status == "published"
    whole_publication(namespace)


def test_gc_sweeps_what_dead_processes_left_wherever_we_write(namespace: Namespace) -> None:
    root = namespace.workspace.root
    folders = ("raw/evidence", "namespaces", "queries", "outputs", "meta", "meta/journal", ".")
    left = [root / folder / f"{TEMPORARY_PREFIX}999999999-0a1b2c3d.md" for folder in folders]
    theirs = root / "raw/evidence/.tmp-999999999-mine.md"
    for path in (*left, theirs):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half", encoding="utf-8")
    found = collect_garbage(namespace, model_fingerprints(namespace.settings.embed), lambda _: None)
    assert sorted(found.unfinished) == sorted(map(str, left))
    assert [path for path in left if path.exists()] == []
    assert theirs.exists()
