"""Checks of what belongs to the workspace as a whole."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.checks.namespace import judge
from rag_assets.evidence.retirement import packs_without_publication
from rag_assets.workspace import Workspace


def build_workspace_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks over all evidence packs, citation audits and evaluations."""

    @dg.asset_check(
        asset=dg.AssetKey("evidence_packs"),
        description="Every pack's publication stands, or the pack's record says it was retired.",
    )
    def packs_cite_a_publication() -> dg.AssetCheckResult:
        return judge(packs_without_publication(workspace))

    @dg.asset_check(
        asset=dg.AssetKey("retrieval_evaluations"),
        description="No set's nDCG@10 has fallen below its pinned baseline by more than chance: "
        "the 95 % interval of the difference, question by question, reaches 0.",
    )
    def no_drop_below_baseline() -> dg.AssetCheckResult:
        # Imported here: every command loads the checks, few evaluate.
        from rag_assets.evaluation.workspace_sets import dropped_sets

        return judge(dropped_sets(workspace))

    @dg.asset_check(
        asset=dg.AssetKey("citation_audits"),
        description="Every verdict on a draft in drafts/ judged the text that is published now. "
        "Materializing the draft's partition judges those again that did not.",
    )
    def verdicts_are_current() -> dg.AssetCheckResult:
        from rag_assets.auditing.staleness import stale_verdicts

        return judge(stale_verdicts(Workspace.open(workspace.root)), dg.AssetCheckSeverity.WARN)

    return [packs_cite_a_publication, no_drop_below_baseline, verdicts_are_current]
