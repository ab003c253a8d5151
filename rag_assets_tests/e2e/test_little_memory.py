"""A run that may use too little memory ends with a sentence and leaves no lock behind."""

import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from rag_assets.workspace import Workspace, lock_inventory
from rag_assets_tests.e2e.workspaces import NOTES, SETTINGS, outside_environment
from rag_assets_tests.libraries import make_workspace

# What hangs fails by this; what ends needs a fraction of it.
_TIMEOUT_SECONDS = 300


def ingest_within(workspace: Workspace, megabytes: int) -> "subprocess.CompletedProcess[str]":
    limit = megabytes * 1_000_000
    script = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
        "from rag_assets.cli import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", script, "--workspace", str(workspace.root), "ingest"],
        env=outside_environment(),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces RLIMIT_AS")
@pytest.mark.parametrize(
    # Around 1,000 the libraries below end the process themselves.
    "megabytes",
    [600, pytest.param(1300, marks=pytest.mark.slow)],
)
def test_an_ingest_with_too_little_memory_says_so_and_releases_its_lock(
    tmp_path: Path, megabytes: int
) -> None:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    ran = ingest_within(workspace, megabytes)
    if ran.returncode:
        assert ran.returncode == 1, ran.stderr
        assert "there is not enough memory" in ran.stderr
        assert "run the command again." in ran.stderr
        assert "Traceback" not in ran.stderr
    else:
        assert megabytes > 600
    lock = FileLock(lock_inventory(workspace.namespace("thesis")))
    lock.acquire(timeout=0)
    lock.release()
