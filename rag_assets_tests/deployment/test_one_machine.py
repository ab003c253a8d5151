"""`make platform`: the sample library on Postgres, an object server and Ray is that on a disk."""

import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.one_machine import QUESTION, SAMPLES, why_not
from rag_assets.storage import current_folder
from rag_assets.workspace import Workspace
from rag_assets_tests import postgres
from rag_assets_tests.e2e.workspaces import outside_environment, run_rag

ROOT = Path(__file__).parents[2]


def platform(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "deploy.one_machine", *map(str, arguments)],
        cwd=ROOT, env=outside_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_what_is_missing_is_told_before_anything_is_started(tmp_path: Path) -> None:
    reasons = why_not()
    if not reasons:
        tmp_path.joinpath("there").mkdir()
        reasons = ["exists"]
    ran = platform(tmp_path / "there")
    assert ran.returncode == 1 and all(reason in ran.stderr for reason in reasons)
    assert ran.stdout == ""


@pytest.mark.slow
def test_the_sample_on_the_platform_is_the_sample_on_a_disk(tmp_path: Path) -> None:
    if reasons := why_not():
        pytest.skip("; ".join(reasons))
    ran = platform(tmp_path / "platform")
    assert ran.returncode == 0, ran.stdout + ran.stderr

    plain = tmp_path / "plain"
    run_rag("init", plain)
    shutil.copytree(SAMPLES / "raw", plain / "raw", dirs_exist_ok=True)
    assert run_rag("--workspace", plain, "ingest").returncode == 0
    publication = current_folder(Workspace.open(plain).namespace("thesis").publications, "thesis")
    assert publication.name in ran.stdout
    answer = run_rag("--workspace", plain, "query", QUESTION).stdout
    assert answer and answer in ran.stdout
    told = dict(line.split(maxsplit=1) for line in ran.stdout.splitlines()[-3:-1])
    assert told["Postgres"].startswith("1 runs"), told
    assert int(told["object"].split()[1]) > 0, told


# The second of the three servers is not needed to see that the first one ends.
WAITING = """
import contextlib, signal, sys
from deploy import one_machine

running_postgres = one_machine.postgres.running_postgres

@contextlib.contextmanager
def telling():
    with running_postgres() as server:
        print(server.port, flush=True)
        yield server

@contextlib.contextmanager
def waiting():
    signal.pause()
    yield

one_machine.why_not = list
one_machine.postgres.running_postgres = telling
one_machine.object_servers.running_seaweedfs = waiting
sys.argv = ["one_machine", sys.argv[1]]
one_machine.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whatever_ends_it_ends_what_it_has_started(tmp_path: Path, number: signal.Signals) -> None:
    if reason := postgres.why_not():
        pytest.skip(reason)
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(tmp_path / "platform")],
        cwd=ROOT, env=outside_environment(), stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        port = int(process.stdout.readline())
        assert is_open(port)
        process.send_signal(number)
        assert process.wait() == 128 + number
    assert not is_open(port)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
