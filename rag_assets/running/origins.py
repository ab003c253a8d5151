"""Runs, with Dagster's private names; a contract test holds each of them.

A run that is created here stands in the UI like one that was launched there: under its assets,
with its code location, so that it can be executed again from the UI. The public ways give either
a run without a selection (`dg.materialize`) or one without a code location
(`execute_in_process`).
"""

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from rag_assets.running.serving import LOCATION, MODULE

# The names that Dagster gives a Definitions object's repository and its job over all assets.
REPOSITORY = "__repository__"
ASSET_JOB = "__ASSET_JOB"
# The stored events stay; the terminal belongs to the command.
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def execute_assets(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    selection: Sequence[dg.AssetKey],
    tags: Mapping[str, str],
) -> dg.DagsterRun:
    """Run assets in this process on the workspace's instance; returns the finished run."""
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(
        asset_selection=frozenset(selection)
    )
    run = instance.create_run_for_job(
        job_def=job,
        run_config=_QUIET,
        tags=dict(tags),
        asset_selection=frozenset(selection),
        remote_job_origin=job_origin(),
    )
    with _kept_termination():
        execute_run(InMemoryJob(job), run, instance, raise_on_error=False)
    finished = instance.get_run_by_id(run.run_id)
    if finished is None:
        raise RuntimeError(f"run {run.run_id} is not on the instance any more")
    return finished


@contextmanager
def _kept_termination() -> Iterator[None]:
    """Leave SIGTERM as it was.

    A run leaves it as it found SIGINT, which is ignored in what a script starts in the background.
    Then nothing but SIGKILL would end this process any more, nor what it starts: the next run waits
    a minute for the two `tail` that follow its output, and leaves them behind.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Dagster changes no handler there, and none can be set
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None:  # one that was not set by Python cannot be set again by it
            signal.signal(signal.SIGTERM, before)


def job_origin() -> Any:
    """Return where the UI finds the job: the code location of workspace.yaml."""
    location = ManagedGrpcPythonEnvCodeLocationOrigin(
        loadable_target_origin=LoadableTargetOrigin(module_name=MODULE), location_name=LOCATION
    )
    return RemoteJobOrigin(RemoteRepositoryOrigin(location, REPOSITORY), ASSET_JOB)
