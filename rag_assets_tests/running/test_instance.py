"""What a command that runs something opens and imports, and what it leaves alone."""

import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite import consolidated_sqlite_event_log

from rag_assets.running import open_instance
from rag_assets.workspace import create_workspace


def test_the_history_stays_open_between_two_events(tmp_path: Path) -> None:
    workspace, _ = create_workspace(tmp_path, "papers")
    with open_instance(workspace):
        pass  # the databases are made
    log = workspace.dagster_home / "event_log.db-wal"
    with open_instance(workspace) as instance:
        for number in range(2):
            instance.report_runless_asset_event(dg.AssetMaterialization(f"made-{number}"))
            # Who closes a database last removes its log; Dagster closes it behind each event.
            assert log.stat().st_size > 0
    assert not log.exists()
    with open_instance(workspace) as instance:
        assert len(instance.all_asset_keys()) == 2


def test_an_engine_of_the_event_log_serves_every_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    original = consolidated_sqlite_event_log.create_engine

    def create_engine(url: str, **options: object) -> object:
        made.append(url)
        return original(url, **options)

    monkeypatch.setattr(consolidated_sqlite_event_log, "create_engine", create_engine)
    workspace, _ = create_workspace(tmp_path, "papers")
    with open_instance(workspace) as instance:
        assert made  # it is Dagster's own that is watched
        made.clear()
        for number in range(3):
            instance.report_runless_asset_event(dg.AssetMaterialization(f"made-{number}"))
        assert len(instance.all_asset_keys()) == 3
        assert made == []


IMPORTS = """
import sys
import rag_assets.running
assert "dagster" not in sys.modules, "a parsing worker cannot start before Dagster is imported"
import rag_assets.definitions
idle = {"rag_assets.auditing", "rag_assets.judging", "rag_assets.retrieval", "requests", "httpx"}
assert not idle & sys.modules.keys(), idle & sys.modules.keys()
"""


def test_a_build_imports_nothing_that_audits_searches_or_downloads() -> None:
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
