"""Checks of a laboratory's runs."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.checks.results import judge
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.lab import Laboratory

_RUNS = dg.AssetKey(["lab", "recipe_runs"])


def build_lab_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks over all runs of a workspace that has a laboratory."""

    @dg.asset_check(
        asset=_RUNS,
        description="Every recipe follows the rules of the system and of its run: two metals, a "
        "ratio, a modifier with –COOH, BTB, and as many recipes as were wanted.",
    )
    def recipes_follow_the_rules() -> dg.AssetCheckResult:
        # Imported here: every command loads the checks, few have a laboratory.
        from rag_assets.lab.queueing import broken_rules

        return _judge(workspace, broken_rules)

    @dg.asset_check(
        asset=_RUNS,
        description="Every citation of a recipe was shown to its run, whose trace has its words, "
        "and every item of experience opens.",
    )
    def citations_of_runs_resolve() -> dg.AssetCheckResult:
        from rag_assets.lab.queueing import lost_citations

        return _judge(workspace, lost_citations)

    return [recipes_follow_the_rules, citations_of_runs_resolve]


def _judge(
    workspace: Workspace, look: "Callable[[Laboratory], Iterable[str]]"
) -> dg.AssetCheckResult:
    from rag_assets.lab import open_laboratory

    lab = open_laboratory(Workspace.open(workspace.root))
    try:
        return judge(look(lab))
    finally:
        lab.store.close()
