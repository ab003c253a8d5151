"""One process works on the queue: claims a run, makes its recipes, freezes its trace."""

import os
from collections.abc import Callable, Collection, Mapping
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from rag_assets.agents.trace import Limits
from rag_assets.answering import answer_scorer
from rag_assets.judging import open_verifying_model
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.orchestrating import (
    COLLECT_NAME,
    ROLES,
    LabWorld,
    LiveLab,
    RecipeJob,
    Role,
    RunOutcome,
    ScorerWeigh,
    TraceWriter,
    collect_recipes,
    prompt_hashes,
    room_of,
    run_recipes,
)
from rag_assets.lab.queueing.looking import LabLibrary
from rag_assets.lab.queueing.places import (
    attempt_of,
    run_folder,
    trace_digest,
    trace_file,
    worker_lock,
    write_beat,
)
from rag_assets.lab.queueing.queue import claim_next, fail_the_dead, is_at_work
from rag_assets.lab.queueing.requests import RecipeRequest
from rag_assets.lab.recipes import has_rdkit
from rag_assets.lab.store import PROGRAM, Run, read_run, record_run
from rag_assets.llm import (
    Budget,
    ChatModel,
    Recorder,
    RecordingModel,
    open_chat_model,
    with_local_reader,
)
from rag_assets.model import LockedError, RagError, hide_credentials
from rag_assets.retrieval import Asked
from rag_assets.storage import hold_lock

if TYPE_CHECKING:
    from rag_assets.judging import Scorer

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
                done = make_run(lab, run, now=now, clock=clock, asked=asked or workspace)
                notify(f"{run.id}: {done.state}{f': {done.reason}' if done.reason else ''}")
                ended.append(done)
    except LockedError as error:
        raise LockedError(
            "another process works on the queue of this laboratory, one run after the other; what "
            "waits will be done by it. `rag lab queue` shows how far it is."
        ) from error
    return ended


def make_run(
    lab: Laboratory, run: Run, *, now: Now, clock: Callable[[], float], asked: Asked
) -> Run:
    """Make the recipes of a run that was claimed, and store how it ended.

    What goes wrong with sources or models fails the run and no other; a fault of this program
    fails it too, and is raised.
    """
    outcome: RunOutcome | None = None
    reason = "it ended without a word"
    snapshot: dict[str, Any] = {}
    try:
        with LabLibrary(lab, asked, run.id) as library:
            job, models = _prepare(lab, run, library)
            snapshot = dict(job.snapshot)
            world = _world(lab, job, models, library, now, clock)
            outcome = _traced(lab, run, job, world)
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


def _prepare(
    lab: Laboratory, run: Run, library: LabLibrary
) -> tuple[RecipeJob, dict[Role, ChatModel]]:
    keys = RecipeRequest.model_fields.keys()
    request = RecipeRequest.model_validate({k: v for k, v in run.request.items() if k in keys})
    is_model = request.policy == "model"
    models = _models(lab, run) if is_model else {}
    settings = library.settings.recipes
    described: dict[str, dict[str, str | int | float]] = {
        role: {**model.describe(), "name": model.name, **room_of(role, lab.workspace.settings.llm)}
        for role, model in models.items()
    }
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
            "carboxyl_by": "structure, else name" if has_rdkit() else "name",
        },
    )  # fmt: skip
    return job, models


def _models(lab: Laboratory, run: Run) -> dict[Role, ChatModel]:
    """Return the model of each role; every call is kept beside the run's trace."""
    recorder = Recorder(run_folder(lab.workspace, run) / "calls")
    models: dict[Role, ChatModel] = {}
    for role in ROLES:
        llm = lab.workspace.settings.llm.for_role(role)
        unkept = llm.model_copy(update={"record": False})
        model = open_chat_model(lab.workspace, unkept)
        if model is not None:
            models[role] = RecordingModel(model, recorder)
    return models


def _world(
    lab: Laboratory, job: RecipeJob, models: Mapping[Role, ChatModel], library: LabLibrary,
    now: Now, clock: Callable[[], float],
) -> LabWorld:  # fmt: skip
    def is_canceled() -> bool:
        with lab.store.reading() as reading:
            return not is_at_work(reading, job.run_id)

    def beat() -> None:
        write_beat(lab.workspace, pid=os.getpid(), run=job.run_id, at=now())

    beat()
    budget = Budget(job.limits.tokens, job.limits.seconds, clock=clock)
    weigh = ScorerWeigh(lambda: _open_reader(lab, {model.name for model in models.values()}))
    return LiveLab(library.tools, models, budget, weigh, is_canceled, beat)


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


def _traced(lab: Laboratory, run: Run, job: RecipeJob, world: LabWorld) -> RunOutcome:
    path = trace_file(lab.workspace, run)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        outcome = run_recipes(job, world, TraceWriter(_flushing(stream)), collect_recipes)
        os.fsync(stream.fileno())
    return outcome


def _flushing(stream: TextIOWrapper) -> Callable[[str], None]:
    def write(line: str) -> None:
        stream.write(line)
        # Whoever watches sees it now, and a kill loses no event that happened.
        stream.flush()

    return write


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
