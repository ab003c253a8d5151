"""Requests become runs, which one process makes one after the other, and which can be canceled."""

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rag_assets.answering import answer_scorer
from rag_assets.answering.agents.trace import Limits
from rag_assets.judging import open_verifying_model
from rag_assets.lab.chemistry import has_rdkit
from rag_assets.lab.collecting import COLLECT_NAME, collect_recipes
from rag_assets.lab.engine import run_recipes
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.prompts import ROLES, SAMPLED, RecipeJob, RunOutcome, prompt_hashes, room_of
from rag_assets.lab.runs import MOST_RECIPES, Policy, Run, list_runs, read_run, record_run
from rag_assets.lab.store import PROGRAM, Writing
from rag_assets.lab.tools import LabLibrary
from rag_assets.lab.trace import TIMES, Role, TraceWriter, clock_time, step_title
from rag_assets.lab.weighing import ScorerWeigh
from rag_assets.lab.worlds import LabWorld, LiveLab
from rag_assets.llm import Budget, ChatModel, Recorder, open_chat_model, with_local_reader
from rag_assets.model import (
    ConfigurationError,
    LockedError,
    RagError,
    UsageError,
    first_fault,
    hash_fields,
    hash_text,
    hide_credentials,
)
from rag_assets.retrieval import Asked
from rag_assets.storage import hold_lock
from rag_assets.workspace import Workspace, slug
from rag_assets.workspace.bounded_yaml import read_yaml

if TYPE_CHECKING:
    from rag_assets.judging import Scorer

MOST_RUNS = 5
_SLUG_CHARACTERS = 40
_HASH_CHARACTERS = 12
# Hexadecimal: services take a seed of 31 bits.
_SEED_DIGITS = 7
_TOLD_CHARACTERS = 200
_COLLECTED = (
    "No language model: candidates are collected from the sources, the best supported first, with "
    "the sentences for and against; words decide which is which."
)


class RecipeRequest(BaseModel):
    """What is asked for.

    Args:
        text: in the experimenter's words.
        n: runs, each with the same input (spec 004 §8.0).
        recipes_per_run: that each returns, exactly.
        policy: None for the settings'.
        temperature: of the models; None for the settings'. Runs differ by it and by their seeds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    text: Annotated[str, Field(min_length=1, max_length=4000)]
    n: Annotated[int, Field(ge=1, le=MOST_RUNS)] = 1
    recipes_per_run: Annotated[int, Field(ge=1, le=MOST_RECIPES)] = 1
    policy: Policy | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None

    @field_validator("text")
    @classmethod
    def _has_words(cls, value: str) -> str:
        if not any(map(str.isalnum, value)):
            raise ValueError("a request has words")
        return value.strip()


def parse_request(values: dict[str, Any], where: str = "the request") -> RecipeRequest:
    """Return the request that values from outside describe.

    Raises:
        UsageError: names the key and the rule.
    """
    try:
        return RecipeRequest.model_validate(values)
    except ValidationError as error:
        key, said, _ = first_fault(error)
        raise UsageError(f"{where}: '{key or 'the whole'}': {said}.") from error


def choose_policy(lab: Laboratory, asked: str | None) -> Literal["model", "collect"]:
    """Return who makes the recipes: models of the settings, or nobody (candidates are collected).

    Raises:
        ConfigurationError: models are wanted and a role has none.
    """
    wanted = asked or lab.settings.recipes.policy
    llm = lab.workspace.settings.llm
    without = [role for role in ROLES if llm.for_role(role).kind == "none"]
    if wanted == "collect" or (wanted == "auto" and without):
        return "collect"
    if without:
        raise ConfigurationError(
            f"recipes by a model were asked for, and 'llm' names none for {', '.join(without)} "
            "(config.yaml). Set llm.kind and llm.model, or llm.roles, or ask with --policy collect."
        )
    return "model"


def request_slug(request: RecipeRequest) -> str:
    """Return the name of a request: its first words, and a digest of all that it says."""
    said = request.model_dump(mode="json", exclude={"n"})
    # What a slug would take for folders and for an ending are signs of the text here.
    name = slug(re.sub(r"[/.]", " ", request.text[:_SLUG_CHARACTERS]))
    return f"{name}-{hash_fields(said)[:_HASH_CHARACTERS]}"


def submit_request(lab: Laboratory, request: RecipeRequest, *, at: str, by: str) -> list[Run]:
    """Queue the runs of a request. Asked again, the same request makes further runs.

    Args:
        at: now, ISO 8601 with zone.
        by: who.

    Raises:
        ConfigurationError: a knowledge base is not declared, or no model is there that is wanted.
    """
    policy = choose_policy(lab, request.policy)
    require_bases(lab)
    name = request_slug(request)
    with lab.store.writing(at, by) as writing:
        taken = {run.id for run, _ in list_runs(writing)}
        first = next(number for number in count(1) if f"{name}-r{number}" not in taken)
        return [
            _queue(writing, f"{name}-r{first + place - 1}", request, policy, place)
            for place in range(1, request.n + 1)
        ]


def notes_before(lab: Laboratory, runs: Sequence[Run], temperature: float | None) -> list[str]:
    """Return what one should know of a request's runs before they begin.

    Args:
        runs: of one request, one at least.
        temperature: of the request; None for the settings'.
    """
    if runs[0].kind == "collect":
        same = f" All {len(runs)} runs will give the same." if len(runs) > 1 else ""
        return [f"{_COLLECTED}{same}"]
    sampled = temperature if temperature is not None else sampled_temperature(lab, "orchestrator")
    if len(runs) > 1 and sampled == 0:
        return ["the model's temperature is 0: its runs will be nearly the same (--temperature)."]
    return []


def sampled_temperature(lab: Laboratory, role: Role) -> float:
    """Return the temperature of a role's model where the request names none."""
    own = lab.workspace.settings.llm.roles.get(role)
    if own is not None and own.temperature is not None:
        return own.temperature
    return lab.settings.recipes.temperature


