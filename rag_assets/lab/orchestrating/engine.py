"""ReCAP's manner: a plan is a list of steps; the first is done or divided, the rest is refined.

After Zhang et al., "ReCAP: Recursive Context-Aware Reasoning and Planning". What a step led to and
the steps that are left go back to the task that planned it; a step that fails goes back with its
fault. The reference goes on for ever where a model answers no JSON: here every way ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rag_assets.agents.trace import ModelTurn
from rag_assets.lab.orchestrating.deciding import (
    RULE_KEY,
    Divide,
    End,
    Finish,
    First,
    Look,
    Note,
    PlannedAction,
    PlannedTask,
    Propose,
    Reader,
    Turn,
    plan_schema,
)
from rag_assets.lab.orchestrating.job import (
    ANSWER_TOKENS,
    LIMITS,
    PROMPT_TOKENS,
    EndedBy,
    RecipeJob,
    RunOutcome,
)
from rag_assets.lab.orchestrating.note import Revision, Role, RunNote
from rag_assets.lab.orchestrating.prompting import (
    AGAIN,
    FORM,
    Left,
    Place,
    Shown,
    show_step,
    state_message,
    system_message,
)
from rag_assets.lab.orchestrating.sources import Observed, Source, TurnAliases
from rag_assets.lab.orchestrating.tools import tools_of
from rag_assets.lab.orchestrating.tracing import SCHEMA, TraceWriter
from rag_assets.lab.orchestrating.weighing import weigh_grounds
from rag_assets.lab.orchestrating.worlds import LabWorld, carboxyl_to_json
from rag_assets.lab.recipes import Carboxyl, disagreement, formula, show_rules
from rag_assets.lab.store import PROGRAM, Dropped, Recipe
from rag_assets.llm import ChatRequest, Message, estimate_tokens
from rag_assets.model import BudgetError, RagError, RecordingError, count_of, hide_credentials

TASK = "lab_recipes"
_REPAIRED_CHARACTERS = 300
_UNRANKED = "The run ended at its limit of {limit} before the model ranked: order of proposal."


class _Ended(Exception):  # noqa: N818 - a way out, no error
    """The run is over."""

    def __init__(
        self, ended_by: EndedBy, reason: str = "", recipes: tuple[Recipe, ...] = ()
    ) -> None:
        super().__init__(reason)
        self.ended_by: EndedBy = ended_by
        self.reason = reason
        self.recipes = recipes


class _TaskFailedError(Exception):
    """A task came to no usable answer; the task above is told why."""


@dataclass(slots=True)
class _Task:
    number: str
    text: str
    role: Role
    depth: int
    rest: tuple[PlannedAction | PlannedTask, ...] = ()
    heard: str = ""
    thought: str = ""
    children: int = 0

    @property
    def place(self) -> Place:
        return Place(self.number, self.text, self.role, self.rest, self.heard, self.thought)


class RunState:
    """What a run has come to: its note, what it may cite, what it proposed.

    Args:
        world: that every look outside goes through.
        trace: is told of everything.
    """

    def __init__(self, job: RecipeJob, world: LabWorld, trace: TraceWriter) -> None:
        self.job = job
        self.world = world
        self.trace = trace
        self.note = RunNote()
        self.bound: dict[str, Source] = {}
        self.proposed: dict[str, Recipe] = {}
        trace.add("begun", schema=SCHEMA, job=job.to_json())
        for number, rule in enumerate(show_rules(job.rules), start=1):
            self.revise(Revision("append", "constraints", f"{RULE_KEY}{number}", rule, (), PROGRAM))

    def revise(self, change: Revision) -> None:
        """Change the note, and tell the trace."""
        self.note = self.note.revise(change)
        self.trace.add("noted", revision=self.note.revision, **asdict(change))

    def require_going(self) -> None:
        """End the run where it was canceled or has no time left; asked before each call."""
        why = self.world.stop(self.trace.next_seq)
        if why is None:
            return
        self.trace.add("stopped", why=why)
        if why == "canceled":
            raise _Ended("canceled", "it was canceled")
        raise _Ended("seconds", f"its {self.job.limits.seconds:g} seconds are over")

    def look(self, tool: str, arguments: dict[str, Any], task: str) -> Observed | str:
        """Call a tool; return what it found, or why it did not."""
        self.require_going()
        event = {"tool": tool, "arguments": arguments, "task": task}
        try:
            found = self.world.call(self.trace.next_seq, tool, arguments)
        except RecordingError:
            raise
        except RagError as error:
            said = hide_credentials(str(error))
            self.trace.add("called", **event, observed=None, error=said)
            return said
        self.trace.add("called", **event, observed=asdict(found), error=None)
        self.bound |= {one.citation: one for one in found.sources}
        return found

    def propose(self, recipe: Recipe, by: str) -> str:
        """Keep a recipe that was checked; return its key."""
        key = f"R{len(self.proposed) + 1}"
        self.proposed[key] = recipe
        plain = recipe.model_dump(mode="json", exclude_defaults=True)
        self.trace.add("proposed", key=key, by=by, recipe=plain)
        cited = tuple(dict.fromkeys(c for ground in recipe.grounds for c in ground.citations))
        self.revise(Revision("append", "candidates", key, formula(recipe), cited, PROGRAM))
        name, smiles = recipe.small_molecule_modifier.name, recipe.small_molecule_modifier.smiles
        if smiles and disagreement(name, smiles) is None:
            said = (
                f"{key}: whether {smiles} is {name} was not checked: that name is not known here."
            )
            self.revise(Revision("append", "risks", self.note.next_key("risks"), said, (), PROGRAM))
        return key

    def leave_out(self, one: Dropped, key: str | None, by: str) -> None:
        """Note why a candidate is not in the result."""
        said = f"{one.what}: left out: {one.why}"
        key = key or self.note.next_key("candidates")
        self.revise(Revision("upsert", "candidates", key, said, one.citations, by))


def run_recipes(
    job: RecipeJob,
    world: LabWorld,
    trace: TraceWriter,
    collect: Callable[[RunState], tuple[Sequence[Recipe], str]],
) -> RunOutcome:
    """Make the recipes of a run by models, or collect candidates.

    Args:
        collect: proposes into the state and returns the candidates of the result, and what the
            sources name.
    """
    state = RunState(job, world, trace)
    try:
        if job.policy == "collect":
            recipes, named = collect(state)
            ended = _Ended("finish" if recipes else "nothing", "", tuple(recipes))
            if not recipes:
                ended.reason = (
                    f"the sources do not name enough metals and modifiers for {job.wanted} "
                    f"recipe(s) ({named})"
                )
        else:
            _Engine(state).work(_Task("1", job.text, "orchestrator", 1))
            raise AssertionError("the request itself ends by finish or a limit")
    except _Ended as way_out:
        ended = way_out
    recipes = ended.recipes
    if not recipes and ended.ended_by in LIMITS and len(state.proposed) >= job.wanted:
        recipes = _unranked(state, ended.ended_by)
    if recipes:
        try:
            if ended.ended_by != "seconds":
                state.require_going()
            recipes = weigh_grounds(state, recipes, is_over=ended.ended_by == "seconds")
        except _Ended as way_out:
            if way_out.ended_by == "canceled":
                recipes, ended = (), way_out
            else:
                recipes = weigh_grounds(state, recipes, is_over=True)
        _register_evidence(state, recipes)
    reason = ended.reason
    trace.add(
        "ended", ended_by=ended.ended_by, reason=reason,
        recipes=[one.model_dump(mode="json", exclude_defaults=True) for one in recipes],
    )  # fmt: skip
    return RunOutcome(recipes, ended.ended_by, reason, state.note)


def _register_evidence(state: RunState, recipes: Sequence[Recipe]) -> None:
    """Let the note have each claim of the result with its citations (spec 004 §4.3)."""
    known = {entry.text for entry in state.note.entries("evidence")}
    for ground in (one for recipe in recipes for one in recipe.grounds if one.citations):
        if ground.statement not in known:
            known.add(ground.statement)
            key = state.note.next_key("evidence")
            change = Revision(
                "append", "evidence", key, ground.statement, ground.citations, PROGRAM
            )
            state.revise(change)


def _unranked(state: RunState, limit: str) -> tuple[Recipe, ...]:
    """Return the first recipes that were proposed, saying that nobody ranked them."""
    why = _UNRANKED.format(limit=limit)
    first = list(state.proposed.values())[: state.job.wanted]
    return tuple(
        recipe.model_copy(update={"rank": rank, "why_ranked": why})
        for rank, recipe in enumerate(first, start=1)
    )


class _Engine:
    """Asks models what to do, and does it."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._job = state.job
        self._calls = 0
        self._done: list[str] = []
        self._shown: list[Shown] = []
        self._path: list[_Task] = []

    def work(self, task: _Task) -> str:
        """Work on a task until it ends; return the thought it ends with.

        Raises:
            _TaskFailedError: its model gave no usable answer.
            _Ended: the run is over.
        """
        self._path.append(task)
        self._state.trace.add(
            "task", number=task.number, text=task.text, role=task.role, depth=task.depth
        )
        while True:
            turn = self._decide(task)
            task.rest, task.thought = turn.rest, turn.thought
            self._state.trace.add(
                "planned", task=task.number, thought=turn.thought, first=_named(turn.first),
                rest=[show_step(step) for step in turn.rest],
            )  # fmt: skip
            if isinstance(turn.first, End):
                self._path.pop()
                return turn.thought
            if len(self._done) >= self._job.limits.steps:
                raise _Ended("steps", f"its {self._job.limits.steps} steps are done")
            if isinstance(turn.first, Finish):
                for key, one in turn.first.left_out:
                    self._state.leave_out(one, key, task.role)
                raise _Ended("finish", "", turn.first.recipes)
            task.heard = self._do(task, turn.first)

    def _do(self, task: _Task, first: First) -> str:
        """Do one step; return what it led to, as its task hears it."""
        place = len(self._done)
        self._done.append(f"- {task.number} {_named(first)}")
        told = ""
        match first:
            case Look(tool, arguments):
                found = self._state.look(tool, dict(arguments), task.number)
                if isinstance(found, str):
                    heard = f"{tool} failed: {found}"
                else:
                    self._shown = [*self._shown, Shown(_named(first), found)][-self._job.shown :]
                    told = count_of(len(found.sources) + len(found.lines), "result")
                    is_again = any(f" {_named(first)} → " in one for one in self._done[:place])
                    heard = f"{told}, shown above{AGAIN if is_again else ''}"
            case Note(change):
                self._state.revise(change)
                heard = f"the note has it as ({change.key}) in {change.section}"
            case Propose(recipe):
                key = self._state.propose(recipe, task.role)
                heard = f"{formula(recipe)} is kept as {key}"
            case Divide(text, role):
                heard = self._divide(task, text, role)
            case _:
                raise AssertionError(f"{first} is no step")
        self._done[place] += f" → {told or heard}"
        return heard

    def _divide(self, task: _Task, text: str, role: Role) -> str:
        task.children += 1
        child = _Task(f"{task.number}.{task.children}", text, role, task.depth + 1)
        depth = len(self._path)
        try:
            thought = self.work(child)
        except _TaskFailedError as error:
            del self._path[depth:]
            self._state.trace.add("task_failed", number=child.number, why=str(error))
            return f"task {child.number} failed: {error}"
        self._state.trace.add("task_ended", number=child.number, thought=thought)
        return f'task {child.number} ended: "{thought}"'

    def _decide(self, task: _Task) -> Turn:
        """Ask the task's model what is next; an answer that cannot be used is asked for again."""
        is_root = len(self._path) == 1
        tools = tools_of(task.role, is_root=is_root)
        system = system_message(task.role, tools, is_root=is_root)
        repairs: tuple[Message, ...] = ()
        faults = 0
        while True:
            self._state.require_going()
            messages, aliases, cut = self._messages(task.role, system, repairs)
            if self._calls >= self._job.limits.calls:
                raise _Ended("calls", f"its models were asked {self._calls} times")
            seq = self._state.trace.next_seq
            request = self._request(task.role, messages, is_root=is_root)
            answered = self._state.world.ask(seq, task.role, request)
            self._calls += 1
            judged: list[dict[str, Any]] = []
            found = self._read(task, aliases, answered, seq, judged, is_root=is_root)
            fault = found if isinstance(found, str) and answered.error is None else None
            self._state.trace.add(
                "asked", task=task.number, role=task.role,
                request={"messages": [asdict(one) for one in messages],
                         "temperature": request.temperature},
                turn=asdict(replace(answered, fault=fault)),
                aliases=aliases.mapping, judged=judged, **({"cut": cut} if cut else {}),
            )  # fmt: skip
            if answered.error is not None:
                if answered.error_kind is None:
                    # Nobody waited for the answer: the run is over.
                    self._state.require_going()
                raise _Ended(answered.error_kind or "failed", hide_credentials(answered.error))
            if isinstance(found, Turn):
                return found
            faults += 1
            if faults > self._job.limits.repairs:
                self._give_up(faults, found)
            repairs = (
                *repairs,
                Message("assistant", answered.text),
                Message("user", f"That cannot be used: {found} {FORM}"),
            )

    def _give_up(self, faults: int, fault: str) -> None:
        said = f"{faults} answers in a row could not be used, the last: {fault}"
        if len(self._path) == 1:
            raise _Ended("repairs", said)
        raise _TaskFailedError(said)

    def _read(
        self, task: _Task, aliases: TurnAliases, answered: ModelTurn, seq: int,
        judged: list[dict[str, Any]], *, is_root: bool,
    ) -> Turn | str:  # fmt: skip
        def judge(name: str, smiles: str | None) -> Carboxyl:
            found = self._state.world.judge(seq, name, smiles)
            judged.append(carboxyl_to_json(name, smiles, found))
            return found

        if answered.error is not None:
            return answered.error
        return Reader(
            task.role, is_root, task.depth < self._job.depth, tools_of(task.role, is_root=is_root),
            aliases, self._state.note, self._state.proposed, self._job.wanted, self._job.rules,
            judge,
        ).read(answered.text)  # fmt: skip

    def _messages(
        self, role: Role, system: Message, repairs: tuple[Message, ...]
    ) -> tuple[tuple[Message, ...], TurnAliases, str]:
        """Return what is asked now, the names of its sources, and what was cut of it."""
        tokens = self._job.models[role].get(PROMPT_TOKENS)
        room = None
        if tokens is not None:
            # The last answer's beginning is enough to see what was wrong with it.
            repairs = tuple(
                replace(one, content=one.content[:_REPAIRED_CHARACTERS])
                if one.role == "assistant" else one
                for one in repairs[-2:]
            )  # fmt: skip
            room = int(tokens) - estimate_tokens(*(m.content for m in (system, *repairs)))
        limits = self._job.limits
        try:
            state, aliases, cut = state_message(
                self._job, [one.place for one in self._path], self._state.note,
                self._state.proposed, self._done, self._shown,
                Left(limits.steps - len(self._done), limits.calls - self._calls),
                self._state.bound, room,
            )  # fmt: skip
        except BudgetError as error:
            raise _Ended("tokens", str(error)) from error
        return (system, state, *repairs), aliases, cut

    def _request(self, role: Role, messages: tuple[Message, ...], *, is_root: bool) -> ChatRequest:
        most = self._job.models[role].get(ANSWER_TOKENS)
        return ChatRequest(
            messages, task=TASK, schema=plan_schema(is_root=is_root),
            temperature=self._job.temperature, max_tokens=None if most is None else int(most),
        )  # fmt: skip


def _named(first: First) -> str:
    match first:
        case Look(tool, arguments):
            said = ", ".join(str(value) for value in arguments.values() if value != "")
            return f'{tool} "{said}"'
        case Note(change):
            return f"note {change.op} in {change.section}"
        case Propose(recipe):
            return f"propose {formula(recipe)}"
        case Divide(task, role):
            return f"task for {role}: {task}"
        case Finish():
            return "finish"
        case _:
            return "end of the task"
