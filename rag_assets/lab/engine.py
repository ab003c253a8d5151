"""ReCAP's manner: a plan is a list of steps; the first is done or divided, the rest is refined.

After Zhang et al., "ReCAP: Recursive Context-Aware Reasoning and Planning". What a step led to and
the steps that are left go back to the task that planned it; a step that fails goes back with its
fault. The reference loops for ever where a model answers no JSON: here every way ends.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import ValidationError

from rag_assets.answering.agents import Toolset
from rag_assets.answering.agents.trace import ModelTurn
from rag_assets.lab.chemistry import Carboxyl, disagreement
from rag_assets.lab.prompts import (
    AGAIN,
    ANSWER_TOKENS,
    FORM,
    LIMITS,
    PROMPT_TOKENS,
    SAMPLED,
    EndedBy,
    ModelPlan,
    PlannedAction,
    PlannedTask,
    RecipeJob,
    RunOutcome,
    Shown,
    Task,
    plan_schema,
    show_step,
    state_message,
    system_message,
)
from rag_assets.lab.recipes import ProposedGround, ProposedRecipe, check_recipe, formula, show_rules
from rag_assets.lab.runs import Dropped, Recipe
from rag_assets.lab.store import PROGRAM
from rag_assets.lab.tools import LOOKING, Chosen, LeftOut, tools_of
from rag_assets.lab.trace import (
    SCHEMA,
    Observed,
    Revision,
    Role,
    RunNote,
    Source,
    TraceWriter,
    TurnAliases,
)
from rag_assets.lab.weighing import weigh_grounds
from rag_assets.lab.worlds import LabWorld
from rag_assets.llm import ChatRequest, Message, estimate_tokens
from rag_assets.model import (
    BudgetError,
    RagError,
    RecordingError,
    UsageError,
    count_of,
    hide_credentials,
)
from rag_assets.model.settings import RecipeRule

# Small models put their JSON between fences, or say a word before it.
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
# Program's own lines of the note are not a model's to change: rules, and what was proposed.
RULE_KEY = "rule"
_RULE = re.compile(rf"{RULE_KEY}\d+")
_PROPOSED = re.compile(r"R\d+")
Judge = Callable[[str, str | None], Carboxyl]
_CUT_OFF = (
    "your answer breaks off before its end: write less. A plan of one to three steps is enough, "
    "and a thought of one or two sentences."
)


@dataclass(frozen=True, slots=True)
class Look:
    """Call a tool that looks something up."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Note:
    """Change the RunNote."""

    change: Revision


@dataclass(frozen=True, slots=True)
class Propose:
    """Keep a recipe that was checked."""

    recipe: Recipe


@dataclass(frozen=True, slots=True)
class Finish:
    """End the run with these recipes.

    Args:
        left_out: with the key of a proposed recipe; None for what was never proposed.
    """

    recipes: tuple[Recipe, ...]
    left_out: tuple[tuple[str | None, Dropped], ...]


@dataclass(frozen=True, slots=True)
class Divide:
    """Give a task to a role."""

    task: str
    role: Role


@dataclass(frozen=True, slots=True)
class End:
    """End this task; the thought goes to the task above."""


