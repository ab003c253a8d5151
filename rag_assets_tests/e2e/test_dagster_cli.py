"""The commands that CI runs: bare `dagster`, in the workspace's folder, with only its `.env`."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from rag_assets.evidence import read_question
from rag_assets.running import open_instance
from rag_assets.storage import read_pointer
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.e2e.workspaces import NOTES, SETTINGS, outside_environment
from rag_assets_tests.libraries import make_workspace


def dagster(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "dagster", *arguments],
        cwd=root,
        env=outside_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def materialize(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return dagster(root, "asset", "materialize", "-m", "rag_assets.definitions", *arguments)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that `--partition-range` over its whole group has built."""
    root = tmp_path_factory.mktemp("ci") / "library"
    make_workspace(root, NOTES, SETTINGS)
    done = materialize(root, "--select", "group:thesis", "--partition-range", "0...f")
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def namespace(root: Path) -> Namespace:
    return Workspace.open(root).namespace("thesis")


@pytest.fixture
def instance(root: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance(Workspace.open(root)) as opened:
        yield opened


def test_a_range_over_the_group_publishes(namespace: Namespace) -> None:
    pointer = read_pointer(namespace.publications)
    assert pointer is not None
    assert set(pointer.built_from) == {"inventory", "configuration", "overrides", "code", "edits"}


def test_one_partition_of_one_stage_is_materialized(
    root: Path, instance: dg.DagsterInstance
) -> None:
    before = len(instance.get_runs())
    done = materialize(root, "--select", "thesis/chunks", "--partition", "a")
    assert done.returncode == 0, done.stderr
    assert "BetaWarning" not in done.stderr
    runs = instance.get_runs()
    assert len(runs) == before + 1
    assert runs[0].tags["dagster/partition"] == "a"


def test_a_registered_question_is_answered(root: Path, instance: dg.DagsterInstance) -> None:
    path = root / "queries/roofs.yaml"
    path.write_text("question: How much cooler is a green roof?\n")
    key = read_question(path).key
    instance.add_dynamic_partitions("questions", [key])
    bad = root / "queries/empty.yaml"
    bad.touch()  # harms no other
    done = materialize(root, "--select", "evidence_packs", "--partition", key)
    bad.unlink()
    assert done.returncode == 0, done.stderr
    assert "green roof" in (root / "outputs/evidence_pack_v001.md").read_text()


def test_a_question_that_asks_for_an_answer_gets_one_and_no_pack(
    root: Path, instance: dg.DagsterInstance
) -> None:
    path = root / "queries/cooler.yaml"
    path.write_text("question: How much cooler is a green roof?\nmode: answer\n")
    key = read_question(path).key
    instance.add_dynamic_partitions("questions", [key])
    done = materialize(root, "--select", "agent_answers", "--partition", key)
    assert done.returncode == 0, done.stderr
    assert "no language model wrote this" in (root / "outputs/answer_v001.md").read_text()
    refused = materialize(root, "--select", "evidence_packs", "--partition", key)
    assert refused.returncode == 1
    assert "Materialize agent_answers" in refused.stderr


def test_an_unregistered_key_is_refused(root: Path) -> None:
    done = materialize(root, "--select", "evidence_packs", "--partition", "nobody-000000000000")
    assert done.returncode == 1
    assert "nobody-000000000000" in done.stderr


def test_the_definitions_validate(root: Path) -> None:
    done = dagster(root, "definitions", "validate", "-m", "rag_assets.definitions")
    assert done.returncode == 0, done.stderr


def test_a_wrong_key_in_a_setting_is_named_by_validate(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library", {})
    (workspace.root / "namespaces/thesis.yaml").write_text("chunks: {}\n")
    done = dagster(workspace.root, "definitions", "validate", "-m", "rag_assets.definitions")
    # The other namespaces load all the same.
    assert done.returncode == 0
    assert "did you mean 'chunk'?" in done.stdout + done.stderr
