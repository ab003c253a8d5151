"""However `rag ui` ends, all that it started ends too, also while a run is under way."""

import signal
from pathlib import Path

import psutil
import pytest

from rag_assets.storage import hold_lock
from rag_assets.workspace import Namespace, lock_inventory
from rag_assets_tests.e2e.browsing import STOP_SECONDS, Server, serve
from rag_assets_tests.e2e.workspaces import NOTES, SETTINGS, marked_processes
from rag_assets_tests.libraries import make_workspace

pytestmark = [pytest.mark.ui, pytest.mark.slow]

LAUNCH = """mutation($job: JobOrPipelineSelector!) {
  launchPipelineExecution(executionParams: {selector: $job, mode: "default", runConfigData: {}}) {
    __typename ... on PythonError { message }
  }
}"""
STARTED = "{ runsOrError(filter: {statuses: [STARTED]}) { ... on Runs { results { runId } } } }"
JOB = {
    "repositoryLocationName": "rag_assets",
    "repositoryName": "__repository__",
    "pipelineName": "__ASSET_JOB",
    "assetSelection": [{"path": ["thesis", "inventory"]}],
}


def start_run(server: Server) -> None:
    """Return once a run is under way."""
    launched = server.ask(LAUNCH, job=JOB)["launchPipelineExecution"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    server.wait("the run", lambda: server.ask(STARTED)["runsOrError"]["results"], 240)


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGKILL], ids=["asked", "killed"])
def test_nothing_outlives_the_ui_while_a_run_waits(tmp_path: Path, asked: signal.Signals) -> None:
    namespace = make_workspace(tmp_path / "library", NOTES, SETTINGS).namespace("thesis")
    assert left_after(namespace, asked, tmp_path / "ui.log") == []


def left_after(namespace: Namespace, asked: signal.Signals, log: Path) -> list[str]:
    """Return the command lines of what outlives `rag ui` when it ends during a run."""
    # The run waits for the lock as long as it lives.
    with (
        hold_lock(lock_inventory(namespace), "the inventory", lambda _: None),
        serve(namespace.workspace.root, log) as server,
    ):
        start_run(server)
        family = marked_processes(server.mark)
        server.process.send_signal(asked)
        server.process.wait(STOP_SECONDS)
        psutil.wait_procs(family, timeout=STOP_SECONDS)
        return [" ".join(each.cmdline()) for each in marked_processes(server.mark)]
