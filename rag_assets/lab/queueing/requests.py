"""A request becomes runs: the same input so often as it is asked for, queued."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rag_assets.lab.opening import Laboratory
from rag_assets.lab.orchestrating import ROLES
from rag_assets.lab.store import Run, Writing, list_runs, record_run
from rag_assets.lab.store.runs import MOST_RECIPES, Policy
from rag_assets.model import ConfigurationError, UsageError, hash_fields
from rag_assets.workspace import slug

MOST_RUNS = 5
_SLUG_CHARACTERS = 40
_HASH_CHARACTERS = 12
_COLLECTED = (
    "No language model: candidates and sentences for and against them are collected from the "
    "sources as they are found; nothing is ranked or concluded."
)


class RecipeRequest(BaseModel):
    """What is asked for.

    Args:
        text: in the experimenter's words.
        n: runs, each with the same input (spec 004 §8.0).
        recipes_per_run: that each returns, exactly.
        policy: None for the settings'.
        temperature: of the models; None for the settings'. Runs differ by nothing else.
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
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise UsageError(f"{where}: '{key}': {first['msg']}.") from error


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
        numbers = _free_numbers(name, taken, request.n)
        return [
            _queue(writing, f"{name}-r{number}", request, policy, at, place)
            for place, number in enumerate(numbers, start=1)
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
    llm = lab.workspace.settings.llm
    sampled = temperature if temperature is not None else llm.for_role("orchestrator").temperature
    if len(runs) > 1 and sampled == 0:
        return ["the model's temperature is 0: its runs will be nearly the same (--temperature)."]
    return []


def queue_run(
    lab: Laboratory, run_id: str, request: RecipeRequest, place: int, *, at: str, by: str
) -> Run:
    """Queue one run of a request under an id of its own.

    Raises:
        UsageError: there is a run of that id.
        ConfigurationError: as `submit_request`.
    """
    policy = choose_policy(lab, request.policy)
    require_bases(lab)
    with lab.store.writing(at, by) as writing:
        if any(run.id == run_id for run, _ in list_runs(writing)):
            raise UsageError(f"there is a run '{run_id}' already.")
        return _queue(writing, run_id, request, policy, at, place)


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
                f"lab.bases.{key} names the namespace '{name}', and there is none. Make it: "
                f"rag namespace add {name} --template kb_{key}, put its papers into raw/{name}, "
                "then rag ingest."
            )


def _queue(
    writing: Writing, run_id: str, request: RecipeRequest, policy: Literal["model", "collect"],
    at: str, place: int,
) -> Run:  # fmt: skip
    asked = {**request.model_dump(mode="json"), "policy": policy, "place": place}
    run = Run(id=run_id, kind=policy, state="queued", created_at=at, request=asked)
    record_run(writing, run)
    return run


def _free_numbers(name: str, taken: set[str], count: int) -> list[int]:
    number = 1
    while f"{name}-r{number}" in taken:
        number += 1
    return list(range(number, number + count))
