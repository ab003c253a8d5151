"""The queue: runs are claimed one at a time, canceled, and begun again where they failed."""

from rag_assets.lab.opening import Laboratory
from rag_assets.lab.queueing.places import ATTEMPT, attempt_of, trace_digest, trace_file
from rag_assets.lab.store import PROGRAM, Reading, Run, list_runs, read_run, record_run
from rag_assets.model import UsageError

DIED = (
    "the process that worked on it ended without a word (killed, or the machine went down). "
    "`rag lab run {run} --again` begins it anew."
)


def claim_next(lab: Laboratory, *, at: str, only: str | None = None) -> Run | None:
    """Take the oldest queued run, as one transaction; None where none waits.

    Args:
        only: this run and no other.
    """
    with lab.store.writing(at, PROGRAM) as writing:
        waiting = [run for run, _ in list_runs(writing, "queued") if only in (None, run.id)]
        if not waiting:
            return None
        run = waiting[0]
        snapshot = {**run.snapshot, ATTEMPT: attempt_of(run) + 1}
        taken = run.model_copy(update={"state": "running", "snapshot": snapshot})
        record_run(writing, taken)
        return taken


def cancel_run(lab: Laboratory, run_id: str, *, at: str, by: str) -> Run:
    """Cancel a run that waits or works; a working one stops before its next call.

    Raises:
        UsageError: there is no such run, or it has ended.
    """
    with lab.store.writing(at, by) as writing:
        run, _ = read_run(writing, run_id)
        if run.state not in {"queued", "running"}:
            raise UsageError(f"run {run_id} has ended ({run.state}): there is nothing to cancel.")
        when = "before it began" if run.state == "queued" else "while it worked"
        changes = {"state": "canceled", "reason": f"canceled by {by} {when}"}
        canceled = run.model_copy(update=changes)
        record_run(writing, canceled)
        return canceled


def queue_again(lab: Laboratory, run_id: str, *, at: str, by: str) -> Run:
    """Queue a run that failed or was canceled once more; its former trace stays.

    Raises:
        UsageError: there is no such run, it is queued or works, is done, or was imported.
    """
    with lab.store.writing(at, by) as writing:
        run, _ = read_run(writing, run_id)
        if run.state not in {"failed", "canceled"} or run.kind == "imported":
            raise UsageError(
                f"run {run_id} is {run.state}: only one that failed or was canceled is begun "
                "again. Submit the request again for further recipes."
            )
        again = run.model_copy(update={"state": "queued", "reason": "", "trace": None})
        record_run(writing, again)
        return again


def is_at_work(reading: Reading, run_id: str) -> bool:
    """Say whether a run is still to be worked on: nobody canceled it."""
    return read_run(reading, run_id)[0].state == "running"


def fail_the_dead(lab: Laboratory, *, at: str) -> list[Run]:
    """Mark the runs whose process died as failed; return them.

    To be called by the one who holds the worker's lock: whoever else worked is gone.
    """
    with lab.store.writing(at, PROGRAM) as writing:
        dead = []
        for run, _ in list_runs(writing, "running"):
            changes = {
                "state": "failed", "reason": DIED.format(run=run.id),
                "trace": trace_digest(trace_file(lab.workspace, run)),
            }  # fmt: skip
            failed = run.model_copy(update=changes)
            record_run(writing, failed)
            dead.append(failed)
        return dead
