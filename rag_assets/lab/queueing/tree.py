"""A trace as a tree: the request, the tasks within it, and what was done for each."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any  # events are JSON

from rag_assets.model import count_of

# Of the run itself, whichever task was open when they came.
_OF_THE_RUN = frozenset({"begun", "stopped", "weighed", "ended"})


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One event of a trace, with what happened within it.

    Args:
        seq: its number in the trace; the note as it stood then is `fold_note(events, seq)`.
        kind: `begun`, `task`, `asked` (prompt and answer), `planned`, `called` (a look with what it
            found), `noted`, `proposed`, `task_ended`, `task_failed`, `stopped`, `weighed`, `ended`.
        title: one line for a reader.
        event: all that was recorded: the prompt in `request.messages`, the answer in `turn.text`,
            what a search found in `observed.sources`.
        children: of a task its steps and tasks, in order.
    """

    seq: int
    kind: str
    title: str
    event: Mapping[str, Any]
    children: tuple["TraceStep", ...] = ()


@dataclass(slots=True)
class _Task:
    event: Mapping[str, Any]
    steps: "list[TraceStep | _Task]" = field(default_factory=list)


def trace_tree(events: Iterable[Mapping[str, Any]]) -> tuple[TraceStep, ...]:
    """Return the events of a trace, those of a task below it. A trace may break off anywhere."""
    top: list[TraceStep | _Task] = []
    path: list[_Task] = []
    for event in events:
        if event["kind"] == "weighed":
            # What is noted of the result is of no task.
            path.clear()
        if event["kind"] in {"task_ended", "task_failed"}:
            # A task that failed may have left others open within it.
            while path and path.pop().event["number"] != event["number"]:
                pass
        is_of_the_run = event["kind"] in _OF_THE_RUN or not path
        steps = top if is_of_the_run else path[-1].steps
        if event["kind"] == "task":
            task = _Task(event)
            steps.append(task)
            path.append(task)
        else:
            steps.append(_step(event))
    return _closed(top)


def _closed(steps: "Iterable[TraceStep | _Task]") -> tuple[TraceStep, ...]:
    return tuple(
        one if isinstance(one, TraceStep) else _step(one.event, _closed(one.steps)) for one in steps
    )


def _step(event: Mapping[str, Any], children: tuple[TraceStep, ...] = ()) -> TraceStep:
    return TraceStep(event["seq"], event["kind"], _TITLES[event["kind"]](event), event, children)


def _asked(event: Mapping[str, Any]) -> str:
    wrong = event["turn"]["error"] or event["turn"]["fault"]
    return f"{event['role']} was asked{f'; not usable: {wrong}' if wrong else ''}"


def _called(event: Mapping[str, Any]) -> str:
    said = ", ".join(f'"{value}"' for value in event["arguments"].values() if value != "")
    observed = event["observed"]
    if observed is None:
        return f"{event['tool']} {said}: failed: {event['error']}"
    found = count_of(len(observed["sources"]) + len(observed["lines"]), "result")
    return f"{event['tool']} {said}: {found}"


def _weighed(event: Mapping[str, Any]) -> str:
    counted = Counter(one["verdict"].replace("_", " ") for one in event["verdicts"])
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))
    return f"grounds were held against their sources: {told}"


def _ended(event: Mapping[str, Any]) -> str:
    reason = f": {event['reason']}" if event["reason"] else ""
    return f"ended by {event['ended_by']}{reason}"


_TITLES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "begun": lambda event: f"begun: {event['job']['text']}",
    "task": lambda event: f"task {event['number']} for {event['role']}: {event['text']}",
    "asked": _asked,
    "planned": lambda event: f"next: {event['first']}. {event['thought']}",
    "called": _called,
    "noted": lambda event: (
        f"note: {event['op']} {event['key']} in {event['section']}: {event['text']}"
    ),
    "proposed": lambda event: f"{event['by']} proposed {event['key']}",
    "task_ended": lambda event: f"task {event['number']} ended: {event['thought']}",
    "task_failed": lambda event: f"task {event['number']} failed: {event['why']}",
    "stopped": lambda event: f"stopped: {event['why']}",
    "weighed": _weighed,
    "ended": _ended,
}
