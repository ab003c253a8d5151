"""Dagster's history in Postgres: the same runs and events as in files, from several processes."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest
import yaml

from rag_assets.definitions import build_definitions
from rag_assets.defs.assets.reporting import ENCODERS, publishers
from rag_assets.model import ConfigurationError, StorageError, UsageError
from rag_assets.running import ingest, materialize_stages, open_instance
from rag_assets.workspace import Workspace, create_workspace, shipped_file
from rag_assets_tests.e2e.workspaces import outside_environment, run_rag
from rag_assets_tests.laws.driver import make_workspace, put
from rag_assets_tests.postgres import Postgres, running_postgres, why_not

HOME_FILE = "meta/dagster/dagster.yaml"
NAMES = ("HOST", "PORT", "DB", "USERNAME", "PASSWORD")
NAMESPACES = [f"library_{number}" for number in range(10)]
PROCESSES = 4
INDEXES = ("first_index", "search_index")
# A run each; no file has passages yet, so that Dagster's work is all that is done.
RUNS = (("inventory", "raw_files"), ("embeddings",))
MATERIALIZE = """
import sys
from rag_assets.running import materialize_stages
from rag_assets.workspace import Workspace

workspace = Workspace.open(sys.argv[1])
for name in sys.argv[2:]:
    for stages in (("inventory", "raw_files"), ("embeddings",)):
        outcome = materialize_stages(workspace.namespace(name), stages)
        assert outcome.is_success, outcome.errors
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with running_postgres() as running:
        yield running