First = Look | Note | Propose | Finish | Divide | End


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer that can be used: what is done now, and what stays planned."""

    thought: str
    first: First
    rest: tuple[PlannedAction | PlannedTask, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the answers to one prompt.

    Args:
        role: that was asked; `is_root` where its task is the request itself.
        may_divide: False at the greatest depth.
        proposed: recipes so far, by key.
        wanted: recipes of the result.
    """

    role: Role
    is_root: bool
    may_divide: bool
    tools: Toolset[Any]
    aliases: TurnAliases
    note: RunNote
    proposed: Mapping[str, Recipe]
    wanted: int
    rules: tuple[RecipeRule, ...]
    judge: Judge

    def read(self, text: str) -> Turn | str:
        """Return what an answer says is done next, or what is wrong with it."""
        fenced = _FENCED.search(text)
        try:
            answer = ModelPlan.model_validate_json(fenced[1] if fenced else text)
            return Turn(answer.thought, self._first(answer), tuple(answer.plan[1:]))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if first["type"] == "json_invalid" and "EOF" in first["msg"]:
                return _CUT_OFF
            key = ".".join(map(str, first["loc"])) or "the whole"
            return f"{key}: {first['msg']}."
        except UsageError as error:
            return str(error)

    def _first(self, answer: ModelPlan) -> First:
        if not answer.plan:
            if self.is_root:
                raise UsageError(
                    f"plan: the request ends by the action finish with {self.wanted} recipe(s), "
                    f"not by an empty plan. Write the next step: {self._next_step()}"
                )
            return End()
        step = answer.plan[0]
        if isinstance(step, PlannedTask):
            if not self.may_divide:
                raise UsageError(
                    "plan: tasks are as deep as they may be: do this one by actions, or end it."
                )
            return Divide(step.task, step.role)
        return self._action(step)

    def _next_step(self) -> str:
        """Return a step that can be done now, as an example of its form."""
        if len(self.proposed) >= self.wanted:
            ranked = [{"recipe": key, "why": "…"} for key in list(self.proposed)[: self.wanted]]
            step = {"action": "finish", "arguments": {"recipes": ranked, "dropped": []}}
        else:
            step = {"action": "search_modulation", "arguments": {"query": "…"}}
        return json.dumps(step, ensure_ascii=False)

    def _action(self, step: PlannedAction) -> First:
        arguments = self.tools.get(step.action).check(step.arguments)
        if step.action in LOOKING:
            return Look(step.action, self._looked(step.action, step.arguments, arguments))
        match step.action:
            case "note":
                return Note(self._note(**arguments))
            case "propose":
                return Propose(self._propose(arguments))
            case "finish":
                return self._finish(**arguments)
            case "end_task":
                return End()
            case name:
                raise ValueError(f"tool '{name}' is offered and nobody does it")

    def _looked(
        self, name: str, given: Mapping[str, Any], arguments: dict[str, Any]
    ) -> dict[str, Any]:
        if name == "read_passage":
            return {"source": self.aliases.resolve(arguments["source"])}
        if name == "recall_experience" and "role" not in given:
            return {**arguments, "role": self.role}
        return arguments

    def _note(
        self, section: Any, text: str, op: Any, key: Any, citations: list[str] | None
    ) -> Revision:
        said, cited = self.aliases.take(text, citations or ())
        if section == "evidence" and not cited:
            raise UsageError("note: a line of 'evidence' cites what it is from.")
        if key is None and op != "append":
            raise UsageError(f"note: '{op}' needs the key of the line.")
        own = {"candidates": _PROPOSED, "constraints": _RULE}.get(section)
        if own is not None and key is not None and own.fullmatch(key):
            raise UsageError(f"note: the line {key} is the program's; take another key.")
        change = Revision(op, section, key or self.note.next_key(section), said, cited, self.role)
        self.note.revise(change)
        return change

    def _propose(self, arguments: dict[str, Any]) -> Recipe:
        grounds = []
        for ground in arguments["grounds"]:
            said, cited = self.aliases.take(ground.statement, ground.citations)
            changes = {"statement": said, "citations": list(cited)}
            grounds.append(ProposedGround.model_validate({**ground.model_dump(), **changes}))
        if all(ground.basis == "default" for ground in grounds):
            raise UsageError(
                "grounds: a recipe has one ground at least: what a source says (evidence or "
                "experience, with citations), or reasoning that is called so."
            )
        modifier = arguments["small_molecule_modifier"].model_dump()
        recipe = ProposedRecipe.model_validate(
            {**arguments, "small_molecule_modifier": modifier, "grounds": grounds}
        )
        return check_recipe(recipe, self.rules, self.judge)

    def _finish(self, recipes: list[Chosen], dropped: list[LeftOut]) -> Finish:
        if len(recipes) != self.wanted:
            raise UsageError(
                f"finish: the request wants exactly {self.wanted} recipe(s), got {len(recipes)}."
            )
        keys = [one.recipe for one in recipes]
        unknown = [key for key in keys if key not in self.proposed]
        if unknown:
            known = ", ".join(self.proposed) or "none yet"
            raise UsageError(f"finish: {unknown[0]} was never proposed (there is {known}).")
        if len(set(keys)) != len(keys):
            raise UsageError("finish: each proposed recipe has one place.")
        left = [LeftOut.model_validate(one.model_dump()) for one in dropped]
        untold = [k for k in self.proposed if k not in keys and k not in {o.what for o in left}]
        if untold:
            raise UsageError(f"finish: say in 'dropped' why {', '.join(untold)} is left out.")
        out = tuple(self._dropped(one) for one in left)
        named = (one.what if one.what in self.proposed else None for one in left)
        made = []
        for rank, one in enumerate(recipes, start=1):
            why, _ = self.aliases.take(one.why)
            changes = {"rank": rank, "why_ranked": why, "dropped": out if rank == 1 else ()}
            made.append(self.proposed[one.recipe].model_copy(update=changes))
        return Finish(tuple(made), tuple(zip(named, out, strict=True)))

    def _dropped(self, one: LeftOut) -> Dropped:
        why, cited = self.aliases.take(one.why)
        what = one.what
        if what in self.proposed:
            what = formula(self.proposed[what])
        else:
            what, more = self.aliases.take(what)
            cited = tuple(dict.fromkeys((*cited, *more)))
        return Dropped(what=what, why=why, citations=cited)