def require_bases(lab: Laboratory) -> None:
    """Refuse to go on without the two knowledge bases.

    Raises:
        ConfigurationError: says which is missing and how it is made.
    """
    bases = lab.settings.bases
    declared = {one.name for one in lab.workspace.namespaces()}
    for key, name in (("principles", bases.principles), ("modulation", bases.modulation)):
        if name not in declared:
            raise ConfigurationError(
                f"lab.bases.{key} names the namespace '{name}', which does not exist. Make it: "
                f"rag namespace add {name} --template kb_{key}, put its papers into raw/{name}, "
                "then rag ingest."
            )


def _queue(
    writing: Writing, run_id: str, request: RecipeRequest, policy: Literal["model", "collect"],
    place: int,
) -> Run:  # fmt: skip
    asked = {**request.model_dump(mode="json"), "policy": policy, "place": place}
    run = Run(id=run_id, kind=policy, state="queued", created_at=writing.at, request=asked)
    record_run(writing, run)
    return run


def requested_runs(
    workspace: Workspace, troubles: list[str]
) -> Iterator[tuple[str, RecipeRequest, int, Path]]:
    """Yield each run that `requests/*.yaml` ask for: id, request, place in it, file.

    Args:
        troubles: is told of files that cannot be read; they harm no other.
    """
    for path in sorted((workspace.root / "requests").glob("*.yaml")):
        try:
            values = read_yaml(path)
            if values is None:
                continue  # all of it is commented out, as the example is
            request = parse_request(values if isinstance(values, dict) else {}, path.name)
        except (UsageError, ValueError) as error:
            troubles.append(str(error))
            continue
        for place in range(1, request.n + 1):
            yield f"{request_slug(request)}-r{place}", request, place, path