@contextmanager
def database(server: Postgres, name: str) -> Iterator[Mapping[str, str]]:
    """Make a database of a test's own on the server; yields the environment that names it."""
    from sqlalchemy import create_engine

    engine = create_engine(server.url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    with pytest.MonkeyPatch.context() as patch:
        environment = server.environment | {"DAGSTER_PG_DB": name}
        for variable, value in environment.items():
            patch.setenv(variable, value)
        yield environment


def for_team(root: Path, **namespaces: Mapping[str, object]) -> Workspace:
    create_workspace(root, "thesis", for_team=True)
    return make_workspace(root, **namespaces)


def events_of(instance: dg.DagsterInstance, run_id: str) -> Counter[tuple[str, ...]]:
    """Count what a run stored: each kind of event by asset and partition.

    What the engine says of its own doing is left out: a step that waits for its pool is said.
    """
    counted: Counter[tuple[str, ...]] = Counter()
    for entry in instance.all_logs(run_id):
        event = entry.dagster_event
        if event is not None and event.event_type_value != "ENGINE_EVENT":
            key = "/".join(event.asset_key.path[1:]) if event.asset_key else ""
            counted[event.event_type_value, key, event.partition or ""] += 1
    return counted


def test_the_file_for_a_team_is_taken_once_and_kept(tmp_path: Path) -> None:
    create_workspace(tmp_path, "thesis")
    one_machine = (tmp_path / HOME_FILE).read_text()
    _, made = create_workspace(tmp_path, "thesis", for_team=True)
    assert made == [HOME_FILE]
    team = (tmp_path / HOME_FILE).read_text()
    assert "postgres" in team and "postgres" not in one_machine
    for flag in (False, True):
        assert create_workspace(tmp_path, "thesis", for_team=flag)[1] == []
    assert (tmp_path / HOME_FILE).read_text() == team


def test_an_edited_file_of_dagster_is_not_replaced(tmp_path: Path) -> None:
    create_workspace(tmp_path, "thesis")
    edited = (tmp_path / HOME_FILE).read_text() + "# mine\n"
    (tmp_path / HOME_FILE).write_text(edited)
    with pytest.raises(UsageError, match="edited"):
        create_workspace(tmp_path, "thesis", for_team=True)
    assert (tmp_path / HOME_FILE).read_text() == edited


def test_a_file_for_a_team_to_which_something_was_added_is_still_one(tmp_path: Path) -> None:
    create_workspace(tmp_path, "thesis", for_team=True)
    added = (tmp_path / HOME_FILE).read_text() + "run_launcher: {module: dagster_docker}\n"
    (tmp_path / HOME_FILE).write_text(added)
    assert create_workspace(tmp_path, "thesis", for_team=True)[1] == []
    assert (tmp_path / HOME_FILE).read_text() == added


def test_what_encodes_or_publishes_is_of_a_pool_that_the_file_for_a_team_limits(
    tmp_path: Path,
) -> None:
    workspace = make_workspace(tmp_path, one={}, other={})
    pools = {
        asset.key.to_user_string(): asset.op.pool
        for asset in build_definitions(workspace).assets or ()
        if isinstance(asset, dg.AssetsDefinition) and asset.is_executable
    }
    limited = {key: pool for key, pool in pools.items() if pool}
    encoding = ("one/embeddings", "other/embeddings")
    publishing = [(name, f"{name}/{a}") for name in ("one", "other") for a in INDEXES]
    assert limited == dict.fromkeys(encoding, ENCODERS) | {
        key: publishers(name) for name, key in publishing
    }
    team = yaml.safe_load(shipped_file("dagster-team.yaml").read_text())
    assert team["concurrency"]["pools"] == {"granularity": "op", "default_limit": 1}


def test_what_the_environment_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dagster_postgres", reason="`pip install 'rag-assets[postgres]'`")
    workspace = for_team(tmp_path)
    for name in NAMES:
        monkeypatch.delenv(f"DAGSTER_PG_{name}", raising=False)
    with (tmp_path / ".env").open("a") as env:
        env.write("DAGSTER_PG_HOST=127.0.0.1\nDAGSTER_PG_PORT=1\n")
    with pytest.raises(ConfigurationError) as raised, open_instance(workspace):
        pass
    assert "DAGSTER_PG_DB, DAGSTER_PG_USERNAME, DAGSTER_PG_PASSWORD" in str(raised.value)
    assert "DAGSTER_PG_HOST" not in str(raised.value)


def test_a_server_that_does_not_answer_is_said_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    utils = pytest.importorskip(
        "dagster_postgres.utils", reason="`pip install 'rag-assets[postgres]'`"
    )
    monkeypatch.setattr(utils, "time", SimpleNamespace(sleep=lambda seconds: None))
    for name, value in zip(NAMES, ("127.0.0.1", "1", "d", "u", "hidden-word"), strict=True):
        monkeypatch.setenv(f"DAGSTER_PG_{name}", value)
    with pytest.raises(StorageError) as raised, open_instance(for_team(tmp_path)):
        pass
    assert "Is the server running" in str(raised.value)
    assert "hidden-word" not in str(raised.value)


@pytest.mark.slow
def test_a_run_stores_the_same_events_as_in_files(server: Postgres, tmp_path: Path) -> None:
    stored = []
    with database(server, "same_events"):
        for workspace in (make_workspace(tmp_path / "files"), for_team(tmp_path / "team")):
            put(workspace, "evidence/a.md", "Roofs are cool.\n")
            outcome = ingest(workspace.namespace("lib"))
            assert outcome.is_success, outcome.errors
            with open_instance(workspace) as instance:
                storage = type(instance.event_log_storage).__name__
                keys = sorted(key.to_user_string() for key in instance.all_asset_keys())
                stored.append((keys, events_of(instance, outcome.run_id)))
        assert storage == "PostgresEventLogStorage"
    in_files, in_postgres = stored
    assert in_postgres == in_files
    assert in_files[1]["ASSET_MATERIALIZATION", "embeddings", "a"] == 1
    assert not (tmp_path / "team/meta/dagster/event_log.db").exists()


@pytest.mark.slow
def test_both_commands_find_the_database_by_the_workspace_s_own_file(
    server: Postgres, tmp_path: Path
) -> None:
    with database(server, "commands") as environment:
        workspace = for_team(tmp_path)
        put(workspace, "evidence/a.md", "Roofs are cool.\n")
    with (tmp_path / ".env").open("a") as env:
        env.writelines(f"{name}={value}\n" for name, value in environment.items())
    ran = run_rag("--workspace", tmp_path, "ingest")
    assert ran.returncode == 0, ran.stderr
    command = [sys.executable, "-m", "dagster", "asset", "materialize", "--partition", "a"]
    command += ["-m", "rag_assets.definitions", "--select", "lib/chunks"]
    by_dagster = subprocess.run(
        command,
        cwd=tmp_path,
        env=outside_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert by_dagster.returncode == 0, by_dagster.stderr
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        with open_instance(workspace) as instance:
            chunks = dg.AssetKey(["lib", "chunks"])
            made = instance.fetch_materializations(
                dg.AssetRecordsFilter(chunks, asset_partitions=["a"]), limit=10
            )
            assert len({record.run_id for record in made.records}) == 2
            assert all(run.is_success for run in instance.get_runs())


@pytest.mark.slow
def test_many_partitions_from_several_processes_lose_no_event(
    server: Postgres, tmp_path: Path
) -> None:
    settings = {"hex_digits": 2}
    alone = make_workspace(tmp_path / "files", library_0=settings)
    put(alone, "evidence/a.md", "Roofs are cool.\n")
    made = [materialize_stages(alone.namespace("library_0"), stages).run_id for stages in RUNS]
    with open_instance(alone) as instance:
        in_files = [events_of(instance, run) for run in made]
    assert in_files[0]["ASSET_MATERIALIZATION", "raw_files", "ff"] == 1
    with database(server, "many_partitions"):
        workspace = for_team(tmp_path / "team", **dict.fromkeys(NAMESPACES, settings))
        put(workspace, "evidence/a.md", "Roofs are cool.\n")
        _materialize_side_by_side(workspace)
        with open_instance(workspace) as instance:
            runs = instance.get_runs()
            assert all(run.is_success for run in runs)
            stored = [events_of(instance, run.run_id) for run in runs]
            assert [stored.count(expected) for expected in in_files] == [len(NAMESPACES)] * 2
            assert len(stored) == 2 * len(NAMESPACES)
            keys = set(workspace.namespace(NAMESPACES[0]).partition_keys)
            assert len(keys) == 256
            for name in NAMESPACES:
                for stage in ("raw_files", "embeddings"):
                    asset = dg.AssetKey([name, stage])
                    assert instance.get_materialized_partitions(asset) == keys
            assert instance.event_log_storage.get_concurrency_info(ENCODERS).slot_count == 1
            _assert_one_at_a_time(instance, [run.run_id for run in runs])


def _materialize_side_by_side(workspace: Workspace) -> None:
    script = [sys.executable, "-c", MATERIALIZE, str(workspace.root)]
    started = [
        subprocess.Popen(
            [*script, *NAMESPACES[first::PROCESSES]], stderr=subprocess.PIPE, text=True
        )
        for first in range(PROCESSES)
    ]
    told = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0] * PROCESSES, told


def _assert_one_at_a_time(instance: dg.DagsterInstance, runs: Sequence[str]) -> None:
    """Say that no step of the pool began before the one before it had ended."""
    spans = []
    for run in runs:
        times = {
            event.event_type_value: entry.timestamp
            for entry in instance.all_logs(run)
            if (event := entry.dagster_event) and (event.step_key or "").endswith("embeddings")
        }
        if times:
            spans.append((times["STEP_START"], times["STEP_SUCCESS"]))
    spans.sort()
    assert len(spans) == len(NAMESPACES)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
