"""What a few modules take from Dagster's private modules still works as we use it.

A release of Dagster that renames one of them fails here, with its name, and not in a command.
"""

import importlib
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from rag_assets.running import origins

PRIVATE = {
    "dagster._core.workspace.context": ["WorkspaceProcessContext"],
    "dagster._core.workspace.load_target": ["WorkspaceFileTarget"],
    "dagster._daemon": ["__path__"],  # run by `-m`
    "dagster._core.definitions.job_base": ["InMemoryJob"],
    "dagster._core.execution.api": ["execute_run"],
    "dagster._core.remote_origin": [
        "ManagedGrpcPythonEnvCodeLocationOrigin",
        "RemoteJobOrigin",
        "RemoteRepositoryOrigin",
    ],
    "dagster._core.storage.event_log": ["ConsolidatedSqliteEventLogStorage"],
    "dagster._core.storage.sqlite": ["SQLITE_BUSY_TIMEOUT_SECONDS"],
    "dagster._core.types.loadable_target_origin": ["LoadableTargetOrigin"],
}


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in PRIVATE.items() for name in names]
)
def test_a_private_name_still_stands_where_it_stood(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name), (
        f"Dagster has no {module}.{name} any more: mend rag_assets/running"
    )


def test_no_other_private_name_is_used_anywhere() -> None:
    package = Path(origins.__file__).parents[1]
    users = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "dagster._" in path.read_text(encoding="utf-8")
    }
    assert users == {
        "running/instance.py", "running/origins.py", "running/webserver.py", "running/serving.py",
    }  # fmt: skip
    named = {
        name
        for user in users
        for name in re.findall(r"dagster\._[\w.]+", (package / user).read_text(encoding="utf-8"))
    }
    assert named == set(PRIVATE)


@dg.asset
def works() -> None: ...


@dg.asset
def fails() -> None:
    raise ValueError("on purpose")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def test_a_run_of_a_command_stands_under_its_assets_with_its_code_location(
    instance: dg.DagsterInstance,
) -> None:
    definitions = dg.Definitions(assets=[works, fails], executor=dg.in_process_executor)
    run = origins.execute_assets(
        definitions, instance, [dg.AssetKey("works")], {"rag/reason": "test"}
    )
    assert run.is_success
    assert run.asset_selection == {dg.AssetKey("works")}
    assert run.tags["rag/reason"] == "test"
    assert instance.get_latest_materialization_event(dg.AssetKey("works")) is not None
    origin = run.remote_job_origin
    assert origin is not None
    assert origin.job_name == origins.ASSET_JOB
    assert origin.location_name == origins.LOCATION


def test_a_failed_run_is_returned_and_not_raised(instance: dg.DagsterInstance) -> None:
    definitions = dg.Definitions(assets=[works, fails], executor=dg.in_process_executor)
    run = origins.execute_assets(definitions, instance, [dg.AssetKey("fails")], {})
    assert run.status == dg.DagsterRunStatus.FAILURE


def test_what_a_script_started_in_the_background_can_still_be_ended_after_a_run(
    instance: dg.DagsterInstance,
) -> None:
    definitions = dg.Definitions(assets=[works, fails], executor=dg.in_process_executor)
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminate = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        assert origins.execute_assets(
            definitions, instance, [dg.AssetKey("works")], {}
        ).is_success  # fmt: skip
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, interrupt)
        signal.signal(signal.SIGTERM, terminate)


def test_the_code_location_is_the_one_of_the_shipped_workspace_file() -> None:
    import yaml

    from rag_assets.workspace import shipped_file

    [entry] = yaml.safe_load(shipped_file("workspace.yaml").read_text())["load_from"]
    assert entry["python_module"] == {
        "module_name": origins.MODULE,
        "location_name": origins.LOCATION,
    }


def test_the_shipped_workspace_file_says_how_dagster_finds_a_workspace(tmp_path: Path) -> None:
    from rag_assets.workspace import create_workspace, environment_of, shipped_file

    workspace, _ = create_workspace(tmp_path, "thesis")
    text = shipped_file("workspace.yaml").read_text()
    for name, value in environment_of(workspace).items():
        shown = value.replace(str(tmp_path), "/path/to/library")
        assert f"{name}={shown}" in text


def test_the_repository_and_the_job_have_the_names_that_dagster_gives_them() -> None:
    definitions = dg.Definitions(assets=[works])
    assert definitions.resolve_implicit_global_asset_job_def().name == origins.ASSET_JOB
    assert definitions.get_repository_def().name == origins.REPOSITORY
