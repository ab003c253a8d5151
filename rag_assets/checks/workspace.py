"""Checks of what belongs to the workspace as a whole."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.auditing.staleness import stale_verdicts
from rag_assets.checks.results import judge, record_check
from rag_assets.evidence.retirement import packs_without_publication
from rag_assets.workspace import Workspace

_PACKS, _AUDITS = dg.AssetKey("evidence_packs"), dg.AssetKey("citation_audits")


def build_workspace_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks over all evidence packs and citation audits."""

    @dg.asset_check(
        asset=_PACKS,
        description="Every pack's publication stands, or the pack's record says it was retired.",
    )
    def packs_cite_a_publication() -> dg.AssetCheckResult:
        return judge(packs_without_publication(workspace))

    @dg.asset_check(
        asset=_AUDITS,
        description="Every verdict on a draft in drafts/ judged the text that is published now. "
        "Materializing the draft's partition judges those again that did not.",
    )
    def verdicts_are_current() -> dg.AssetCheckResult:
        return _judge_verdicts(workspace)

    return [packs_cite_a_publication, verdicts_are_current]


def build_evaluation_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the check over all evaluation sets."""

    @dg.asset_check(
        asset=dg.AssetKey("retrieval_evaluations"),
        description="No set's nDCG@10 has fallen below its pinned baseline by more than chance: "
        "the 95 % interval of the difference, question by question, reaches 0.",
    )
    def no_drop_below_baseline() -> dg.AssetCheckResult:
        # Imported here: every command loads the checks, few evaluate.
        from rag_assets.evaluation.workspace_sets import dropped_sets

        return judge(dropped_sets(workspace))

    return [no_drop_below_baseline]


def check_packs(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Check the packs, of which some were recorded without a run."""
    result = judge(packs_without_publication(workspace))
    record_check(instance, _PACKS, "packs_cite_a_publication", result)


def check_verdicts(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Check the verdicts where no run has: an audit was recorded without one.

    It is the first check alone that a later audit of a text outside `drafts/` waits for.
    """
    key = dg.AssetCheckKey(_AUDITS, "verdicts_are_current")
    if instance.get_latest_asset_check_evaluation_record(key) is None:
        record_check(instance, _AUDITS, key.name, _judge_verdicts(workspace))


def _judge_verdicts(workspace: Workspace) -> dg.AssetCheckResult:
    fresh = Workspace.open(workspace.root)
    return judge(stale_verdicts(fresh), dg.AssetCheckSeverity.WARN)
