"""Checks of what belongs to the workspace as a whole."""

from collections.abc import Callable, Collection, Sequence
from datetime import date
from typing import NamedTuple

import dagster as dg

from rag_assets.defs.checks.namespace import judge, record_check
from rag_assets.evidence import packs_without_publication
from rag_assets.model import RagError
from rag_assets.workspace import Workspace


class _Check(NamedTuple):
    asset: str
    description: str
    statement: Callable[[Workspace], dg.AssetCheckResult]


def _packs_cite(workspace: Workspace) -> dg.AssetCheckResult:
    return judge(packs_without_publication(workspace))


def _are_current(workspace: Workspace) -> dg.AssetCheckResult:
    # Imported here: every command loads the checks, few audit.
    from rag_assets.auditing import stale_verdicts

    fresh = Workspace.open(workspace.root)
    return judge(stale_verdicts(fresh, date.today()), dg.AssetCheckSeverity.WARN)


def _are_supported(workspace: Workspace) -> dg.AssetCheckResult:
    from rag_assets.auditing import unsupported_citations

    found = unsupported_citations(Workspace.open(workspace.root))
    return judge(found, dg.AssetCheckSeverity.WARN)


# By its name.
_CHECKS = {
    "packs_cite_a_publication": _Check(
        "evidence_packs",
        "Every pack's publication exists, or the pack's record says it was retired.",
        _packs_cite,
    ),
    "verdicts_are_current": _Check(
        "citation_audits",
        "Every verdict on a draft in drafts/ judged the text that is published now. Materializing "
        "the draft's partition judges those again that did not.",
        _are_current,
    ),
    "citations_are_supported": _Check(
        "citation_audits",
        "No citation of a draft in drafts/ is MISSING or ERROR. What a person has decided counts "
        "before the machine's verdict.",
        _are_supported,
    ),
}
WORKSPACE_CHECKS = frozenset(_CHECKS)


def build_workspace_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks over all evidence packs and citation audits."""
    return [_build(workspace, name, check) for name, check in _CHECKS.items()]


def _build(workspace: Workspace, name: str, check: _Check) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=check.asset, name=name, description=check.description)
    def found() -> dg.AssetCheckResult:
        return check.statement(workspace)

    return found


def refresh_checks(
    workspace: Workspace, instance: dg.DagsterInstance, names: Collection[str] = WORKSPACE_CHECKS
) -> None:
    """Record those checks whose result has changed, without a run.

    Packs and audits are also made, and citations judged, where Dagster runs nothing: their checks
    would go on to show what they found before, or a green tick where they never ran.

    Args:
        names: of the checks to make; the others are made where nothing is recorded of them.
    """
    for name, (asset, _, statement) in _CHECKS.items():
        key = dg.AssetCheckKey(dg.AssetKey(asset), name)
        latest = instance.get_latest_asset_check_evaluation_record(key)
        if latest is not None and name not in names:
            continue
        try:
            result = statement(workspace)
        except RagError as error:  # no run stops because a check cannot look
            result = judge([str(error)])
        shown = latest.evaluation if latest else None  # or a plan, where a run ended before it
        if not isinstance(shown, dg.AssetCheckEvaluation) or (
            (shown.passed, shown.metadata) != (result.passed, result.metadata)
        ):
            record_check(instance, key.asset_key, name, result)
