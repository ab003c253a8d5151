"""What a model is told each turn: who it is, where it stands, what is known and shown now."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.agents import Toolset
from rag_assets.lab.orchestrating.deciding import PlannedAction, PlannedTask
from rag_assets.lab.orchestrating.job import RecipeJob
from rag_assets.lab.orchestrating.note import SECTIONS, RunNote
from rag_assets.lab.orchestrating.sources import Observed, TurnAliases
from rag_assets.lab.orchestrating.tools import Role
from rag_assets.lab.recipes import formula
from rag_assets.lab.store import Recipe
from rag_assets.llm import Message, Prompt, load_prompt

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
AGAIN = ". It was looked up before and is the same: note what it says, propose, or look elsewhere"
_SHARED = "lab_recipes"
_DONE_LINES = 12
_PASSAGE_CHARACTERS = 1500


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task stands.

    Args:
        number: `1.2`: the second task of the first.
        rest: what its last answer left planned.
        heard: what its last step led to; empty at its beginning.
        thought: of its last answer.
    """

    number: str
    text: str
    role: Role
    rest: Sequence[PlannedAction | PlannedTask]
    heard: str
    thought: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The result of one step, as long as a prompt holds it."""

    label: str
    observed: Observed


@dataclass(frozen=True, slots=True)
class Left:
    """What a run may still take."""

    steps: int
    calls: int


def prompt_of(role: Role) -> tuple[Prompt, Prompt]:
    """Return what every role is told, and what this one is."""
    return load_prompt(_SHARED), load_prompt(f"lab_{role}")


def prompt_hashes() -> dict[str, str]:
    """Return the hash of each prompt of a run, by name."""
    prompts = {prompt for role in ROLES for prompt in prompt_of(role)}
    return {prompt.name: prompt.hash for prompt in sorted(prompts, key=lambda one: one.name)}


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
    path: Sequence[Place],
    note: RunNote,
    proposed: Mapping[str, Recipe],
    done: Sequence[str],
    shown: Sequence[Shown],
    left: Left,
    aliases: TurnAliases,
) -> Message:
    """Return where a run stands. Every source gets its name of this prompt.

    Args:
        path: from the request to the task that is asked.
        done: every step so far, one line each.
        shown: results that are still shown, oldest first.
    """
    parts = [
        f"# Request\n{job.text}\nRecipes wanted: exactly {job.wanted}.",
        "# Where you are\n" + "\n".join(_path(path)),
        # What is shown gets the first names.
        _shown(shown, aliases),
        "# RunNote\n" + ("\n".join(_noted(note, aliases)) or "(empty)"),
    ]
    if proposed:
        lines = [f"- {key}: {formula(recipe)}" for key, recipe in proposed.items()]
        parts.append("# Proposed so far\n" + "\n".join(lines))
    if done:
        cut = ["- …"] if len(done) > _DONE_LINES else []
        parts.append("# Done so far\n" + "\n".join([*cut, *done[-_DONE_LINES:]]))
    here = path[-1]
    if here.heard:
        parts.append(f"# What your last step led to\n{here.heard}")
    parts.append(f"Left: {left.steps} steps, {left.calls} calls. Your task: {here.text}")
    return Message("user", "\n\n".join(part for part in parts if part))


def _path(path: Sequence[Place]) -> Iterator[str]:
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


def _shown(shown: Sequence[Shown], aliases: TurnAliases) -> str:
    parts = []
    told: set[str] = set()
    for each in shown:
        lines = []
        for source in each.observed.sources:
            mark = aliases.mark([source.citation]).strip()
            text = "(shown above)"
            if source.citation not in told:
                flat = " ".join(source.text.split())
                cut = "…" if len(flat) > _PASSAGE_CHARACTERS else ""
                text = f'"{flat[:_PASSAGE_CHARACTERS]}{cut}"'
            told.add(source.citation)
            lines.append(f"- {mark} {source.label}: {text}")
        lines += [f"- {line}" for line in each.observed.lines]
        lines += [f"Note: {one}" for one in each.observed.notes]
        parts.append(f"{each.label}\n" + ("\n".join(lines) or "Nothing was found."))
    return (
        "# Shown now (cite by these marks; they hold for this answer alone)\n"
        + ("\n\n".join(parts))
        if parts
        else ""
    )


def _noted(note: RunNote, aliases: TurnAliases) -> Iterator[str]:
    for section in SECTIONS:
        entries = note.entries(section)
        if entries:
            yield f"{section}:"
            for one in entries:
                yield f"- ({one.key}) {one.text}{aliases.mark(one.citations)}"


def _listed(tools: Toolset[Any]) -> str:
    every = (*tools.tools.values(), tools.finish)
    return "\n".join(
        f"- {tool.name}: {tool.description}\n  arguments: "
        + json.dumps(_plain(tool.schema()), ensure_ascii=False)
        for tool in every
    )


def _plain(schema: Any) -> Any:
    """Return a schema without the titles that pydantic makes of names: they cost tokens."""
    if isinstance(schema, dict):
        return {
            key: _plain(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_plain(one) for one in schema] if isinstance(schema, list) else schema