def queue_files(lab: Laboratory, troubles: list[str], *, at: str, by: str) -> list[str]:
    """Queue the runs that files ask for and that were not made yet or came to nothing.

    Returns:
        The ids of all runs that files ask for.

    Raises:
        ConfigurationError: a base or a model is missing.
    """
    with lab.store.reading() as reading:
        states = {run.id: run.state for run, _ in list_runs(reading)}
    wanted = list(requested_runs(lab.workspace, troubles))
    for run_id, request, place, _ in wanted:
        if run_id not in states:
            policy = choose_policy(lab, request.policy)
            require_bases(lab)
            with lab.store.writing(at, by) as writing:
                _queue(writing, run_id, request, policy, place)
        elif states[run_id] in {"failed", "canceled"}:
            queue_again(lab, run_id, at=at, by=by)
    return [run_id for run_id, *_ in wanted]


ATTEMPT = "attempt"


def attempt_of(run: Run) -> int:
    """Return how often a run was begun."""
    found = run.snapshot.get(ATTEMPT, 0)
    return found if isinstance(found, int) else 0


def runs_folder(workspace: Workspace) -> Path:
    """Return the folder of all runs."""
    return workspace.root / "data" / "lab" / "runs"


def run_folder(workspace: Workspace, run: Run) -> Path:
    """Return the folder of a run's last attempt: `trace.jsonl`, `calls/`."""
    return runs_folder(workspace) / run.id / f"attempt-{attempt_of(run)}"


def trace_file(workspace: Workspace, run: Run) -> Path:
    """Return where the trace of a run's last attempt lies."""
    return run_folder(workspace, run) / "trace.jsonl"


def trace_digest(path: Path) -> str | None:
    """Return the SHA-256 of a trace; None where there is none."""
    return hash_text(path.read_text(encoding="utf-8")) if path.is_file() else None


def worker_lock(workspace: Workspace) -> Path:
    """Return the lock that lets one process work on the queue at a time; it ends with it."""
    return workspace.locks / "lab-worker.lock"


def is_worked_on(workspace: Workspace) -> bool:
    """Say whether a process works on the queue now."""
    try:
        with hold_lock(worker_lock(workspace), "the queue", lambda _: None, seconds=0.0):
            return False
    except LockedError:
        return True


