"""What is shown of runs: the queue, one run with its trace and sources, checks, replays."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rag_assets.evidence.asking import Replay, first_difference
from rag_assets.lab.collecting import COLLECT_NAME, WHAT_IT_IS, collect_recipes, evidence_of
from rag_assets.lab.engine import run_recipes
from rag_assets.lab.evidence import FIRST_PRODUCT, Finding, PartEvidence, requested_product
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.prompts import SAMPLED, RunOutcome, job_from_json, prompt_hashes
from rag_assets.lab.queue import is_worked_on, trace_file
from rag_assets.lab.recipes import OWN_WORDS, Quoted, formula, render_recipe
from rag_assets.lab.runs import Ground, Run, list_runs, read_run
from rag_assets.lab.trace import (
    TIMES,
    RunNote,
    Source,
    TraceWriter,
    clock_time,
    fold_note,
    parse_trace,
    read_trace,
    sources_of,
    step_title,
)
from rag_assets.lab.worlds import RecordedLab
from rag_assets.model import DamagedFileError, RecordingError, UsageError, count_of, hash_text
from rag_assets.model.markdown import escape_inline

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
    return TraceStep(event["seq"], event["kind"], step_title(event), event, children)


_NOT_OVER = frozenset({"queued", "running"})


@dataclass(frozen=True, slots=True)
class QueueState:
    """All runs, the oldest first.

    Args:
        is_worked_on: whether a process works on them: else those that are `running` have died.
    """

    runs: tuple[Run, ...]
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

    @cached_property
    def evidence(self) -> tuple[str, tuple[PartEvidence, ...]]:
        """The product that was asked for, and what the sources say of each part of recipes."""
        return evidence_in(self.events) if self.run.recipes else (FIRST_PRODUCT, ())

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


def read_queue(lab: Laboratory) -> QueueState:
    """Return all runs with who works on them; experiments of before are among the runs."""
    is_at_work = is_worked_on(lab.workspace)
    with lab.store.reading() as reading:
        runs = tuple(run for run, _ in list_runs(reading))
    return QueueState(runs, is_at_work)


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
        return RunView(run, version, _timed(read_trace(path), path))
    except DamagedFileError as error:
        # Its recipes stand in the store: after an import elsewhere they are all that there is.
        return RunView(run, version, (), str(error))


def events_after(
    lab: Laboratory, run_id: str, seq: int = 0
) -> tuple[tuple[Mapping[str, Any], ...], bool]:
    """Return what happened in a run since the event of number `seq`, all of it with 0; and whether
    nothing more will come.

    Raises:
        UsageError: there is no such run.
        DamagedFileError: its trace cannot be read.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
    path = trace_file(lab.workspace, run)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    # A line that is being written is not looked at before it ends.
    events = _timed(parse_trace(text[: text.rfind("\n") + 1], str(path)), path)
    new = tuple(event for event in events if event["seq"] > seq)
    return new, run.state not in _NOT_OVER


def _timed(events: Iterable[dict[str, Any]], path: Path) -> tuple[Mapping[str, Any], ...]:
    """Return events with the time since the run began, where it is kept, and tokens used so far."""
    times = path.with_name(TIMES)
    seconds = times.read_text(encoding="utf-8").split() if times.is_file() else []
    timed, tokens = [], 0
    for event, elapsed in zip_longest(events, map(float, seconds)):
        if event is None:
            break
        if event["kind"] == "asked":
            usage = event["turn"]["usage"]
            tokens += usage["prompt_tokens"] + usage["completion_tokens"]
        at = {} if elapsed is None else {"elapsed": clock_time(elapsed)}
        timed.append({**event, **at, "tokens": tokens})
    return tuple(timed)


_NOT_ENDED = {"queued": "It waits in the queue.", "running": "It is being worked on."}
_SHOWN = ("decisions", "evidence", "risks", "questions")


