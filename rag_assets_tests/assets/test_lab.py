"""The laboratory in Dagster: request files become runs, runs are checked, no circle."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from rag_assets.definitions import build_definitions
from rag_assets.lab.laboratory import Laboratory, open_laboratory
from rag_assets.lab.queue import parse_request, submit_request, work
from rag_assets.lab.runs import Run, list_runs
from rag_assets.model.settings import Watching
from rag_assets.workspace import Workspace
from rag_assets_tests.lab.bases import make_bases
from rag_assets_tests.lab.laboratories import AT


@pytest.fixture(autouse=True)
def files_rest_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watching, "rest_seconds", 0.0)


RUNS = dg.AssetKey(["lab", "recipe_runs"])
REQUEST = {"text": "A recipe for ethylene from CO2.", "n": 2}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bases(tmp_path_factory.mktemp("bases") / "lab").root


@pytest.fixture
def root(tmp_path: Path, library: Path) -> Path:
    made = tmp_path / "lab"
    shutil.copytree(library, made)
    (made / "requests").mkdir()
    (made / "requests" / "ethylene.yaml").write_text(yaml.safe_dump(REQUEST), encoding="utf-8")
    return made


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as made:
        yield made


def defs_of(root: Path) -> dg.Definitions:
    return build_definitions(Workspace.open(root))


def tick(root: Path, instance: dg.DagsterInstance) -> Any:
    (sensor,) = [one for one in defs_of(root).sensors or () if one.name == "lab_requests"]
    with dg.build_sensor_context(instance=instance) as context:
        return sensor(context)  # type: ignore[operator]


def make(root: Path, instance: dg.DagsterInstance, **more: Any) -> Any:
    job = defs_of(root).resolve_job_def("make_recipes")
    return job.execute_in_process(instance=instance, **more)


def lab_of(root: Path) -> Laboratory:
    return open_laboratory(Workspace.open(root))


def runs_of(root: Path) -> list[Run]:
    lab = lab_of(root)
    with lab.store.reading() as reading:
        return [run for run, _ in list_runs(reading)]


def test_a_request_file_becomes_runs_that_are_made(
    root: Path, instance: dg.DagsterInstance
) -> None:
    assert tick(root, instance).tags["rag/reason"] == "not made yet"
    ran = make(root, instance)
    assert ran.success
    (made,) = ran.asset_materializations_for_node("lab__recipe_runs")
    assert (made.metadata["runs"].value, made.metadata["done"].value) == (2, 2)
    assert "CuMo-TiO2" in made.metadata["preview"].value
    assert tick(root, instance).skip_message == "nothing new"
    # What is done is not made again.
    assert make(root, instance).success
    assert [run.snapshot["attempt"] for run in runs_of(root)] == [1, 1]


def test_runs_of_commands_are_recorded_in_the_ui(root: Path, instance: dg.DagsterInstance) -> None:
    (root / "requests" / "ethylene.yaml").unlink()
    lab = lab_of(root)
    submit_request(lab, parse_request({"text": "Ethylene!"}), at=AT, by="ana")
    work(lab, now=lambda: AT, clock=lambda: 0.0)
    assert tick(root, instance).skip_message == "what commands did was recorded"
    event = instance.get_latest_materialization_event(RUNS)
    assert event is not None
    assert event.asset_materialization is not None
    assert event.asset_materialization.metadata["done"].value == 1
    assert tick(root, instance).skip_message == "nothing new"


def test_a_file_that_cannot_be_used_is_named(root: Path, instance: dg.DagsterInstance) -> None:
    (root / "requests" / "ethylene.yaml").write_text("text: Ethylene\nruns: 3\n", encoding="utf-8")
    assert "ethylene.yaml: 'runs'" in tick(root, instance).skip_message


def test_a_run_that_fails_is_told_and_tried_again(root: Path, instance: dg.DagsterInstance) -> None:
    shutil.move(root / "index" / "kb_modulation", root / "index" / "away")
    asked = tick(root, instance)
    assert not make(root, instance, raise_on_error=False, tags=dict(asked.tags)).success
    shutil.move(root / "index" / "away", root / "index" / "kb_modulation")
    again = tick(root, instance)
    assert again.tags["rag/reason"] == "not made yet (attempt 2)"
    assert make(root, instance, tags=dict(again.tags)).success
    assert {run.state for run in runs_of(root)} == {"done"}


def test_a_workspace_without_a_laboratory_has_none_of_its_assets(root: Path) -> None:
    other = root.with_name("without")
    shutil.copytree(root, other)
    values = yaml.safe_load((root / "config.yaml").read_text("utf-8"))
    del values["lab"]
    (other / "config.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    assert names_of(other) < names_of(root)
    assert names_of(root) - names_of(other) == {
        "lab/recipe_runs", "lab_requests", "make_recipes",
    }  # fmt: skip


def names_of(root: Path) -> set[str]:
    """Return the names of all assets, checks, sensors and jobs of a workspace."""
    defs = defs_of(root)
    graph = defs.resolve_asset_graph()
    return {
        *(key.to_user_string() for key in graph.get_all_asset_keys()),
        *(key.name for key in graph.asset_check_keys),
        *(sensor.name for sensor in defs.sensors or ()),
        *(job.name for job in defs.resolve_all_job_defs() if not job.name.startswith("__")),
    }
