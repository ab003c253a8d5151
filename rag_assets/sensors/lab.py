"""Sensors of a laboratory: new request files become runs, feedback is compared and learned from.

What commands did of both is recorded.
"""

import time
from collections.abc import Callable, Sequence

import dagster as dg

from rag_assets.assets import (
    FEEDBACK_REVISIONS,
    INDEX_ASSET,
    REASON_TAG,
    RECIPE_RUNS,
    RUNS_ASSET,
    STATE_TAG,
    experience_metadata,
    opened_lab,
    published_experience,
    record_done_runs,
    record_feedback,
)
from rag_assets.model import RagError, count_of
from rag_assets.sensors.attempts import attempts_of, default_status, is_busy
from rag_assets.workspace import Workspace

_Answer = dg.SensorResult | dg.SkipReason
_Look = Callable[[Workspace, dg.SensorEvaluationContext, str], _Answer]


def build_lab_sensors(
    workspace: Workspace, runs_job: str, feedback_job: str
) -> Sequence[dg.SensorDefinition]:
    """Return the sensors of a workspace that has a laboratory."""
    return [
        _build(
            workspace,
            "lab_requests",
            runs_job,
            "Makes the runs of every new file in requests/, one at a time, and records "
            "those that a command made. A file that cannot be used is named and gets no run.",
            _look_at_requests,
        ),
        _build(
            workspace,
            "lab_feedback",
            feedback_job,
            "Compares and learns from every revision of feedback that was not, one at a time, "
            "records what commands did of it, and publishes experience where it has changed.",
            _look_at_feedback,
        ),
    ]


def _build(
    workspace: Workspace, name: str, job_name: str, description: str, look: _Look
) -> dg.SensorDefinition:
    @dg.sensor(
        name=name,
        job_name=job_name,
        minimum_interval_seconds=workspace.settings.sensors.interval_seconds,
        default_status=default_status(),
        description=description,
    )
    def watch(context: dg.SensorEvaluationContext) -> _Answer:
        try:
            return look(Workspace.open(workspace.root), context, job_name)
        except RagError as error:
            return dg.SkipReason(str(error))

    return watch


def _look_at_requests(
    workspace: Workspace, context: dg.SensorEvaluationContext, job_name: str
) -> _Answer:
    from rag_assets.lab.queueing import requested_keys

    instance = context.instance
    recorded = record_done_runs(workspace, instance)
    said: list[str] = [f"{recorded} runs of commands were recorded"] if recorded else []
    rest = workspace.settings.sensors.rest_seconds
    wanted = [
        key
        for key, path in requested_keys(workspace, said)
        if abs(time.time() - path.stat().st_ctime) >= rest
    ]
    made = instance.get_materialized_partitions(RUNS_ASSET)
    missing = [key for key in wanted if key not in made]
    return _first(instance, job_name, missing, "not made yet", said, RECIPE_RUNS)


def _look_at_feedback(
    workspace: Workspace, context: dg.SensorEvaluationContext, job_name: str
) -> _Answer:
    from rag_assets.lab import altered_rows, list_revisions

    instance = context.instance
    with opened_lab(workspace) as lab:
        learns = lab.settings.experience.learn
        with lab.store.reading() as reading:
            state = f"{reading.head()}, learns: {learns}"
        if context.cursor == state:  # all was done when nothing else had happened yet
            return dg.SkipReason("nothing new")
        recorded = record_feedback(workspace, instance)
        said = [f"{count_of(recorded, 'output')} of commands recorded"] if recorded else []
        with lab.store.reading() as reading:
            due = [one.key for one in list_revisions(reading) if one.is_due(learns=learns)]
        if due:
            why = "not compared, or not learned from"
            return _first(instance, job_name, due, why, said, FEEDBACK_REVISIONS)
        digest = str(experience_metadata(lab)["digest"])
        if digest == published_experience(instance):
            context.update_cursor(state)
            return dg.SkipReason("; ".join(said) or "nothing new")
        altered = next(iter(altered_rows(lab.store)), None)
    if altered is not None:
        return dg.SkipReason("; ".join([*said, altered]))
    return _first(instance, job_name, [f"experience@{digest[:12]}"], "experience changed", said)


def _first(
    instance: dg.DagsterInstance,
    job_name: str,
    states: Sequence[str],
    reason: str,
    said: list[str],
    partitions: dg.DynamicPartitionsDefinition | None = None,
) -> _Answer:
    """Return a request for the first of the states that has not failed too often.

    Args:
        states: keys of partitions; or, without `partitions`, states of the experience.
    """
    if not states or is_busy(instance, job_name=job_name):
        return dg.SkipReason("; ".join(said) or "nothing new")
    known = set(instance.get_dynamic_partitions(str(partitions.name))) if partitions else set()
    for state in states:
        attempts = attempts_of(instance, STATE_TAG, state)
        if attempts.is_exhausted:
            said.append(
                f"'{state}' is not tried again: its last {attempts.failed} runs failed (run "
                f"{attempts.last_run_id}). Mend what it names, then materialize the partition."
            )
            continue
        request = dg.RunRequest(
            run_key=f"{state}-{attempts.number}",
            partition_key=state if partitions else None,
            asset_selection=None if partitions else [INDEX_ASSET],
            tags={STATE_TAG: state, REASON_TAG: attempts.describe(reason)},
        )
        is_new = partitions is not None and state not in known
        return dg.SensorResult(
            run_requests=[request],
            dynamic_partitions_requests=[partitions.build_add_request([state])]
            if partitions is not None and is_new
            else [],
        )
    return dg.SkipReason("; ".join(said))
