"""What a page shows of runs: the queue, one run with all that it rests on, what happened since."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any  # events are JSON

from rag_assets.lab.opening import Laboratory
from rag_assets.lab.orchestrating import (
    RunNote,
    Source,
    fold_note,
    parse_trace,
    read_trace,
    sources_of,
)
from rag_assets.lab.queueing.places import attempt_of, is_worked_on, read_beat, trace_file
from rag_assets.lab.queueing.tree import TraceStep, trace_tree
from rag_assets.lab.store import Ground, Run, list_runs, read_run
from rag_assets.model import DamagedFileError

_NOT_OVER = frozenset({"queued", "running"})


@dataclass(frozen=True, slots=True)
class Worker:
    """The process that works on the queue: its last sign of life, ISO 8601, and its run."""

    pid: int
    run: str
    at: str


@dataclass(frozen=True, slots=True)
class QueueState:
    """All runs, the oldest first, and who works on them.

    Args:
        worker: None where nobody works: runs that are `running` then have died.
        is_worked_on: whether a process works, even before its first sign of life.
    """

    runs: tuple[Run, ...]
    worker: Worker | None
    is_worked_on: bool


@dataclass(frozen=True)
class RunView:
    """One run with its trace.

    Args:
        version: of the run's record.
        events: of the trace of its last attempt, as far as it goes.
        fault: why there is no trace where there should be one; the recipes are there all the same.
    """

    run: Run
    version: int
    events: tuple[Mapping[str, Any], ...]
    fault: str = ""

    @cached_property
    def note(self) -> RunNote:
        """The RunNote at the end."""
        return fold_note(self.events)

    def note_at(self, seq: int) -> RunNote:
        """Return the RunNote after the event of that number."""
        return fold_note(self.events, seq)

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Every passage and item that the run was shown, by citation, with its text."""
        return sources_of(self.events)

    @cached_property
    def tree(self) -> tuple[TraceStep, ...]:
        """The trace, the steps of each task below it."""
        return trace_tree(self.events)

    @property
    def apart(self) -> tuple[tuple[int, Ground], ...]:
        """Rank of the recipe and ground: said in another language than the source, not certain."""
        return tuple(
            (recipe.rank, ground)
            for recipe in self.run.recipes
            for ground in recipe.grounds
            if ground.stands_apart
        )

    def quote_of(self, ground: Ground) -> str:
        """Return the words of a ground's source: those that decide, else all that was shown."""
        if ground.support is not None and ground.support.quote:
            return ground.support.quote
        shown = (self.sources[one].text for one in ground.citations if one in self.sources)
        return next(shown, "")


@dataclass(frozen=True, slots=True)
class Following:
    """What happened in a run since an event.

    Args:
        run: as it stands now.
        attempt: which of its attempts the events are of: another one begins at 1 again.
        last_seq: the number of the last event that there is.
        is_over: whether nothing more will come.
    """

    run: Run
    attempt: int
    events: tuple[Mapping[str, Any], ...]
    last_seq: int
    is_over: bool


def read_queue(lab: Laboratory) -> QueueState:
    """Return all runs with who works on them; experiments of before are among the runs."""
    is_at_work = is_worked_on(lab.workspace)
    beat = read_beat(lab.workspace) if is_at_work else None
    with lab.store.reading() as reading:
        runs = tuple(run for run, _ in list_runs(reading))
    worker = Worker(beat["pid"], beat["run"], beat["at"]) if beat is not None else None
    return QueueState(runs, worker, is_at_work)


def view_run(lab: Laboratory, run_id: str) -> RunView:
    """Return a run with its trace.

    Raises:
        UsageError: there is no such run.
    """
    with lab.store.reading() as reading:
        run, version = read_run(reading, run_id)
    path = trace_file(lab.workspace, run)
    # Of a run that works, as far as it is.
    is_there = run.trace is not None or (run.state == "running" and path.is_file())
    if not is_there:
        return RunView(run, version, ())
    try:
        return RunView(run, version, tuple(read_trace(path)))
    except DamagedFileError as error:
        # Its recipes stand in the store: after an import elsewhere they are all that there is.
        return RunView(run, version, (), str(error))


def events_after(lab: Laboratory, run_id: str, seq: int = 0) -> Following:
    """Return what happened in a run since the event of number `seq`; all of it with 0.

    Raises:
        UsageError: there is no such run.
        DamagedFileError: its trace cannot be read.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
    path = trace_file(lab.workspace, run)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    # A line that is being written is not looked at before it ends.
    events = tuple(parse_trace(text[: text.rfind("\n") + 1], str(path)))
    new = tuple(event for event in events if event["seq"] > seq)
    return Following(run, attempt_of(run), new, len(events), run.state not in _NOT_OVER)
