"""What a run is given and may take, and what a model is told each turn."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from rag_assets.answering.agents import Toolset
from rag_assets.answering.agents.trace import Limits
from rag_assets.lab.recipes import formula
from rag_assets.lab.runs import Policy, Recipe
from rag_assets.lab.tools import tools_of
from rag_assets.lab.trace import SECTIONS, Observed, Role, RunNote, Source, TurnAliases
from rag_assets.llm import Message, Prompt, context_tokens, estimate_tokens, load_prompt
from rag_assets.model import BudgetError, ConfigurationError, DamagedFileError, first_fault
from rag_assets.model.settings import LlmSettings, RecipeRule

# In what is recorded of a role's model: tokens that a prompt and an answer may have, and the
# temperature where the request names none.
PROMPT_TOKENS, ANSWER_TOKENS = "prompt_tokens", "answer_tokens"
SAMPLED = "sampled_temperature"
EndedBy = Literal[
    "finish", "steps", "calls", "tokens", "seconds", "repairs", "failed", "nothing", "canceled"
]
# At these a run that has enough recipes ends with them.
LIMITS: frozenset[EndedBy] = frozenset({"steps", "calls", "tokens", "seconds", "repairs"})


@dataclass(frozen=True, slots=True)
class RecipeJob:
    """All that decides a run, beside what it finds and what models say.

    Args:
        run_id: of the run.
        text: the request as it was written.
        wanted: recipes that it returns, exactly.
        policy: who decides.
        rules: configured ones.
        depth: of tasks within tasks.
        limits: of the whole run, but `repairs`, which is of one answer.
        shown: how many of the last results a prompt holds.
        models: by role what is recorded of its model, with its name.
        temperature: of this request; None for that of each role's model.
        prompts: SHA-256 of each packaged prompt, by name.
        snapshot: settings, versions, publications: what a reader of the trace wants to know.
        seed: of the models' sampling; None in traces of earlier versions.
    """

    run_id: str
    text: str
    wanted: int
    policy: Policy
    rules: tuple[RecipeRule, ...]
    depth: int
    limits: Limits
    shown: int
    models: Mapping[str, Mapping[str, str | int | float]]
    temperature: float | None
    prompts: Mapping[str, str]
    snapshot: Mapping[str, Any]
    seed: int | None = None

    __pydantic_config__ = ConfigDict(extra="forbid")

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON knows."""
        rules = [rule.model_dump(mode="json", exclude_defaults=True) for rule in self.rules]
        plain = TypeAdapter(RecipeJob).dump_python(self, mode="json")
        if self.seed is None:
            del plain["seed"]
        return {**plain, "rules": rules, "limits": asdict(self.limits)}


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended: with `recipes`, or without and a `reason`."""

    recipes: tuple[Recipe, ...]
    ended_by: EndedBy
    reason: str
    note: RunNote

    @property
    def state(self) -> Literal["done", "failed", "canceled"]:
        """The state of the run."""
        if self.recipes:
            return "done"
        return "canceled" if self.ended_by == "canceled" else "failed"


def job_from_json(values: Mapping[str, Any]) -> RecipeJob:
    """Return the job that `to_json` wrote.

    Raises:
        DamagedFileError: it was changed.
    """
    try:
        return TypeAdapter(RecipeJob).validate_python(dict(values))
    except ValidationError as error:
        key, said, _ = first_fault(error)
        raise DamagedFileError(f"this trace was changed: '{key}': {said}.") from error


# Of one plan: only the first is done before it is made again.
MOST_STEPS = 6


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


ROLES: tuple[Role, ...] = ("orchestrator", "mof_expert", "tio2_expert")
FORM = (
    "Answer with one JSON object and nothing else: "
    '{"thought": "…", "plan": [step, …]}: a thought of one or two sentences, a plan of one to six '
    "steps. A step is "
    '{"action": "name of a tool", "arguments": {…}} or '
    '{"task": "what is to be found out", "role": "orchestrator | mof_expert | tio2_expert"}. '
    "Only the first step is done now; then you see what came of it and plan anew. "
)
# Small models look the same up again and again.
AGAIN = (
    "refused: it was made before, and found {}, shown again above. Note what it says, propose, or "
    "look elsewhere"
)
_SHARED = "lab_recipes"
# Of a model's context an answer has one part of so many; a plan with a recipe is some 500 tokens.
_ANSWERS_SHARE = 5
# Of a prompt beside what every one begins with: request, note, one short passage.
_LEAST_STATE_TOKENS = 500
# Of a schema: what is checked all the same, and told where it is broken.
_UNTOLD = frozenset({"title", "additionalProperties", "minLength", "maxLength"})


@dataclass(frozen=True, slots=True)
class _Room:
    """How much of each part a prompt holds; what was shown last goes last.

    Args:
        passage: characters of each passage, `entry` of each line of the note.
        results: of looks; `entries` of each section of the note; `done` lines.
    """

    passage: int
    results: int
    entry: int
    entries: int
    done: int

    def describe(self) -> str:
        """Say what was cut, for the trace."""
        return (
            f"cut to the model's context: {self.passage} characters a passage, the last "
            f"{self.results} results, {self.entries} lines of each section of the note with "
            f"{self.entry} characters, {self.done} steps"
        )


# From what a prompt holds to what the least context holds: passages are shortened before they are
# dropped, and they before the note.
_ROOMS = (
    _Room(1500, 99, 800, 999, 12), _Room(700, 99, 800, 999, 12), _Room(350, 99, 800, 999, 8),
    _Room(180, 99, 400, 12, 6), _Room(180, 1, 200, 6, 4), _Room(90, 1, 120, 3, 2),
)  # fmt: skip


@dataclass(slots=True)
class Task:
    """A task of a run.

    Args:
        number: `1.2`: the second task of the first.
        rest: what its last answer left planned.
        heard: what its last step led to; empty at its beginning.
        thought: of its last answer.
        children: how many tasks it was divided into.
        repeats: looks in a row that were made before.
    """

    number: str
    text: str
    role: Role
    depth: int
    rest: tuple[PlannedAction | PlannedTask, ...] = ()
    heard: str = ""
    thought: str = ""
    children: int = 0
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """The result of one step, as long as a prompt holds it."""

    label: str
    observed: Observed


def prompt_of(role: Role) -> tuple[Prompt, Prompt]:
    """Return what every role is told, and what this one is."""
    return load_prompt(_SHARED), load_prompt(f"lab_{role}")


def prompt_hashes() -> dict[str, str]:
    """Return the hash of each prompt of a run, by name."""
    prompts = {prompt for role in ROLES for prompt in prompt_of(role)}
    return {prompt.name: prompt.hash for prompt in sorted(prompts, key=lambda one: one.name)}


def room_of(role: Role, llm: LlmSettings) -> dict[str, int]:
    """Return the tokens of a prompt and of an answer of a role, where its model has a bound.

    Raises:
        ConfigurationError: not even what every prompt of the role begins with has room.
    """
    llm = llm.for_role(role)
    context = context_tokens(llm)
    if context is None:
        return {}
    answer = min(llm.max_tokens, context // _ANSWERS_SHARE)
    is_root = role == ROLES[0]
    begins = system_message(role, tools_of(role, is_root=is_root), is_root=is_root).content
    least = estimate_tokens(begins) + _LEAST_STATE_TOKENS
    if context - answer < least:
        raise ConfigurationError(
            f"llm.context_tokens leaves {context - answer} tokens for a prompt of {role}, and a "
            f"run needs {least}: set it to {least + least // (_ANSWERS_SHARE - 1) + 1} at least, "
            "or take a model of a larger context."
        )
    return {PROMPT_TOKENS: context - answer, ANSWER_TOKENS: answer}


def system_message(role: Role, tools: Toolset[Any], *, is_root: bool) -> Message:
    """Return what a role is told at the beginning of every conversation."""
    shared, own = prompt_of(role)
    end = (
        "The request ends by the action finish."
        if is_root
        else "An empty plan ends your task; your thought is what the task above hears."
    )
    return Message(
        "system", f"{own.text}\n\n{shared.text}\n\n# Tools\n{_listed(tools)}\n\n{FORM}{end}"
    )


def state_message(
    job: RecipeJob,
    path: Sequence[Task],
    note: RunNote,
    proposed: Mapping[str, Recipe],
    done: Sequence[str],
    shown: Sequence[Shown],
    left: str,
    bound: Mapping[str, Source],
    tokens: int | None = None,
) -> tuple[Message, TurnAliases, str]:
    """Return where a run stands, the names of its sources in it, and what was cut of it.

    Args:
        path: from the request to the task that is asked.
        done: every step so far, one line each.
        shown: results that are still shown, oldest first.
        left: what the run may still take.
        bound: every source that the run was shown.
        tokens: that it may have; None for no limit.

    Raises:
        BudgetError: not even what every prompt needs has room.
    """
    for room in _ROOMS:
        aliases = TurnAliases(bound)
        found = _state(job, path, note, proposed, done, shown, left, aliases, room)
        if tokens is None or estimate_tokens(found.content) <= tokens:
            return found, aliases, "" if room is _ROOMS[0] else room.describe()
    raise BudgetError(
        f"what is known of the run has {estimate_tokens(found.content)} tokens, and the model's "
        f"context ('llm.context_tokens') leaves {max(tokens or 0, 0)} for it. Give it a larger "
        "context, or ask with fewer words."
    )


def _state(
    job: RecipeJob, path: Sequence[Task], note: RunNote, proposed: Mapping[str, Recipe],
    done: Sequence[str], shown: Sequence[Shown], left: str, aliases: TurnAliases, room: _Room,
) -> Message:  # fmt: skip
    parts = [
        f"# Request\n{job.text}\nRecipes wanted: exactly {job.wanted}.",
        "# Where you are\n" + "\n".join(_path(path)),
        # What is shown gets the first names.
        _shown(shown[-room.results :], aliases, room.passage),
        "# RunNote\n" + ("\n".join(_noted(note, aliases, room)) or "(empty)"),
    ]
    if proposed:
        lines = [f"- {key}: {formula(recipe)}" for key, recipe in proposed.items()]
        parts.append("# Proposed so far\n" + "\n".join(lines))
    if done:
        cut = ["- …"] if len(done) > room.done else []
        parts.append("# Done so far\n" + "\n".join([*cut, *done[-room.done :]]))
    here = path[-1]
    if here.heard:
        parts.append(f"# What your last step led to\n{here.heard}")
    parts.append(f"Left: {left}. Your task: {here.text}")
    return Message("user", "\n\n".join(part for part in parts if part))


def _path(path: Sequence[Task]) -> Iterator[str]:
    for place in path:
        yield f"{place.number} {place.text} ({place.role})"
        if place.thought:
            yield f"   thought there: {place.thought}"
        if place.rest:
            yield f"   still planned there: {'; '.join(map(show_step, place.rest))}"


def show_step(step: PlannedAction | PlannedTask) -> str:
    """Return a planned step on one line."""
    if isinstance(step, PlannedTask):
        return f"{step.role}: {step.task}"
    return step.action


def _shown(shown: Sequence[Shown], aliases: TurnAliases, characters: int) -> str:
    parts = []
    told: set[str] = set()
    for each in shown:
        lines = []
        for source in each.observed.sources:
            mark = aliases.mark([source.citation]).strip()
            text = "(shown above)"
            if source.citation not in told:
                flat = " ".join(source.text.split())
                text = f'"{_cut(flat, characters)}"'
            told.add(source.citation)
            lines.append(f"- {mark} {source.label}: {text}")
        lines += [f"- {_cut(line, characters)}" for line in each.observed.lines]
        lines += [f"Note: {one}" for one in each.observed.notes]
        parts.append(f"{each.label}\n" + ("\n".join(lines) or "Nothing was found."))
    return (
        "# Shown now (cite by these marks; they hold for this answer alone)\n"
        + ("\n\n".join(parts))
        if parts
        else ""
    )


def _noted(note: RunNote, aliases: TurnAliases, room: _Room) -> Iterator[str]:
    for section in SECTIONS:
        entries = note.entries(section)
        if entries:
            yield f"{section}:"
            for one in entries[-room.entries :]:
                yield f"- ({one.key}) {_cut(one.text, room.entry)}{aliases.mark(one.citations)}"


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters].rstrip()}…"


def _listed(tools: Toolset[Any]) -> str:
    every = (*tools.tools.values(), tools.finish)
    return "\n".join(
        f"- {tool.name}: {tool.description}\n  arguments: "
        + json.dumps(_plain(tool.schema()), ensure_ascii=False)
        for tool in every
    )


def _plain(schema: Any) -> Any:
    """Return a schema without what a model does without; it costs tokens."""
    if isinstance(schema, dict):
        return {
            key: _plain(value)
            for key, value in schema.items()
            if key not in _UNTOLD or isinstance(value, dict)
        }
    return [_plain(one) for one in schema] if isinstance(schema, list) else schema
