"""Checks of what belongs to the workspace as a whole."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.checks.namespace import judge
from rag_assets.evidence.retirement import packs_without_publication
from rag_assets.workspace import Workspace


def build_workspace_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks over all evidence packs."""

    @dg.asset_check(
        asset=dg.AssetKey("evidence_packs"),
        description="Every pack's publication stands, or the pack's record says it was retired.",
    )
    def packs_cite_a_publication() -> dg.AssetCheckResult:
        return judge(packs_without_publication(workspace))

    return [packs_cite_a_publication]
