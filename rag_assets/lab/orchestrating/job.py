"""What a run is told and may take, and how it ends."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from rag_assets.agents.trace import Limits
from rag_assets.lab.orchestrating.note import RunNote
from rag_assets.lab.store import Recipe
from rag_assets.lab.store.runs import Policy
from rag_assets.model import DamagedFileError
from rag_assets.settings import RecipeRule

# In what is recorded of a role's model: tokens that a prompt and an answer may have.
PROMPT_TOKENS, ANSWER_TOKENS = "prompt_tokens", "answer_tokens"
EndedBy = Literal[
    "finish", "steps", "calls", "tokens", "seconds", "repairs", "failed", "nothing", "canceled"
]
# At these a run that has enough recipes ends with them.
LIMITS: frozenset[EndedBy] = frozenset({"steps", "calls", "tokens", "seconds"})


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
        temperature: of this request; None for the settings'.
        prompts: SHA-256 of each packaged prompt, by name.
        snapshot: settings, versions, publications: what a reader of the trace wants to know.
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

    __pydantic_config__ = ConfigDict(extra="forbid")

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON knows."""
        rules = [rule.model_dump(mode="json", exclude_defaults=True) for rule in self.rules]
        plain = TypeAdapter(RecipeJob).dump_python(self, mode="json")
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


@cache
def _job_type() -> TypeAdapter[RecipeJob]:
    return TypeAdapter(RecipeJob)


def job_from_json(values: Mapping[str, Any]) -> RecipeJob:
    """Return the job that `to_json` wrote.

    Raises:
        DamagedFileError: it was changed.
    """
    try:
        return _job_type().validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DamagedFileError(f"this trace was changed: '{field}': {first['msg']}.") from error