TASK = "lab_recipes"
_REPAIRED_CHARACTERS = 300


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
            _Engine(state).work(Task("1", job.text, "orchestrator", 1))
            raise AssertionError("the request itself ends by finish or a limit")
    except _Ended as way_out:
        ended = way_out
    recipes = ended.recipes
    if not recipes and ended.ended_by in LIMITS and len(state.proposed) >= job.wanted:
        why = f"The run ended at its limit of {ended.ended_by} before the model ranked: order of "
        first = list(state.proposed.values())[: job.wanted]
        recipes = tuple(
            one.model_copy(update={"rank": rank, "why_ranked": f"{why}proposal."})
            for rank, one in enumerate(first, start=1)
        )
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
        # The note has each claim of the result with its citations (spec 004 §4.3).
        known = {entry.text for entry in state.note.entries("evidence")}
        for ground in (one for recipe in recipes for one in recipe.grounds if one.citations):
            if ground.statement not in known:
                known.add(ground.statement)
                key, cited = state.note.next_key("evidence"), ground.citations
                state.revise(Revision("append", "evidence", key, ground.statement, cited, PROGRAM))
    trace.add(
        "ended", ended_by=ended.ended_by, reason=ended.reason,
        recipes=[one.model_dump(mode="json", exclude_defaults=True) for one in recipes],
    )  # fmt: skip
    return RunOutcome(recipes, ended.ended_by, ended.reason, state.note)


class _Engine:
    """Asks models what to do, and does it."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._job = state.job
        self._calls = 0
        self._done: list[str] = []
        self._shown: list[Shown] = []
        self._looked: dict[tuple[str, str], tuple[int, Observed]] = {}
        self._path: list[Task] = []

    def work(self, task: Task) -> str:
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

    def _do(self, task: Task, first: First) -> str:
        """Do one step; return what it led to, as its task hears it."""
        place = len(self._done)
        self._done.append(f"- {task.number} {_named(first)}")
        told = ""
        if not isinstance(first, Look):
            task.repeats = 0
        match first:
            case Look(tool, arguments):
                words = " ".join(map(str, arguments.values())).casefold()
                asked = (tool, " ".join(words.split()))
                trace, is_again = self._state.trace, asked in self._looked
                task.repeats = task.repeats + 1 if is_again else 0
                found: Observed | str
                seq, found = self._looked.get(asked, (trace.next_seq, ""))
                if is_again:
                    trace.add("repeated", tool=tool, arguments=dict(arguments), first=seq)
                    if task.repeats > self._job.limits.repairs:
                        raise self._failed(f"it asked {task.repeats} times again: {_named(first)}")
                else:
                    found = self._state.look(tool, dict(arguments), task.number)
                if isinstance(found, str):
                    heard = f"{tool} failed: {found}"
                else:
                    self._looked[asked] = (seq, found)
                    self._shown = [*self._shown, Shown(_named(first), found)][-self._job.shown :]
                    told = count_of(len(found.sources) + len(found.lines), "result")
                    heard = AGAIN.format(told) if is_again else f"{told}, shown above"
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

    def _failed(self, said: str) -> _Ended | _TaskFailedError:
        """Return how a task ends that comes to nothing: the request itself with the run."""
        return _Ended("repairs", said) if len(self._path) == 1 else _TaskFailedError(said)

    def _divide(self, task: Task, text: str, role: Role) -> str:
        task.children += 1
        child = Task(f"{task.number}.{task.children}", text, role, task.depth + 1)
        depth = len(self._path)
        try:
            thought = self.work(child)
        except _TaskFailedError as error:
            del self._path[depth:]
            self._state.trace.add("task_failed", number=child.number, why=str(error))
            return f"task {child.number} failed: {error}"
        self._state.trace.add("task_ended", number=child.number, thought=thought)
        return f'task {child.number} ended: "{thought}"'

    def _decide(self, task: Task) -> Turn:
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
            model, chosen = self._job.models[task.role], self._job.temperature
            most, sampled = model.get(ANSWER_TOKENS), model.get(SAMPLED)
            if chosen is None and sampled is not None:
                chosen = float(sampled)
            request = ChatRequest(
                messages, task=TASK, schema=plan_schema(is_root=is_root), temperature=chosen,
                max_tokens=None if most is None else int(most), seed=self._job.seed,
            )  # fmt: skip
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
                raise self._failed(
                    f"{faults} answers in a row could not be used, the last: {found}"
                )
            repairs = (
                *repairs,
                Message("assistant", answered.text),
                Message("user", f"That cannot be used: {found} {FORM}"),
            )

    def _read(
        self, task: Task, aliases: TurnAliases, answered: ModelTurn, seq: int,
        judged: list[dict[str, Any]], *, is_root: bool,
    ) -> Turn | str:  # fmt: skip
        def judge(name: str, smiles: str | None) -> Carboxyl:
            found = self._state.world.judge(seq, name, smiles)
            judged.append({"name": name, "smiles": smiles, **asdict(found)})
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
                self._job, self._path, self._state.note,
                self._state.proposed, self._done, self._shown,
                f"{limits.steps - len(self._done)} steps, {limits.calls - self._calls} calls",
                self._state.bound, room,
            )  # fmt: skip
        except BudgetError as error:
            raise _Ended("tokens", str(error)) from error
        return (system, state, *repairs), aliases, cut


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
