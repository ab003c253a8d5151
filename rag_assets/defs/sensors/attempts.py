"""How often a state has been tried: a run key is spent for ever, even by a failed run."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import dagster as dg

from rag_assets.workspace import SENSORS_VARIABLE

MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Attempts:
    """The runs that a state, or a partition in a job, has had on the instance."""

    failed: int
    succeeded: int
    is_running: bool
    last_run_id: str

    @property
    def number(self) -> int:
        """Number of the next attempt, from 1."""
        return self.failed + self.succeeded + 1

    def describe(self, reason: str) -> str:
        """Return why a run is asked for, and which attempt it is where one has failed before."""
        return reason if self.number == 1 else f"{reason} (attempt {self.number})"

    @property
    def is_exhausted(self) -> bool:
        """Whether trying again would only repeat a failure."""
        return self.number > MOST_ATTEMPTS


def attempts_of(
    instance: dg.DagsterInstance, tag: str, value: str, job_name: str | None = None
) -> Attempts:
    """Return the runs that carry `tag` with `value`, of one job or of any, newest first."""
    wanted = dg.RunsFilter(tags={tag: value}, job_name=job_name)
    runs = instance.get_runs(wanted, limit=MOST_ATTEMPTS + 1)
    return Attempts(
        sum(
            run.status in {dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}
            for run in runs
        ),
        sum(run.status == dg.DagsterRunStatus.SUCCESS for run in runs),
        any(not run.is_finished for run in runs),
        runs[0].run_id if runs else "",
    )


def is_busy(
    instance: dg.DagsterInstance,
    *,
    job_name: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> bool:
    """Say whether a run of the job, or with the tags, is not finished."""
    unfinished = [
        dg.DagsterRunStatus.QUEUED,
        dg.DagsterRunStatus.NOT_STARTED,
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
        dg.DagsterRunStatus.CANCELING,
    ]
    wanted = dg.RunsFilter(job_name=job_name, tags=tags or {}, statuses=unfinished)
    return bool(instance.get_runs(wanted, limit=1))


def default_status() -> dg.DefaultSensorStatus:
    """Return the status of a sensor that nobody has switched on or off in the UI."""
    is_off = os.environ.get(SENSORS_VARIABLE) == "off"
    return dg.DefaultSensorStatus.STOPPED if is_off else dg.DefaultSensorStatus.RUNNING
