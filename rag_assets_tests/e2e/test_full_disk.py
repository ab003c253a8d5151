"""A disk that runs full is a clear error, and nothing that was published is lost."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.evidence import Question, make_pack
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    open_namespace,
    published_state,
    run_rag,
    whole_publication,
)
from rag_assets_tests.libraries import build, make_workspace, write_raw

_BLOCK_BYTES = 4096


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Eight megabytes, mounted for one test."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here, so no small disk can be made")
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, leave_bytes: int) -> Path:
    """Write a file that leaves so many bytes free."""
    ballast = disk / "ballast"
    ballast.unlink(missing_ok=True)
    with ballast.open("wb", buffering=0) as handle:
        try:
            while True:
                handle.write(b"\0" * _BLOCK_BYTES)
        except OSError:
            pass  # full, as wanted
    os.truncate(ballast, max(0, ballast.stat().st_size - leave_bytes))
    return ballast


# 0: Dagster's own files meet the full disk; the others let the run start and fail later.
@pytest.mark.slow
@pytest.mark.parametrize("leave_kilobytes", [0, 500])
def test_an_ingest_on_a_full_disk_says_so_and_readers_keep_what_was_published(
    small_disk: Path, leave_kilobytes: int
) -> None:
    workspace = make_workspace(small_disk / "library", NOTES, SETTINGS)
    before = build(workspace.namespace("thesis")).publication
    words = " ".join(f"word{number} cools" for number in range(20_000))
    write_raw(workspace, "evidence/long.md", f"# Long\n\n{words}.\n")
    ballast = fill(small_disk, leave_kilobytes * 1024)

    ran = run_rag("--workspace", workspace.root, "ingest")
    assert ran.returncode == 1, ran.stdout
    assert "disk is full" in ran.stderr or "Is the disk full?" in ran.stderr, ran.stderr
    assert "Nothing published was lost; free some space" in ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout
    assert whole_publication(open_namespace(workspace.root)) == before
    pack = make_pack(workspace, Question(question="Which roof was cooler at noon?"))
    assert pack.publications == {"thesis": before}
    assert "roofs" in pack.doc_uids

    ballast.unlink()
    (workspace.root / "raw/evidence/long.md").write_text("# Long\n\nNow short.\n", "utf-8")
    assert run_rag("--workspace", workspace.root, "ingest").returncode == 0
    assert whole_publication(open_namespace(workspace.root)) != before


@pytest.mark.parametrize(
    "leave_kilobytes",
    [0, *(pytest.param(left, marks=pytest.mark.slow) for left in (8, 64, 160, 320, 640))],
)
def test_wherever_the_disk_runs_full_a_stage_says_so_and_nothing_is_torn(
    small_disk: Path, parse_in_process: None, leave_kilobytes: int
) -> None:
    """The stages themselves, so that each of them meets its last byte."""
    from rag_assets.model import StorageError

    workspace = make_workspace(small_disk / "library", NOTES, SETTINGS)
    namespace = workspace.namespace("thesis")
    build(namespace)
    before = published_state(namespace)
    for number in range(24):
        text = " ".join(f"cool{number * 1000 + k} shade" for k in range(500))
        write_raw(workspace, f"evidence/more{number}.md", f"# More\n\n{text}.\n")
    ballast = fill(small_disk, leave_kilobytes * 1024)
    with pytest.raises(StorageError, match="disk is full"):
        build(namespace)
    assert published_state(namespace) == before
    whole_publication(namespace)
    ballast.unlink()
    for number in range(6, 24):
        (workspace.root / f"raw/evidence/more{number}.md").unlink()
    assert build(namespace).counts["documents"] == len(NOTES) + 6
    whole_publication(namespace)


def test_a_workspace_on_a_full_disk_is_refused_with_a_sentence(small_disk: Path) -> None:
    fill(small_disk, 0)
    ran = run_rag("init", small_disk / "new")
    assert ran.returncode == 1
    assert "disk is full" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("leave_kilobytes", [0, 500])
def test_the_ui_is_refused_on_a_full_disk_and_not_announced(
    small_disk: Path, leave_kilobytes: int
) -> None:
    workspace = make_workspace(small_disk / "library", NOTES, SETTINGS)
    fill(small_disk, leave_kilobytes * 1024)
    left = sorted(workspace.dagster_home.iterdir())
    ran = run_rag("--workspace", workspace.root, "ui", "--port", "39818")
    assert ran.returncode == 1, ran.stdout
    assert f"{workspace.dagster_home}: the disk is full" in ran.stderr
    assert "free some space" in ran.stderr
    assert "serves" not in ran.stdout
    assert "Traceback" not in ran.stderr + ran.stdout
    assert sorted(workspace.dagster_home.iterdir()) == left


def test_gc_frees_space_on_a_full_disk_and_does_not_advise_itself(small_disk: Path) -> None:
    workspace = make_workspace(small_disk / "library", NOTES, SETTINGS)
    namespace = workspace.namespace("thesis")
    build(namespace)
    left = namespace.records / ".tmp-999999999-dead.parquet"
    left.write_bytes(b"x" * 65_536)
    fill(small_disk, 0)
    ran = run_rag("--workspace", workspace.root, "gc")
    assert not left.exists(), ran.stderr
    assert "1 unfinished file" in ran.stdout
    assert "`rag gc` removes" not in ran.stderr
    assert "Traceback" not in ran.stderr
    if ran.returncode:
        assert "The disk is full even so" in ran.stderr
