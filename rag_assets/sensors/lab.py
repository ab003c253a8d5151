"""The sensor `lab_requests`: new files in requests/ become runs; runs of commands are told."""

import time

import dagster as dg

from rag_assets.assets import (
    REASON_TAG,
    RECIPE_RUNS,
    RUNS_ASSET,
    STATE_TAG,
    record_done_runs,
)
from rag_assets.model import RagError
from rag_assets.sensors.attempts import attempts_of, is_busy
from rag_assets.workspace import Workspace


def build_lab_sensor(workspace: Workspace, job_name: str) -> dg.SensorDefinition:
    """Return the sensor of a workspace that has a laboratory."""

    @dg.sensor(
        name="lab_requests",
        job_name=job_name,
        minimum_interval_seconds=workspace.settings.sensors.interval_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Makes the runs of every new file in requests/, one at a time, and records "
        "those that a command made. A file that cannot be used is named and gets no run.",
    )
    def watch(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        try:
            return _look(Workspace.open(workspace.root), context.instance, job_name)
        except RagError as error:
            return dg.SkipReason(str(error))

    return watch


def _look(
    workspace: Workspace, instance: dg.DagsterInstance, job_name: str
) -> dg.SensorResult | dg.SkipReason:
    from rag_assets.lab.queueing import requested_keys

    recorded = record_done_runs(workspace, instance)
    said: list[str] = [f"{recorded} runs of commands were recorded"] if recorded else []
    rest = workspace.settings.sensors.rest_seconds
    wanted = [
        key
        for key, path in requested_keys(workspace, said)
        if abs(time.time() - path.stat().st_ctime) >= rest
    ]
    made = instance.get_materialized_partitions(RUNS_ASSET)
    known = set(instance.get_dynamic_partitions(str(RECIPE_RUNS.name)))
    missing = [key for key in wanted if key not in made]
    if not missing or is_busy(instance, job_name=job_name):
        return dg.SkipReason("; ".join(said) or "nothing new")
    for key in missing:
        attempts = attempts_of(instance, STATE_TAG, key)
        if attempts.is_exhausted:
            said.append(
                f"'{key}' is not tried again: its last {attempts.failed} runs failed (run "
                f"{attempts.last_run_id}). Mend what it names, then materialize the partition."
            )
            continue
        return dg.SensorResult(
            run_requests=[
                dg.RunRequest(
                    run_key=f"{key}-{attempts.number}",
                    partition_key=key,
                    tags={STATE_TAG: key, REASON_TAG: attempts.describe("not made yet")},
                )
            ],
            dynamic_partitions_requests=[RECIPE_RUNS.build_add_request([key])]
            if key not in known
            else [],
        )
    return dg.SkipReason("; ".join(said))