def render_run(run: Run, events: Sequence[Mapping[str, Any]], fault: str = "") -> str:
    """Return a run as Markdown.

    Args:
        events: of its trace; none where there is no trace.
        fault: why there is none where there should be one.
    """
    note = fold_note(events)
    quotes = _quotes(run, note, events)
    return "\n".join(_lines(run, note, quotes, events, fault)).rstrip() + "\n"


def _lines(
    run: Run,
    note: RunNote,
    quotes: Mapping[str, Quoted],
    events: Sequence[Mapping[str, Any]],
    fault: str,
) -> Iterator[str]:
    yield f"# {escape_inline(str(run.request.get('text', run.id)))}\n"
    reason = f" ({escape_inline(run.reason)})" if run.reason else ""
    imported_at, day = run.dates
    days = (("imported", imported_at), ("experiment of", day))
    came = ", ".join(f"{what} {at}" for what, at in days if at) or f"asked for {run.created_at}"
    yield f"Run {run.id}: **{run.state}**{reason}, {came}."
    yield _made_by(run, events)
    if fault:
        yield f"\nIts trace cannot be shown: {escape_inline(fault)}"
    if run.recipes:
        yield ""
        if run.kind == "collect":
            yield f"## {count_of(len(run.recipes), 'candidate')}, the best supported first"
        else:
            order = ", best first" if run.is_ranked_by_model else ""
            yield f"## {count_of(len(run.recipes), 'recipe')}{order}"
        yield ""
        for recipe in run.recipes:
            yield from render_recipe(recipe, quotes, is_own_words=run.is_ranked_by_model)
        yield from _left_out(run, quotes)
        yield from _evidence(events, quotes)
    else:
        yield from _proposed(events)
    told = {ground.statement for recipe in run.recipes for ground in recipe.grounds}
    for section in _SHOWN:
        # What stands at a recipe is not said again.
        entries = [e for e in note.entries(section) if e.text not in told]  # type: ignore[arg-type]
        if entries:
            yield f"## {section.capitalize()}\n"
            for entry in entries:
                said = f" *({OWN_WORDS})*" if entry.is_own_words else ""
                yield f"- {escape_inline(entry.text)}{_cited(entry.citations, quotes)}{said}"
            yield ""
    if quotes:
        yield "## Sources\n"
        yield f"`rag trace {run.id}` leads from each ground to the bytes of the file.\n"
        for citation, quote in quotes.items():
            yield f"{quote.number}. {escape_inline(quote.where)} `{citation}`"
            yield f"   > {escape_inline(quote.beginning)}"


def evidence_in(events: Sequence[Mapping[str, Any]]) -> tuple[str, tuple[PartEvidence, ...]]:
    """Return the product that a run was asked for, and what its sources say of each part."""
    if not events:
        return FIRST_PRODUCT, ()
    job = job_from_json(events[0]["job"])
    product = requested_product(job.text)
    return product, evidence_of(job, sources_of(events), product)


def _evidence(events: Sequence[Mapping[str, Any]], quotes: Mapping[str, Quoted]) -> Iterator[str]:
    product, rows = evidence_in(events)
    if rows:
        yield f"## For and against, for {product}\n"
        yield "By words alone; nobody has read the sentences. Numbers lead to the sources below.\n"
        yield "| part | for | against | on other products | made here |"
        yield "|---|---|---|---|---|"
        for row in rows:
            cells = (
                row.part,
                _counted(row.raising, row.speaking(is_for=True), quotes),
                _counted(row.against, row.speaking(is_for=False), quotes),
                "; ".join(
                    dict.fromkeys(
                        f"{one.direction} {one.product}{_cited([one.citation], quotes)}"
                        for one in row.other
                    )
                ),
                "; ".join(f"{one.run}: {one.describe(product)}" for one in row.here),
            )
            yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
        yield ""


