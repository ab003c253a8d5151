"""Dagster's `dg`, as the README shows it: the same definitions, the same results as `dagster`."""

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from rag_assets.definitions import build_definitions
from rag_assets.running import open_instance
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    open_namespace,
    outside_environment,
    published_state,
)
from rag_assets_tests.libraries import build, make_workspace

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
(_BLOCK,) = re.findall(r"^```bash dg\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [line for line in _BLOCK.splitlines() if line and not line.startswith("#")]
CHECK, LIST, WHOLE, ONE = COMMANDS


def run(command: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command line as a person would, who has installed the package."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        # `dg` counts its commands in the home folder before it reads the workspace's `.env`.
        env=outside_environment(PATH=path, HOME=str(folder), COLUMNS="300", **environment),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def done(command: str, folder: Path, **environment: str) -> str:
    ran = run(command, folder, **environment)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return ran.stdout


# What `dagster` does is tested in `make test`; `dg` is another face on the same definitions.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that `dg launch` over its whole group has built."""
    root = tmp_path_factory.mktemp("dg") / "library"
    make_workspace(root, NOTES, SETTINGS)
    done(WHOLE, root)
    return root


@pytest.fixture
def namespace(root: Path) -> Namespace:
    return open_namespace(root)


@pytest.fixture
def instance(root: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance(Workspace.open(root)) as opened:
        yield opened


def test_a_range_launched_by_dg_publishes_what_a_clean_build_does(
    namespace: Namespace, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    other = make_workspace(tmp_path / "library", NOTES, SETTINGS).namespace("thesis")
    build(other)
    assert published_state(namespace) == published_state(other)
    # On the workspace's own instance, which `.env` names.
    assert instance.get_materialized_partitions(dg.AssetKey(["thesis", "chunks"])) == set(
        namespace.partition_keys
    )


def test_one_partition_is_launched(root: Path, instance: dg.DagsterInstance) -> None:
    before = len(instance.get_runs())
    done(ONE, root)
    runs = instance.get_runs()
    assert len(runs) == before + 1
    assert (runs[0].status, runs[0].tags["dagster/partition"]) == (
        dg.DagsterRunStatus.SUCCESS,
        "a",
    )


def test_what_dg_lists_are_the_definitions(root: Path, namespace: Namespace) -> None:
    listed: dict[str, Any] = json.loads(done(f"{LIST} --json", root))
    graph = build_definitions(namespace.workspace).resolve_asset_graph()
    keys = {key for key in graph.get_all_asset_keys() if key.path[0] == "thesis"}
    assert {each["asset_key"] for each in listed["assets"]} == {
        key.to_user_string() for key in keys
    }
    checks = {f"{c.asset_key.to_user_string()}:{c.name}" for c in graph.asset_check_keys
              if c.asset_key in keys}  # fmt: skip
    assert {each["key"] for each in listed["asset_checks"]} == checks
    assert "thesis/search_index" in done(LIST, root)


def test_dg_checks_the_definitions_of_a_workspace(root: Path) -> None:
    assert "All definitions loaded successfully" in done(CHECK, root)


def test_dg_works_at_the_root_of_the_repository_on_the_workspace_that_is_named(root: Path) -> None:
    home = str(root / "meta/dagster")
    at_root = done(
        f"cd '{ROOT}' && {LIST} --json", root, RAG_WORKSPACE=str(root), DAGSTER_HOME=home
    )
    in_workspace = done(f"{LIST} --json", root)
    # Checks come in the order of a set.
    first, second = (sorted(json.loads(each)["asset_checks"], key=itemgetter("key"))
                     for each in (at_root, in_workspace))  # fmt: skip
    assert first == second
    assert json.loads(at_root)["assets"] == json.loads(in_workspace)["assets"]


def test_dg_says_which_workspace_is_missing(tmp_path: Path) -> None:
    ran = run(f"cd '{ROOT}' && {CHECK}", tmp_path, DAGSTER_HOME=str(tmp_path))
    assert ran.returncode == 1
    assert "rag init" in ran.stdout + ran.stderr


class TestInAProjectOfOnesOwn:
    """The components in YAML."""

    @pytest.fixture
    def project(self, tmp_path: Path, root: Path) -> Path:
        """A project as `dg` scaffolds it, of which nothing is about us."""
        files = {
            "pyproject.toml": """\
                [project]
                name = "own"
                version = "0"

                [tool.dg]
                directory_type = "project"

                [tool.dg.project]
                root_module = "own"
                """,
            "own/__init__.py": "",
            "own/defs/__init__.py": "",
            "own/defs/mine.py": """\
                import dagster as dg

                @dg.asset(deps=[dg.AssetKey(["thesis", "search_index"])])
                def mine() -> None: ...
                """,
            "own/definitions.py": """\
                from pathlib import Path
                import dagster as dg

                @dg.definitions
                def defs() -> dg.Definitions:
                    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)
                """,
        }
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        (tmp_path / "library").symlink_to(root)
        return tmp_path

    @staticmethod
    def declare(project: Path, kind: str, **attributes: str) -> None:
        lines = [f"type: rag_assets.{kind}", "attributes:"]
        lines += [f"  {name}: {value}" for name, value in attributes.items()]
        (project / "own/defs/library").mkdir()
        (project / "own/defs/library/defs.yaml").write_text("\n".join(lines) + "\n")

    @staticmethod
    def listed(project: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            done("dg list defs --json", project, PYTHONPATH=str(project))
        )
        return found

    def test_a_namespace_is_a_component(self, project: Path, root: Path) -> None:
        self.declare(project, "RagNamespace", workspace="../../../library", namespace="thesis")
        found = self.listed(project)
        graph = build_definitions(Workspace.open(root)).resolve_asset_graph()
        stages = {k.to_user_string() for k in graph.get_all_asset_keys() if len(k.path) == 2}
        assert {each["asset_key"] for each in found["assets"]} == {*stages, "mine"}
        assert [each["name"] for each in found["jobs"]] == ["thesis_ingest"]
        names = {each["name"] for each in found["sensors"]}
        assert names == {"thesis_raw_files", "thesis_configuration", "thesis_chunk_edits"}
        environment = {"PYTHONPATH": str(project), "DAGSTER_HOME": str(root / "meta/dagster")}
        done("dg check defs", project, **environment)
        # The stages run in that project as they do in ours: on what was built nothing is done.
        done("dg launch --job thesis_ingest --partition-range '0...f'", project, **environment)

    def test_a_workspace_is_a_component(self, project: Path) -> None:
        self.declare(project, "RagWorkspace", workspace="../../../library")
        assert {"mine", "thesis/chunks", "evidence_packs", "agent_answers"} <= {
            each["asset_key"] for each in self.listed(project)["assets"]
        }

    def test_a_namespace_that_there_is_not_is_named(self, project: Path) -> None:
        self.declare(project, "RagNamespace", workspace="../../../library", namespace="thesi")
        ran = run("dg check defs", project, PYTHONPATH=str(project))
        assert ran.returncode == 1
        assert "has no namespace 'thesi' (declared: thesis)" in ran.stdout + ran.stderr

    def test_a_wrong_attribute_is_found_by_its_place_in_the_file(self, project: Path) -> None:
        self.declare(project, "RagNamespace", workspace="../../../library", namspace="thesis")
        ran = run("dg check yaml", project, PYTHONPATH=str(project))
        assert ran.returncode == 1
        assert "namspace" in ran.stdout + ran.stderr
        assert "defs.yaml:" in ran.stdout + ran.stderr


def test_both_components_are_listed_for_everybody(tmp_path: Path) -> None:
    (tmp_path / "dg.toml").write_text('directory_type = "project"\n[project]\nroot_module = "x"\n')
    found = json.loads(done("dg list components --package rag_assets --json", tmp_path))
    assert {each["key"] for each in found["items"]} == {
        "rag_assets.RagNamespace",
        "rag_assets.RagWorkspace",
    }, "install the package anew: its entry points are those of an older version"
