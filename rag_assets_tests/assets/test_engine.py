"""The resource `engine`: a setting decides, a run may choose another, a platform binds its own."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from rag_assets.components import RagNamespace, RagWorkspace
from rag_assets.definitions import build_definitions, build_workspace_definitions
from rag_assets.defs.assets import ENGINE, EngineResource
from rag_assets.storage.execution import Execution
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.execution.elsewhere import Elsewhere
from rag_assets_tests.laws.driver import state_of
from rag_assets_tests.libraries import HASHING, make_workspace

FILES = {"evidence/roofs.md": "# Roofs\n\nWhite roofs stay cool.", "evidence/leaf.txt": "Stomata."}
# In `sys.modules` it stands for a package that is missing.
NO_RAY: Any = None


def library(root: Path, engine: str, files: Mapping[str, str] = FILES) -> Namespace:
    workspace = make_workspace(root, files, {**HASHING, "engine": engine})
    return workspace.namespace("thesis")


def materialized(
    definitions: dg.Definitions, config: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run all stages; return by stage which engine was told, and versions as Dagster keeps."""
    keys = [
        key
        for key in definitions.resolve_asset_graph().get_all_asset_keys()
        if key.path[0] == "thesis"
    ]
    tags = {"dagster/asset_partition_range_start": "0", "dagster/asset_partition_range_end": "f"}
    with dg.DagsterInstance.ephemeral() as instance:
        job = definitions.resolve_implicit_global_asset_job_def()
        run = job.execute_in_process(
            asset_selection=keys, instance=instance, tags=tags, run_config=dict(config or {})
        )
    told: dict[str, set[object]] = {}
    versions: dict[str, Any] = {}
    for event in run.get_asset_materialization_events():
        found = event.step_materialization_data.materialization
        stage = found.asset_key.path[-1]
        told.setdefault(stage, set()).add(found.metadata.get(ENGINE))
        versions[f"{stage} {found.partition}"] = {
            name: value for name, value in (found.tags or {}).items() if "event_id" not in name
        }
    engines = {
        stage: {value.value if isinstance(value, dg.TextMetadataValue) else value for value in each}
        for stage, each in told.items()
    }
    return {stage: each for stage, each in engines.items() if each != {None}}, versions


def stages_with_jobs(engine: str) -> dict[str, Any]:
    return {"parse_reports": {engine}, "embeddings": {engine}}


def chosen(engine: str) -> dict[str, Any]:
    return {"resources": {ENGINE: {"config": {"engine": engine}}}}


def test_without_a_choice_the_setting_of_this_moment_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", NO_RAY)
    # Nothing to do: Ray is named, and not started.
    workspace = library(tmp_path, "local", {}).workspace
    definitions = build_definitions(workspace)
    assert materialized(definitions)[0] == stages_with_jobs("local")
    config = workspace.root / "config.yaml"
    config.write_text(config.read_text().replace("local", "ray"))
    assert materialized(definitions)[0] == stages_with_jobs("ray")


def test_a_run_may_choose_another_engine_than_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", NO_RAY)
    definitions = build_definitions(library(tmp_path, "ray").workspace)
    assert materialized(definitions, chosen("local"))[0] == stages_with_jobs("local")
    with pytest.raises(dg.DagsterInvalidConfigError, match="got spark"):
        materialized(definitions, chosen("spark"))


def test_the_choice_of_ray_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", NO_RAY)
    definitions = build_definitions(library(tmp_path, "local").workspace)
    with pytest.raises(Exception, match=r"pip install 'rag-assets\[ray\]'"):
        materialized(definitions, chosen("ray"))


class OurPlatform(EngineResource):
    """An engine that hands over nothing but bytes, and its name."""

    def told(self, namespace: Namespace) -> str:
        return f"our platform for {namespace.name}"

    @contextmanager
    def opened(self, namespace: Namespace) -> Iterator[Execution]:
        yield Counting(namespace)


class Counting(Elsewhere):
    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace

    def map(self, kind: Any, jobs: Any, notify: Any, *, on_part: Any = None) -> Any:
        jobs = list(jobs)
        path = self.namespace.workspace.meta / "jobs.txt"
        with path.open("a") as file:
            file.write(f"{kind.name} {len(jobs)}\n" if jobs else "")
        return super().map(kind, jobs, notify, on_part=on_part)


def bound(definitions: dg.Definitions) -> dg.Definitions:
    """Return definitions as a platform's own code location holds them."""
    own = dg.Definitions(resources={ENGINE: OurPlatform()}, executor=dg.in_process_executor)
    return dg.Definitions.merge(definitions, own)


def test_an_engine_of_a_platform_changes_nothing_that_is_made_nor_its_versions(
    tmp_path: Path,
) -> None:
    here, there = (library(tmp_path / name, "local") for name in ("here", "there"))
    _, ours = materialized(build_definitions(here.workspace))
    told, theirs = materialized(bound(build_workspace_definitions(there.workspace, {})))
    assert told == stages_with_jobs("our platform for thesis")
    assert (there.workspace.meta / "jobs.txt").read_text() == "parse 2\nencode 1\n"
    assert state_of(there) == state_of(here)
    assert theirs == ours


@pytest.mark.parametrize("component", [RagNamespace, RagWorkspace])
def test_a_component_leaves_the_engine_to_a_project_that_binds_its_own(
    tmp_path: Path, component: type[RagNamespace | RagWorkspace]
) -> None:
    namespace = library(tmp_path, "local")
    given: dict[str, Any] = {"workspace": namespace.workspace.root}
    if component is RagNamespace:
        given["namespace"] = "thesis"
    context = dg.ComponentTree.for_test().load_context
    with pytest.raises(dg.DagsterInvariantViolationError, match="same key 'engine'"):
        bound(component(**given).build_defs(context))
    told, _ = materialized(bound(component(**given, binds_engine=False).build_defs(context)))
    assert told == stages_with_jobs("our platform for thesis")


def test_every_workspace_binds_one_engine_for_all_its_namespaces(tmp_path: Path) -> None:
    workspace = library(tmp_path, "local").workspace
    (tmp_path / "namespaces/law.yaml").write_text("engine: ray\n")
    resources = build_definitions(Workspace.open(workspace.root)).resources or {}
    assert [type(each) for each in resources.values()] == [EngineResource]
