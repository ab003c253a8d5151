"""Make a run again from its trace: no model, no search, no clock; compare byte for byte."""

from collections.abc import Iterator

from rag_assets.evidence.asking import Replay, first_difference
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.orchestrating import (
    COLLECT_NAME,
    RecordedLab,
    RunOutcome,
    TraceWriter,
    collect_recipes,
    job_from_json,
    parse_trace,
    prompt_hashes,
    run_recipes,
)
from rag_assets.lab.queueing.places import trace_file
from rag_assets.lab.store import Run, read_run
from rag_assets.model import DamagedFileError, RecordingError, UsageError, hash_text


def replay_run(lab: Laboratory, run_id: str) -> Replay:
    """Make a run again and say where it differs from what is kept of it.

    A run whose process died is made again as far as its trace goes.

    Raises:
        UsageError: there is no such run, it was imported, or has not ended.
        DamagedFileError: its trace is gone or was changed.
        RecordingError: this version goes another way than the one that made it.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
    path = trace_file(lab.workspace, run)
    if run.trace is None:
        raise UsageError(
            f"run {run_id} has no trace: it is {run.state}"
            f"{f' ({run.reason})' if run.reason else ''}."
        )
    if not path.is_file():
        raise DamagedFileError(f"{path}: the trace of run {run_id} is gone.")
    stored = path.read_text(encoding="utf-8")
    if hash_text(stored) != run.trace:
        raise DamagedFileError(
            f"{path}: the trace was changed since run {run_id} ended: its digest is another one. "
            "Take the file back from a backup."
        )
    made, outcome = replay_trace(stored, str(path))
    job = next(parse_trace(stored, str(path)))["job"]
    asked = tuple(
        f"{name}/{each['publication']}"
        for name, each in job["snapshot"].get("publications", {}).items()
    )
    return Replay(run_id, asked, tuple(_differences(run, stored, made, outcome)))


def replay_trace(stored: str, where: str) -> tuple[str, RunOutcome | None]:
    """Return the trace made again, and how it ended; None where the trace breaks off.

    Raises:
        DamagedFileError, RecordingError: as `replay_run`.
    """
    events = list(parse_trace(stored, where))
    if not events:
        raise DamagedFileError(f"{where}: the trace is empty: its process died at once.")
    job = job_from_json(events[0]["job"])
    if job.policy == "model" and dict(job.prompts) != prompt_hashes():
        raise RecordingError(
            f"{where}: its prompts are not those of this version of rag-assets. Replay it with "
            "the version that made it."
        )
    decided = job.snapshot.get("decided_by")
    if job.policy == "collect" and decided != COLLECT_NAME:
        raise RecordingError(
            f"{where}: it was collected by {decided}, and this version of rag-assets collects by "
            f"{COLLECT_NAME}. Replay it with the version that made it."
        )
    lines: list[str] = []
    try:
        outcome = run_recipes(job, RecordedLab(events), TraceWriter(lines.append), collect_recipes)
    except RecordingError:
        if events[-1]["kind"] == "ended" or len(lines) < len(events):
            raise
        return "".join(lines), None
    return "".join(lines), outcome


def _differences(run: Run, stored: str, made: str, outcome: RunOutcome | None) -> Iterator[str]:
    if stored != made:
        yield f"trace.jsonl: {first_difference(stored, made)}"
    if outcome is not None and run.state == "done" and outcome.recipes != run.recipes:
        yield "the recipes that are stored are not those of the trace"