DIED = (
    "the process that worked on it ended unexpectedly (killed, or the machine went down). "
    "`rag lab run {run} --again` starts it again."
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
            mend = "Submit the request again for further recipes."
            if run.state == "running":
                mend = "If its process has died, `rag lab run` marks it as failed; then try again."
            raise UsageError(
                f"run {run_id} is {run.state}: only one that failed or was canceled is begun "
                f"again. {mend}"
            )
        again = run.model_copy(update={"state": "queued", "reason": "", "trace": None})
        record_run(writing, again)
        return again


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


# A second worker finds the lock taken at once; a little patience for one that is just ending.
_WAIT_SECONDS = 2.0
Now = Callable[[], str]
Notify = Callable[[str], None]


def work(
    lab: Laboratory,
    *,
    now: Now,
    clock: Callable[[], float],
    notify: Notify = lambda sentence: None,
    only: str | None = None,
    asked: Asked | None = None,
    patience: float | None = None,
) -> list[Run]:
    """Work on the queue until it is empty; return the runs that ended.

    Args:
        now: returns the time, ISO 8601 with zone.
        clock: seconds from any beginning.
        notify: is told what happens.
        only: this run and no other.
        asked: a library that is open already; the workspace without.
        patience: seconds to wait for another process that works; two without.

    Raises:
        LockedError: another process works on the queue.
    """
    workspace = lab.workspace
    ended: list[Run] = []
    try:
        with hold_lock(
            worker_lock(workspace),
            "the queue of the laboratory",
            lambda _: None,
            _WAIT_SECONDS if patience is None else patience,
        ):
            for dead in fail_the_dead(lab, at=now()):
                notify(f"{dead.id}: failed: {dead.reason}")
                ended.append(dead)
            while (run := claim_next(lab, at=now(), only=only)) is not None:
                notify(f"{run.id}: begun")
                done = make_run(
                    lab, run, now=now, clock=clock, notify=notify, asked=asked or workspace
                )
                notify(f"{run.id}: {done.state}{f': {done.reason}' if done.reason else ''}")
                ended.append(done)
    except LockedError as error:
        raise LockedError(
            "another process works on the queue of this laboratory, one run after the other; what "
            "waits will be done by it. `rag lab queue` shows how far it is."
        ) from error
    return ended


def make_run(
    lab: Laboratory, run: Run, *, now: Now, clock: Callable[[], float],
    notify: Callable[[str], None], asked: Asked,
) -> Run:  # fmt: skip
    """Make the recipes of a run that was claimed, and store how it ended.

    What goes wrong with sources or models fails the run and no other; a fault of this program
    fails it too, and is raised.
    """
    outcome: RunOutcome | None = None
    reason = "it ended unexpectedly"
    snapshot: dict[str, Any] = {}
    try:
        with LabLibrary(lab, asked, run.id) as library:
            job, models = _prepare(lab, run, library)
            snapshot = dict(job.snapshot)
            path = trace_file(lab.workspace, run)
            path.parent.mkdir(parents=True, exist_ok=True)
            # Each line is on its way at once: to be watched, and lost by no kill.
            with (
                path.open("w", encoding="utf-8", newline="\n", buffering=1) as stream,
                path.with_name(TIMES).open("w", encoding="utf-8", buffering=1) as times,
            ):
                steps = _Steps(stream, times, clock, notify)
                world = _world(lab, job, models, library, clock, steps.tell)
                outcome = run_recipes(job, world, TraceWriter(steps.take), collect_recipes)
                os.fsync(stream.fileno())
    except RagError as error:
        reason = hide_credentials(str(error))
    except KeyboardInterrupt:
        reason = "it was interrupted"
        raise
    except Exception as error:
        reason = f"this program failed: {type(error).__name__}: {hide_credentials(str(error))}"
        raise
    finally:
        ended = _store(lab, run, outcome, reason, snapshot, now())
    return ended


class _Steps:
    """Writes the events of a run, when each came, and passes each step on."""

    def __init__(
        self, trace: TextIO, times: TextIO, clock: Callable[[], float],
        notify: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._trace = trace
        self._times = times
        self._clock = clock
        self._began = clock()
        self._notify = notify
        self._tokens = 0

    def take(self, line: str) -> None:
        # First the time: who sees an event sees when it was.
        self._times.write(f"{self._clock() - self._began:.1f}\n")
        self._trace.write(line)
        event = json.loads(line)
        turn = event.get("turn")
        if turn is not None:
            self._tokens += turn["usage"]["prompt_tokens"] + turn["usage"]["completion_tokens"]
        # A usable answer shows as the next step, and the end of the run as its state.
        is_told = event["kind"] == "ended" or (turn is not None and not turn["fault"])
        if not is_told and event.get("by") != PROGRAM:
            self.tell(step_title(event))

    def tell(self, said: str) -> None:
        flat = " ".join(said.split())
        elapsed = clock_time(self._clock() - self._began)
        self._notify(f"  {elapsed}  {self._tokens:,} tokens  {flat[:_TOLD_CHARACTERS]}")


def _prepare(
    lab: Laboratory, run: Run, library: LabLibrary
) -> tuple[RecipeJob, dict[Role, ChatModel]]:
    keys = RecipeRequest.model_fields.keys()
    request = RecipeRequest.model_validate({k: v for k, v in run.request.items() if k in keys})
    is_model = request.policy == "model"
    models = _models(lab, run) if is_model else {}
    settings = library.settings.recipes
    described: dict[str, dict[str, str | int | float]] = {
        role: {**model.describe(), "name": model.name, SAMPLED: sampled_temperature(lab, role),
               **room_of(role, lab.workspace.settings.llm)}
        for role, model in models.items()
    }  # fmt: skip
    job = RecipeJob(
        run_id=run.id, text=request.text, wanted=request.recipes_per_run,
        policy="model" if is_model else "collect", rules=tuple(settings.rules),
        depth=settings.depth,
        limits=Limits(settings.steps, settings.calls, settings.repairs, settings.tokens,
                      settings.seconds),
        shown=settings.shown, models=described, temperature=request.temperature,
        prompts=prompt_hashes() if is_model else {},
        snapshot={
            "request": dict(run.request),
            "decided_by": {r: str(m["name"]) for r, m in described.items()} or COLLECT_NAME,
            "settings": library.settings.model_dump(mode="json"),
            "settings_version": library.settings_version,
            "publications": library.describe(),
            "made_here": library.results(),
            "carboxyl_by": "structure, else name" if has_rdkit() else "name",
        },
        seed=int(hash_text(f"{run.id} {attempt_of(run)}")[:_SEED_DIGITS], 16) if is_model else None,
    )  # fmt: skip
    return job, models


def _models(lab: Laboratory, run: Run) -> dict[Role, ChatModel]:
    """Return the model of each role; every call is kept beside the run's trace."""
    recorder = Recorder(run_folder(lab.workspace, run) / "calls")
    models: dict[Role, ChatModel] = {}
    for role in ROLES:
        llm = lab.workspace.settings.llm.for_role(role)
        model = open_chat_model(lab.workspace, llm, recorder=recorder)
        if model is not None:
            models[role] = model
    return models


def _world(
    lab: Laboratory, job: RecipeJob, models: Mapping[Role, ChatModel], library: LabLibrary,
    clock: Callable[[], float], watch: Callable[[str], None],
) -> LabWorld:  # fmt: skip
    def is_canceled() -> bool:
        with lab.store.reading() as reading:
            return read_run(reading, job.run_id)[0].state != "running"

    budget = Budget(job.limits.tokens, job.limits.seconds, clock=clock)
    weigh = ScorerWeigh(lambda: _open_reader(lab, {model.name for model in models.values()}))
    seconds = library.settings.recipes.call_seconds
    return LiveLab(
        library, models, budget, weigh, is_canceled, lambda: Budget(None, seconds, clock=clock),
        watch,
    )  # fmt: skip


def _open_reader(lab: Laboratory, writers: Collection[str]) -> "Scorer":
    """Return what reads grounds: never a model that wrote them.

    Where the settings name no other one, the reader of this machine reads, else facts alone.
    """
    workspace = lab.workspace
    settings, chat = workspace.settings, open_verifying_model(workspace)
    if chat is not None and chat.name in writers:
        unnamed = settings.llm.model_copy(update={"kind": "none", "roles": {}})
        chat = open_chat_model(workspace, with_local_reader(unnamed), remember=True)
        if chat is None or chat.name in writers:
            facts = settings.verify.model_copy(update={"scorer": "facts"})
            settings, chat = settings.model_copy(update={"verify": facts}), None
    return answer_scorer(settings, chat)


def _store(
    lab: Laboratory, run: Run, outcome: RunOutcome | None, reason: str, snapshot: dict[str, Any],
    at: str,
) -> Run:  # fmt: skip
    changes: dict[str, Any] = {
        "trace": trace_digest(trace_file(lab.workspace, run)),
        "snapshot": {**snapshot, "attempt": attempt_of(run)},
    }
    if outcome is None:
        changes |= {"state": "failed", "reason": reason}
    else:
        changes |= {
            "state": outcome.state, "recipes": outcome.recipes, "reason": outcome.reason,
        }  # fmt: skip
        changes["snapshot"]["ended_by"] = outcome.ended_by
    with lab.store.writing(at, PROGRAM) as writing:
        current, _ = read_run(writing, run.id)
        if current.state == "canceled":
            # Whoever canceled it said so; what it came to meanwhile stands in the trace.
            kept = {k: changes[k] for k in ("trace", "snapshot")}
            ended = current.model_copy(update=kept)
        else:
            ended = current.model_copy(update=changes)
        record_run(writing, Run.model_validate(ended.model_dump()))
        return ended
