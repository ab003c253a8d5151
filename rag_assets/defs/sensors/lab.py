"""The sensor of a laboratory: new request files become runs; what commands did is shown."""

import time

import dagster as dg

from rag_assets.defs.assets import REASON_TAG, STATE_TAG, opened_lab, record_laboratory
from rag_assets.defs.sensors.attempts import attempts_of, default_status, is_busy
from rag_assets.model import RagError, hash_fields
from rag_assets.model.settings import Watching
from rag_assets.workspace import Workspace


def build_lab_sensors(workspace: Workspace, job_name: str) -> list[dg.SensorDefinition]:
    """Return the sensor of a workspace that has a laboratory."""

    @dg.sensor(
        name="lab_requests",
        job_name=job_name,
        minimum_interval_seconds=Watching.interval_seconds,
        default_status=default_status(),
        description="Makes the runs of every new file in requests/, and shows what commands and "
        "the desk did. A file that cannot be used is named and gets no run.",
    )
    def watch(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        try:
            return _look(Workspace.open(workspace.root), context.instance, job_name)
        except RagError as error:
            return dg.SkipReason(str(error))

    return [watch]


def _look(
    workspace: Workspace, instance: dg.DagsterInstance, job_name: str
) -> dg.RunRequest | dg.SkipReason:
    # Imported here: every command loads the sensors, few have a laboratory.
    from rag_assets.lab.queue import requested_runs
    from rag_assets.lab.runs import list_runs

    said: list[str] = []
    lab = opened_lab(workspace)
    if record_laboratory(lab, instance):
        said.append("what commands did was recorded")
    with lab.store.reading() as reading:
        done = {run.id for run, _ in list_runs(reading, "done")}
    rest = Watching.rest_seconds
    missing = [
        key
        for key, _, _, path in requested_runs(workspace, said)
        if key not in done and abs(time.time() - path.stat().st_ctime) >= rest
    ]
    if not missing or is_busy(instance, job_name=job_name):
        return dg.SkipReason("; ".join(said) or "nothing new")
    state = hash_fields(sorted(missing))
    attempts = attempts_of(instance, STATE_TAG, state)
    if attempts.is_exhausted:
        said.append(
            f"{', '.join(missing)}: not tried again, the last {attempts.failed} runs failed (run "
            f"{attempts.last_run_id}). Correct what it names, then materialize lab/recipe_runs."
        )
        return dg.SkipReason("; ".join(said))
    tags = {STATE_TAG: state, REASON_TAG: attempts.describe("not made yet")}
    return dg.RunRequest(run_key=f"{state}-{attempts.number}", tags=tags)
