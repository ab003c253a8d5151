"""Runs and their recipes, as they are stored."""

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from rag_assets.lab.acids import acid_of
from rag_assets.lab.store import Reading, Writing
from rag_assets.model import UsageError
from rag_assets.model.settings import CALLED_RULES

MOST_RECIPES = 3

Text = Annotated[str, Field(min_length=1)]
Citation = Annotated[str, Field(pattern=r"^(kb|mem):\S+$")]
Basis = Literal["evidence", "experience", "reasoning", "default"]
Bearing = Literal["for", "against", "names"]

Policy = Annotated[Literal["model", "collect"], CALLED_RULES]
RunKind = Annotated[Literal["model", "collect", "imported"], CALLED_RULES]
RunState = Literal["queued", "running", "done", "failed", "canceled"]
Verdict = Literal["supported", "not_supported", "not_judged"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Modifier(_Part):
    """The small molecule that modifies the surroundings in the MOF."""

    name: Text
    smiles: str | None = None


class Support(_Part):
    """Whether the words that a ground cites say what it says.

    Args:
        verdict: `not_supported`: not with certainty; `not_judged`: nobody read it.
        reason: one sentence for the reader.
        by: what read it; empty where nobody did.
        score: of what read it, 0 to 1; None where nobody did.
        citation: of the source whose words decide, or come nearest; None where nobody looked.
        quote: those words, verbatim.
        other_language: whether the ground is written in another language than those words.
        holding: the sources cited that hold what the ground says, as far as that was found out.
    """

    verdict: Verdict
    reason: str
    by: str = ""
    score: float | None = None
    citation: Citation | None = None
    quote: str = ""
    other_language: bool = False
    holding: tuple[Citation, ...] = ()


class Ground(_Part):
    """Why a recipe, or a field of it, is as it is.

    Args:
        statement: one sentence.
        basis: `evidence` (literature) and `experience` have citations; `reasoning` and `default`
            say that nobody is cited.
        citations: canonical: `kb:<namespace>__<chunk>`, `mem:<item>`.
        field: the field of the recipe that it is about; None for the whole.
        support: what was found of its citations; None where it has none, or nobody asked.
        bearing: of a collected sentence, whether its words speak for the candidate or against it,
            or merely name a part; nobody has read it.
        contradicted_by: statements of other grounds of the recipe that say the opposite.
    """

    statement: Text
    basis: Basis
    citations: tuple[Citation, ...] = ()
    field: str | None = None
    support: Support | None = None
    bearing: Bearing | None = None
    contradicted_by: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _is_cited(self) -> "Ground":
        if self.basis in {"evidence", "experience"} and not self.citations:
            raise ValueError(f"a ground of basis '{self.basis}' needs a citation")
        return self

    @property
    def stands_apart(self) -> bool:
        """Whether it is shown apart, beside the original words: of another language, uncertain."""
        found = self.support
        return found is not None and found.other_language and found.verdict != "supported"


class Dropped(_Part):
    """A candidate that was considered and left out."""

    what: Text
    why: Text
    citations: tuple[Citation, ...] = ()


class Recipe(_Part):
    """One recipe for `M1M2–TiO2 / Zr-BTB`.

    Args:
        M1, M2: the doping metals.
        atomic_ratio: M1:M2, as a formula says it (`1:1`).
        small_molecule_modifier: holds a carboxyl group; who makes a recipe checks it.
        linker: fixed.
        rank: its place in the run, from 1.
        why_ranked: why it stands there.
        dropped: what was considered in its place.
    """

    M1: Text
    M2: Text
    atomic_ratio: Text
    small_molecule_modifier: Modifier
    linker: Literal["BTB"] = "BTB"
    grounds: tuple[Ground, ...] = ()
    rank: Annotated[int, Field(ge=1, le=MOST_RECIPES)]
    why_ranked: str = ""
    dropped: tuple[Dropped, ...] = ()

    @property
    def is_unsupported(self) -> bool:
        """Whether it cites sources, and none of them holds what it is cited for."""
        found = [one.support.verdict for one in self.grounds if one.citations and one.support]
        return bool(found) and set(found) == {"not_supported"}

    @property
    def key(self) -> tuple[str, ...]:
        """What the same recipe has in common, in whichever order, numbers or language written."""
        metals, ratio = (self.M1, self.M2), self.atomic_ratio
        if self.M1 > self.M2:
            metals, ratio = metals[::-1], ":".join(reversed(ratio.split(":")))
        name = self.small_molecule_modifier.name
        return (*metals, plain_ratio(ratio), acid_of(name) or name.casefold())


def plain_ratio(ratio: str) -> str:
    """Return a ratio in least whole numbers, 1:3 for `0.5:1.5`; any other text as it is."""
    try:
        first, second = map(Fraction, ratio.split(":"))
        least = first / second
    except (ValueError, ZeroDivisionError):
        return ratio
    return f"{least.numerator}:{least.denominator}"


class Run(_Part):
    """One run: what was asked, what came of it.

    Args:
        id: unique in the laboratory.
        kind: `imported` for an experiment of before; no model made it.
        created_at: when it was asked for or imported, ISO 8601 with zone.
        request: what was asked, as values; of an imported one its row, with the `day` of the
            experiment.
        recipes: in their order, ranks 1 to n; none before the run is done.
        snapshot: models, settings, templates, versions that the run had.
        trace: SHA-256 of its trace once it has ended; None where there is none.
        reason: why it failed or was canceled.
    """

    id: Annotated[str, Field(pattern=r"^[\w.\-]{1,120}$")]
    kind: RunKind
    state: RunState
    created_at: Text
    request: dict[str, JsonValue]
    recipes: Annotated[tuple[Recipe, ...], Field(max_length=MOST_RECIPES)] = ()
    snapshot: dict[str, JsonValue] = {}
    trace: str | None = None
    reason: str = ""

    @property
    def is_ranked_by_model(self) -> bool:
        """Whether places, and reasons for what was left out, are a model's own words."""
        return self.kind == "model" and self.snapshot.get("ended_by") == "finish"

    @property
    def dates(self) -> tuple[str, str]:
        """When an experiment was imported, and its day; each empty where that is not known."""
        if self.kind != "imported":
            return "", ""
        # Earlier versions kept the day as `created_at`, and not when it was imported.
        day, is_day, _ = self.created_at.partition("T00:00:00+00:00")
        if is_day and "day" not in self.request:
            return "", day
        return self.created_at, str(self.request.get("day", ""))

    @model_validator(mode="after")
    def _is_ranked(self) -> "Run":
        ranks = [recipe.rank for recipe in self.recipes]
        if ranks != list(range(1, len(ranks) + 1)):
            raise ValueError(f"ranks must be 1 to {len(ranks)} in order, got {ranks}")
        if self.state == "done" and not self.recipes:
            raise ValueError("a run that is done has recipes")
        return self


def record_run(writing: Writing, run: Run, seen: int | None = None) -> int:
    """Store a run as it stands now, new or in place of what was stored; return its version.

    Args:
        seen: the version that the caller saw; None for whatever stands there.

    Raises:
        ChangedMeanwhileError: it has changed since.
    """
    if seen is not None:
        writing.require_version("run", run.id, "run", seen)
    record = run.model_dump(mode="json", exclude_defaults=True)
    version = writing.change("run", run.id, "recorded", record)
    row = {"id": run.id, "kind": run.kind, "state": run.state, "created_at": run.created_at}
    writing.put("runs", {**row, "version": version, "record": record})
    return version


def read_run(reading: Reading, run_id: str) -> tuple[Run, int]:
    """Return a run and its version.

    Raises:
        UsageError: there is none of that id.
    """
    found = reading.rows("runs", id=run_id)
    if not found:
        rows = reading.rows("runs", "created_at, id")
        known = ", ".join(row["id"] for row in rows[-5:]) or "none yet"
        raise UsageError(f"there is no run '{run_id}' in this laboratory (the last: {known}).")
    return Run.model_validate(found[0]["record"]), found[0]["version"]


def list_runs(reading: Reading, state: RunState | None = None) -> list[tuple[Run, int]]:
    """Return all runs with their versions, the oldest first."""
    equal = {} if state is None else {"state": state}
    found = reading.rows("runs", "created_at, id", **equal)
    return [(Run.model_validate(row["record"]), row["version"]) for row in found]
