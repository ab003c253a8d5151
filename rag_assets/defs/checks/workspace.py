"""Checks of what belongs to the workspace as a whole."""

from collections.abc import Callable, Sequence
from datetime import date

import dagster as dg

from rag_assets.defs.checks.namespace import judge, record_check
from rag_assets.evidence import packs_without_publication
from rag_assets.model import RagError
from rag_assets.workspace import Workspace

_PACKS, _AUDITS = dg.AssetKey("evidence_packs"), dg.AssetKey("citation_audits")


def build_workspace_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks over all evidence packs and citation audits."""

    @dg.asset_check(
        asset=_PACKS,
        description="Every pack's publication exists, or the pack's record says it was retired.",
    )
    def packs_cite_a_publication() -> dg.AssetCheckResult:
        return _judge_packs(workspace)

    @dg.asset_check(
        asset=_AUDITS,
        description="Every verdict on a draft in drafts/ judged the text that is published now. "
        "Materializing the draft's partition judges those again that did not.",
    )
    def verdicts_are_current() -> dg.AssetCheckResult:
        return _judge_verdicts(workspace)

    @dg.asset_check(
        asset=_AUDITS,
        description="No citation of a draft in drafts/ is MISSING or ERROR. What a person has "
        "decided counts before the machine's verdict.",
    )
    def citations_are_supported() -> dg.AssetCheckResult:
        return _judge_support(workspace)

    return [packs_cite_a_publication, verdicts_are_current, citations_are_supported]


def check_packs(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Check the packs, of which some were recorded without a run."""
    result = _found(_judge_packs, workspace)
    record_check(instance, _PACKS, "packs_cite_a_publication", result)


def make_first_checks(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Make the checks that no run has made yet.

    Packs and audits may be recorded without a run, and a workspace may have none for long: Dagster
    would draw a green tick beside checks that never ran.
    """
    for asset, name, look in (
        (_PACKS, "packs_cite_a_publication", _judge_packs),
        (_AUDITS, "verdicts_are_current", _judge_verdicts),
        (_AUDITS, "citations_are_supported", _judge_support),
    ):
        if instance.get_latest_asset_check_evaluation_record(dg.AssetCheckKey(asset, name)) is None:
            record_check(instance, asset, name, _found(look, workspace))


def _found(
    look: Callable[[Workspace], dg.AssetCheckResult], workspace: Workspace
) -> dg.AssetCheckResult:
    """Return what a check says, also where it cannot look: no run stops for that."""
    try:
        return look(workspace)
    except RagError as error:
        return judge([str(error)])


def _judge_packs(workspace: Workspace) -> dg.AssetCheckResult:
    return judge(packs_without_publication(workspace))


def _judge_verdicts(workspace: Workspace) -> dg.AssetCheckResult:
    # Imported here: every command loads the checks, few audit.
    from rag_assets.auditing import stale_verdicts

    fresh = Workspace.open(workspace.root)
    return judge(stale_verdicts(fresh, date.today()), dg.AssetCheckSeverity.WARN)


def _judge_support(workspace: Workspace) -> dg.AssetCheckResult:
    from rag_assets.auditing import unsupported_citations

    found = unsupported_citations(Workspace.open(workspace.root))
    return judge(found, dg.AssetCheckSeverity.WARN)
