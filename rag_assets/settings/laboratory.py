"""Settings of a laboratory; most workspaces have none."""

from typing import Annotated, Literal

from pydantic import Field

from rag_assets.settings.section import Count, Section, Share


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


class SpaceSettings(Section):
    """What a user would make, declared for a second opinion alone: nothing is proposed out of it.

    Args:
        metals: by their symbols.
        modifiers: by the names that recipes give them; case does not count.
    """

    metals: Annotated[list[str], Field(min_length=2)]
    modifiers: Annotated[list[str], Field(min_length=1)]


class LabSettings(Section):
    """The laboratory (spec 004): there is one where a workspace has this section.

    Args:
        space: declared by who wants a second opinion on recipes.
    """

    comparison: ComparisonSettings = ComparisonSettings()
    experience: ExperienceSettings = ExperienceSettings()
    space: SpaceSettings | None = None
