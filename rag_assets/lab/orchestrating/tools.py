"""The tools of a run. Those that look something up only read; the others change the RunNote."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.agents import ContextTool, Toolset
from rag_assets.lab.orchestrating.note import Operation, Role, Section
from rag_assets.lab.orchestrating.sources import Observed
from rag_assets.lab.recipes import ProposedGround, ProposedModifier

Query = Annotated[str, Field(min_length=1, max_length=400, description="Words or a question.")]
Cited = Annotated[list[str], Field(description="Marks of what is shown now: C1, C2.")]


@dataclass(frozen=True, slots=True)
class LabTools:
    """What the tools look into.

    Args:
        search: base (`principles`, `modulation`) and query to passages.
        recall: role and question to items of experience.
        history: query to what earlier runs gave; empty for the best.
        read: a citation to what stands around it.
    """

    search: Callable[[str, str], Observed]
    recall: Callable[[str, str], Observed]
    history: Callable[[str], Observed]
    read: Callable[[str], Observed]


def search_principles(lab: LabTools, query: Query) -> Observed:
    """Search the literature on how photocatalytic CO2 reduction works: mechanisms, energetics."""
    return lab.search("principles", query)


def search_modulation(lab: LabTools, query: Query) -> Observed:
    """Search the literature on what is changed and what it does: dopants, modifiers, conditions."""
    return lab.search("modulation", query)


def recall_experience(
    lab: LabTools,
    question: Query,
    role: Annotated[Role, Field(description="Whose; yours without.")] = "orchestrator",
) -> Observed:
    """Recall what feedback on earlier runs taught."""
    return lab.recall(role, question)


def look_up_history(
    lab: LabTools,
    query: Annotated[str, Field(description="A metal, a modifier, a product; empty for all.")] = "",
) -> Observed:
    """Look up earlier recipes that were made: score, products. It informs and cannot be cited."""
    return lab.history(query)


def read_passage(
    lab: LabTools, source: Annotated[str, Field(description="A mark that is shown now: C1.")]
) -> Observed:
    """Read what stands around a passage, or the whole of an item of experience."""
    return lab.read(source)


def note(
    lab: None,  # noqa: ARG001 - as every tool has it
    section: Section,
    text: Annotated[str, Field(min_length=1, max_length=800, description="One claim or line.")],
    op: Operation = "append",
    key: Annotated[
        str | None, Field(description="Of the line, for replace and upsert.", max_length=40)
    ] = None,
    citations: Cited | None = None,
) -> dict[str, Any]:
    """Write into the RunNote that all tasks share. Evidence needs citations."""
    return {"section": section, "text": text, "op": op, "key": key, "citations": citations or []}


def propose(
    lab: None,  # noqa: ARG001 - as every tool has it
    M1: str,  # noqa: N803 - as the specification calls it
    M2: str,  # noqa: N803
    atomic_ratio: Annotated[str, Field(description="M1:M2, such as 1:1.")],
    small_molecule_modifier: ProposedModifier,
    grounds: Annotated[
        list[ProposedGround],
        Field(
            description="For each field why; citations are marks shown now. basis: evidence cites "
            "literature, experience cites experience, else reasoning or default."
        ),
    ],
    linker: Literal["BTB"] = "BTB",
) -> dict[str, Any]:
    """Propose one recipe. It is checked at once and kept as R1, R2 and so on."""
    return {
        "M1": M1, "M2": M2, "atomic_ratio": atomic_ratio, "linker": linker,
        "small_molecule_modifier": small_molecule_modifier, "grounds": grounds,
    }  # fmt: skip


class Chosen(BaseModel):
    """A recipe of the result, in its place."""

    model_config = ConfigDict(extra="forbid")

    recipe: Annotated[str, Field(pattern=r"^R\d+$")]
    why: Annotated[str, Field(min_length=1, max_length=800)]


class LeftOut(BaseModel):
    """A candidate that is not in the result: `R3`, or one that was never proposed."""

    model_config = ConfigDict(extra="forbid")

    what: Annotated[str, Field(min_length=1, max_length=200)]
    why: Annotated[str, Field(min_length=1, max_length=800)]


def finish(
    lab: None,  # noqa: ARG001 - as every tool has it
    recipes: Annotated[
        list[Chosen], Field(description="Best first, with the reason of its place.")
    ],
    dropped: Annotated[
        list[LeftOut], Field(description="What was considered and left out, with the reason.")
    ] = [],  # noqa: B006 - pydantic copies it
) -> dict[str, Any]:
    """End the run with its recipes, ranked. Every other proposed recipe is named in dropped."""
    return {"recipes": recipes, "dropped": dropped}


LOOKING = ("search_principles", "search_modulation", "recall_experience", "look_up_history",
           "read_passage")  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (search_principles, search_modulation, recall_experience, look_up_history,
                read_passage, note, propose)
}  # fmt: skip


def tools_of(role: Role, *, is_root: bool) -> Toolset[Any]:
    """Return what a role may do; only the task that is the request itself may finish."""
    names = [*_FUNCTIONS] if role == "orchestrator" else [*LOOKING, "note"]
    tools: dict[str, ContextTool[Any]] = {name: ContextTool(_FUNCTIONS[name]) for name in names}
    # Who may not finish ends a task by an empty plan, and the tool is not listed.
    return Toolset(tools, ContextTool(finish if is_root else end_task))


def end_task(lab: None) -> dict[str, Any]:  # noqa: ARG001 - as every tool has it
    """End this task: your thought goes to the task above. An empty plan does the same."""
    return {}