def _counted(count: int, findings: Sequence[Finding], quotes: Mapping[str, Quoted]) -> str:
    """Return how many sources say a thing, which, and the numbers that they give."""
    if not findings:
        return ""
    cited = _cited(list(dict.fromkeys(one.citation for one in findings)), quotes)
    values = (f"{one.value}{f' (n = {one.n})' if one.n else ''}" for one in findings if one.value)
    return f"{count}:{cited}{''.join(f' {value};' for value in dict.fromkeys(values))}".rstrip(";")


def _left_out(run: Run, quotes: Mapping[str, Quoted]) -> Iterator[str]:
    dropped = [one for recipe in run.recipes for one in recipe.dropped]
    if dropped:
        said = f" ({OWN_WORDS})" if run.is_ranked_by_model else ""
        yield f"## Considered and left out{said}\n"
        for one in dropped:
            cited = _cited(one.citations, quotes)
            yield f"- {escape_inline(one.what)}: {escape_inline(one.why)}{cited}"
        yield ""


def _made_by(run: Run, events: Sequence[Mapping[str, Any]]) -> str:
    if run.kind == "imported":
        return "An experiment of before; nobody proposed it."
    if run.state in _NOT_ENDED:
        return _NOT_ENDED[run.state]
    if not events:
        return "There is no trace of it."
    if run.kind == "collect":
        return WHAT_IT_IS
    models = run.snapshot.get("decided_by")
    names = sorted({str(one) for one in models.values()}) if isinstance(models, dict) else []
    asked = sum(event["kind"] == "asked" for event in events)
    looked = sum(event["kind"] == "called" for event in events)
    by = f"Made by {', '.join(names)}: " if names else ""
    job, last = events[0]["job"], events[-1]
    own = job["models"].get("orchestrator", {}).get(SAMPLED)
    facts = {
        "temperature": own if job["temperature"] is None else job["temperature"],
        "seed": job.get("seed"), "tokens": last.get("tokens"), "time": last.get("elapsed"),
    }  # fmt: skip
    told = "".join(f"; {name} {value}" for name, value in facts.items() if value is not None)
    looks = count_of(looked, "look")
    return f"{by}{count_of(asked, 'model call')}, {looks} into the sources{told}."


def _proposed(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what a run without a result had proposed."""
    from rag_assets.lab.runs import Recipe

    found = [Recipe.model_validate(e["recipe"]) for e in events if e["kind"] == "proposed"]
    if found:
        yield "\n## Proposed before it ended, not a result\n"
        for recipe in found:
            yield f"- {escape_inline(formula(recipe))}"
        yield ""


def _quotes(run: Run, note: RunNote, events: Sequence[Mapping[str, Any]]) -> dict[str, Quoted]:
    sources = sources_of(events)
    cited = _citations(run)
    cited += [c for name in _SHOWN for e in note.entries(name) for c in e.citations]  # type: ignore[arg-type]
    if run.recipes:
        cited += [one.citation for row in evidence_in(events)[1] for one in (*row.on, *row.other)]
    found: dict[str, Quoted] = {}
    for citation in dict.fromkeys(cited):
        source = sources.get(citation)
        where, text = "", "(its trace is not at hand)"
        if source is not None:
            parts = (source.title, source.where, source.name)
            where, text = ", ".join(part for part in parts if part), source.text
        found[citation] = Quoted(len(found) + 1, where, text)
    return found


def _cited(citations: Sequence[str], quotes: Mapping[str, Quoted]) -> str:
    return "".join(f" [{quotes[one].number}]" for one in citations if one in quotes)


def _citations(run: Run) -> list[str]:
    cited = [c for recipe in run.recipes for ground in recipe.grounds for c in ground.citations]
    return cited + [c for recipe in run.recipes for one in recipe.dropped for c in one.citations]


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
    differences = []
    if stored != made:
        differences.append(f"trace.jsonl: {first_difference(stored, made)}")
    if outcome is not None and run.state == "done" and outcome.recipes != run.recipes:
        differences.append("the recipes that are stored are not those of the trace")
    return Replay(run_id, asked, tuple(differences))


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
