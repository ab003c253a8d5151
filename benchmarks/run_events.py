"""Where a run's seconds went, from the events that Dagster stored."""

import os
from pathlib import Path
from typing import Any


def step_seconds(dagster_home: Path, run_id: str) -> dict[str, Any]:
    """Return, in seconds: begin and end of the run (epoch), each step, and what is between them.

    A step's seconds hold its events too: Dagster writes one a partition.
    """
    os.environ["DAGSTER_HOME"] = str(dagster_home)
    import dagster as dg

    starts: dict[str, float] = {}
    steps: dict[str, float] = {}
    begin = end = 0.0
    with dg.DagsterInstance.get() as instance:
        records = list(instance.all_logs(run_id))
    for record in records:
        event = record.dagster_event
        if event is None:
            continue
        kind = event.event_type_value
        if kind in {"PIPELINE_START", "RUN_START"}:
            begin = record.timestamp
        elif kind in {"PIPELINE_SUCCESS", "RUN_SUCCESS", "PIPELINE_FAILURE", "RUN_FAILURE"}:
            end = record.timestamp
        elif kind == "STEP_START":
            starts[str(event.step_key)] = record.timestamp
        elif kind in {"STEP_SUCCESS", "STEP_FAILURE"}:
            steps[str(event.step_key)] = record.timestamp - starts[str(event.step_key)]
    return {
        "begin": begin,
        "end": end,
        "events": len(records),
        "steps_s": {name.split("__", 1)[-1]: round(s, 3) for name, s in steps.items()},
        "between_steps_s": round(end - begin - sum(steps.values()), 3),
    }
