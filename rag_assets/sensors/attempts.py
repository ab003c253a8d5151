"""How often a state has been tried: a run key is spent for ever, even by a failed run."""

from dataclasses import dataclass

import dagster as dg

MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Attempts:
    """The runs that a tag value has had on the instance."""

    failed: int
    succeeded: int
    is_running: bool
    last_run_id: str

    @property
    def number(self) -> int:
        """Number of the next attempt, from 1."""
        return self.failed + self.succeeded + 1

    @property
    def is_exhausted(self) -> bool:
        """Whether trying again would only repeat a failure."""
        return self.number > MOST_ATTEMPTS


def attempts_of(instance: dg.DagsterInstance, tag: str, value: str) -> Attempts:
    """Return the runs that carry `tag` with `value`, newest first."""
    runs = instance.get_runs(dg.RunsFilter(tags={tag: value}), limit=MOST_ATTEMPTS + 1)
    return Attempts(
        sum(
            run.status in {dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}
            for run in runs
        ),
        sum(run.status == dg.DagsterRunStatus.SUCCESS for run in runs),
        any(not run.is_finished for run in runs),
        runs[0].run_id if runs else "",
    )


def is_busy(instance: dg.DagsterInstance, tag: str, value: str) -> bool:
    """Say whether an unfinished run carries `tag` with `value`."""
    unfinished = [
        dg.DagsterRunStatus.QUEUED,
        dg.DagsterRunStatus.NOT_STARTED,
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
        dg.DagsterRunStatus.CANCELING,
    ]
    found = instance.get_runs(dg.RunsFilter(tags={tag: value}, statuses=unfinished), limit=1)
    return bool(found)
