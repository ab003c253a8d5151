"""A worker that the machine ends for want of memory: in earnest, in a group with 2 GB of it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rag_assets.storage.execution import open_engine
from rag_assets_tests.execution.harm import FOLDER, MEMORY, SHARE, begun
from rag_assets_tests.execution.test_ray import parse, write_notes

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
# Ray, a run and two actors take some 0.9 GB.
_BYTES = 2_000_000_000
_SECONDS = 240
# Who ends workers: the kernel when all is taken, or Ray before that, which looks every 100 ms.
KERNEL = {SHARE: "2", "RAY_memory_monitor_refresh_ms": "0"}
RAY = {
    SHARE: "0.9", "RAY_memory_usage_threshold": "0.8", "RAY_memory_monitor_refresh_ms": "100",
}  # fmt: skip
GOOD = ["ok", None, None]
# The group takes the place of the machine's own, as in a container: there Ray looks.
_INSIDE = 'mount --bind "$0" "$1" && echo $$ > "$1/cgroup.procs" && shift && exec "$@"'


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Path]:
    """Return a group of processes with little memory."""
    group = MEMORY / f"rag-{os.getpid()}-{tmp_path.name}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(_BYTES))
    except OSError as error:
        pytest.skip(f"no group of processes with a memory of its own can be made here: {error}")
    if shutil.which("unshare") is None:
        pytest.skip("`unshare` is not installed (package util-linux)")
    yield group
    # What is left of Ray ends with its run, a moment later.
    for _ in range(1000):
        with suppress(OSError):
            group.rmdir()
            return
        (group / "cgroup.procs").read_text()


def run(group: Path, what: str, folder: Path, who: dict[str, str]) -> dict[str, Any]:
    """Do jobs in a process of the group; return what it says."""
    words = [sys.executable, "-m", "rag_assets_tests.execution.narrow", what, str(folder)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", _INSIDE, str(group), str(MEMORY), *words],
        cwd=ROOT, env={**os.environ, FOLDER: str(folder), **who}, timeout=_SECONDS, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(
        next(line for line in done.stdout.splitlines() if line.startswith("{"))
    )  # Ray prints, too
    return found


def ended(group: Path) -> int:
    """Return how many processes of the group the kernel has ended."""
    lines = (group / "memory.oom_control").read_text().split()
    return int(lines[lines.index("oom_kill") + 1])


def written(folder: Path) -> Path:
    folder.mkdir()
    write_notes(folder, **dict.fromkeys("abcdef", "Roofs."), x="fill memory")
    return folder


@pytest.mark.parametrize("who", [KERNEL, RAY], ids=["kernel", "ray"])
def test_a_worker_without_memory_costs_the_job_at_hand(
    group: Path, tmp_path: Path, who: dict[str, str]
) -> None:
    found = run(group, "fills once", tmp_path, who)
    assert found["results"] == dict.fromkeys("012345", "done")
    assert found["begun"] == {**dict.fromkeys("01245", 1), "3": 2}
    (sentence,) = found["told"]
    assert "its job is given to another one (2 tries left)" in sentence
    assert ("running low on memory" if who is RAY else "want of memory, which `dmesg`") in sentence
    assert ended(group) == (who is KERNEL)


def test_a_job_that_never_has_the_memory_is_given_up_and_the_others_are_done(
    group: Path, tmp_path: Path
) -> None:
    found = run(group, "fills", tmp_path, RAY)
    assert found["results"] == {**dict.fromkeys("01245", "done"), "3": "given up"}
    assert found["begun"] == {**dict.fromkeys("01245", 1), "3": 3}
    assert len(found["told"]) == 2


def test_a_document_whose_process_the_kernel_ends_fails_alone_and_is_parsed_with_more_memory(
    group: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "notes")
    found = run(group, "parse", folder, KERNEL)
    bad = ["failed", "memory_limit", "resource"]
    assert found["results"] == {**dict.fromkeys("abcdef", GOOD), "x": bad}
    assert found["begun"] == dict.fromkeys("abcdefx", 1)
    assert found["told"] == []  # the actor has lost nothing
    assert ended(group) == 1
    monkeypatch.setenv(FOLDER, str(folder))
    with open_engine("local") as engine:
        reports = parse(folder, engine)
    assert {each.status for each in reports.values()} == {"ok"}
    assert begun(folder) == {**dict.fromkeys("abcdef", 1), "x": 2}


def test_of_documents_whose_actor_ray_ends_none_is_lost_or_parsed_twice(
    group: Path, tmp_path: Path
) -> None:
    folder = written(tmp_path / "notes")
    found = run(group, "parse", folder, RAY)
    assert found["results"] == dict.fromkeys("abcdefx", GOOD)
    assert found["begun"] == {**dict.fromkeys("abcdef", 1), "x": 2}
    assert all("running low on memory" in sentence for sentence in found["told"])
    assert len(list((folder / "out").glob("*.parquet"))) == len("abcdefx")
    assert ended(group) == 0
