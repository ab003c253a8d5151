"""What every section of the settings is: strict, frozen, without keys that nobody knows."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Off = BeforeValidator(lambda value: "off" if value is False else value)  # YAML's bare `off`


def _compiled(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"not a regular expression ({error})") from error
    return value


Expression = Annotated[str, AfterValidator(_compiled)]


class Section(BaseModel):
    """A section of a settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


_Address = Annotated[str, Field(pattern=r"^https?://[^\s/]+(/[^\s]*)?$")]


class DeskSettings(Section):
    """Where the desk is opened, for the links to it from the Dagster UI."""

    # Where `rag ui` is opened, for the desk's links.
    dagster_url: ClassVar[str] = "http://127.0.0.1:3000"

    url: _Address


_Spelling = Annotated[str, Field(pattern=r"\w", max_length=80)]
_Name = Annotated[
    list[_Spelling],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(min_length=1),
]


class GraphSettings(Section):
    """Search by entities, beside words and models.

    Args:
        names: the spellings of each, of which the first is its name; one alone may stand as it is.
    """

    enabled: bool
    names: list[_Name]


ScorerName = Literal["auto", "reader", "facts", "similarity", "llm"]


class ReaderSettings(Section):
    """Thresholds of the scorers `reader` and `llm`; None: those that were fitted for the model."""

    threshold: Share | None
    weak_threshold: Share | None


class VerifySettings(Section):
    """Verification of citations (spec 000)."""

    # Of similarity: WEAK at or above, MISSING below.
    weak_threshold: ClassVar[float] = 0.40
    # Of the scorers that read: as they were fitted.
    llm: ClassVar[ReaderSettings] = ReaderSettings(threshold=None, weak_threshold=None)

    scorer: ScorerName
    k: Count
    threshold: Share


class AuditSettings(Section):
    """Audits of the claims of a draft (spec 000)."""

    # Passages shown for a suggested query, and looked at for what speaks against an assertion.
    suggestions_top_k: ClassVar[int] = 3
    counterevidence_top_k: ClassVar[int] = 10

    counterevidence: Annotated[Literal["off", "soft", "strict"], Off]


class ComparisonSettings(Section):
    """How a form for feedback begins. What method 3 computes depends on none of it.

    Args:
        method3: whether a run is compared with the history of its set of products.
        short_history: what is said where that history has fewer than two entries: `advise` to tell
            what is known otherwise (method 2), or `note` how many there are.
    """

    method3: bool = True
    short_history: Literal["advise", "note"] = "advise"


class ExperienceSettings(Section):
    """How experience is searched and joined.

    Args:
        k_role: items of the role that asks; `k_global` of the role `global` (spec 004).
        near_duplicate: cosine from which two lessons may be the same, where nothing speaks
            against; None for what fits the embedding model.
        learn: whether feedback teaches as soon as it is given.
        lessons: at most so many of one text (ReasoningBank: 3).
    """

    k_role: Annotated[int, Field(ge=0, le=50)] = 3
    k_global: Annotated[int, Field(ge=0, le=50)] = 2
    near_duplicate: Share | None = None
    learn: bool = True
    lessons: Count = 3


class BasesSettings(Section):
    """The two knowledge bases, by their namespaces: how it works, and how it is influenced."""

    principles: str = "kb_principles"
    modulation: str = "kb_modulation"


RecipeField = Literal["M1", "M2", "atomic_ratio", "small_molecule_modifier"]


class RecipeRule(Section):
    """A further rule that recipes follow, beside those of the system itself.

    Args:
        field: which field is checked; None for a rule that is told and that nobody checks.
        any_of: what it must be one of; `none_of` what it must not be. Case does not count.
        matches: a regular expression that the whole of it must match.
        tell: the rule in one sentence, as the model and the experimenter read it.
    """

    tell: Annotated[str, Field(min_length=1)]
    field: RecipeField | None = None
    any_of: list[str] = Field(default_factory=list)
    none_of: list[str] = Field(default_factory=list)
    matches: Expression | None = None

    @model_validator(mode="after")
    def _checks_a_field(self) -> "RecipeRule":
        checks = bool(self.any_of or self.none_of or self.matches)
        if checks != (self.field is not None):
            raise ValueError("a rule names a field and how it is checked, or neither of them")
        return self


# What was called `rules` in files and stored requests is `collect`: it is no rule what to make.
CALLED_RULES = BeforeValidator(lambda value: "collect" if value == "rules" else value)


class RecipeSettings(Section):
    """How recipes are made (spec 004).

    Args:
        policy: `auto` asks the language model of `llm`, and collects where there is none.
        passages: of one search; `shown` how many of the last results a prompt holds.
        depth: of tasks within tasks; `steps` actions and tasks in all; `calls` of the model;
            `repairs` of one answer that cannot be used.
        tokens: of all prompts and answers; None for no limit. `seconds` likewise, of the run, and
            `call_seconds` of one answer with its tries.
        temperature: of the models, where neither request nor `llm.roles` names one.
        rules: further ones.
    """

    policy: Annotated[Literal["auto", "collect", "model"], CALLED_RULES] = "auto"
    passages: Annotated[int, Field(ge=1, le=20)] = 6
    shown: Count = 3
    depth: Count = 4
    steps: Count = 40
    calls: Count = 60
    repairs: Annotated[int, Field(ge=0)] = 2
    tokens: Count | None = 400_000
    seconds: Annotated[float, Field(gt=0)] | None = 3600.0
    call_seconds: Annotated[float, Field(gt=0)] = 600.0
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    rules: list[RecipeRule] = Field(default_factory=list)


class LabSettings(Section):
    """The laboratory (spec 004): there is one where a workspace has this section."""

    bases: BasesSettings = BasesSettings()
    recipes: RecipeSettings = RecipeSettings()
    comparison: ComparisonSettings = ComparisonSettings()
    experience: ExperienceSettings = ExperienceSettings()
