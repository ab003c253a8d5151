"""What a model answers at each turn, read and checked: a thought, a plan, its first step."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rag_assets.agents import Toolset
from rag_assets.lab.orchestrating.note import Revision, Role, RunNote
from rag_assets.lab.orchestrating.sources import TurnAliases
from rag_assets.lab.orchestrating.tools import LOOKING, Chosen, LeftOut
from rag_assets.lab.recipes import Carboxyl, ProposedGround, ProposedRecipe, check_recipe
from rag_assets.lab.store import Dropped, Recipe
from rag_assets.model import UsageError
from rag_assets.settings import RecipeRule

# Small models put their JSON between fences, or say a word before it.
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
# Program's own lines of the note are not a model's to change: rules, and what was proposed.
RULE_KEY = "rule"
_RULE = re.compile(rf"{RULE_KEY}\d+")
_PROPOSED = re.compile(r"R\d+")
Judge = Callable[[str, str | None], Carboxyl]
# Of one plan: only the first is done before it is made anew.
MOST_STEPS = 6
_CUT_OFF = (
    "your answer breaks off before its end: write less. A plan of one to three steps is enough, "
    "and a thought of one or two sentences."
)


class PlannedAction(BaseModel):
    """A step that a tool does."""

    model_config = ConfigDict(extra="forbid")

    action: str
    arguments: dict[str, Any] = {}


class PlannedTask(BaseModel):
    """A step that is divided further, by a role."""

    model_config = ConfigDict(extra="forbid")

    task: Annotated[str, Field(min_length=1, max_length=600)]
    role: Role


class ModelPlan(BaseModel):
    """What a model is asked for each turn (ReCAP): the steps that are left, the next one first."""

    model_config = ConfigDict(extra="forbid")

    thought: Annotated[str, Field(max_length=2000)]
    plan: Annotated[list[PlannedAction | PlannedTask], Field(max_length=MOST_STEPS)]

    @field_validator("plan", mode="before")
    @classmethod
    def _cut(cls, value: Any) -> Any:
        # Small models plan on and on; what comes later is planned anew anyway.
        return value[:MOST_STEPS] if isinstance(value, list) else value


def plan_schema(*, is_root: bool) -> dict[str, Any]:
    """Return the JSON Schema of an answer; the request itself never ends by an empty plan."""
    schema = ModelPlan.model_json_schema()
    if is_root:
        schema["properties"]["plan"]["minItems"] = 1
    return schema


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
            from rag_assets.lab.recipes import formula

            what = formula(self.proposed[what])
        else:
            what, more = self.aliases.take(what)
            cited = tuple(dict.fromkeys((*cited, *more)))
        return Dropped(what=what, why=why, citations=cited)
