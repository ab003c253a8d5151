"""Record what a command did without a run, and prune what runs leave behind."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rag_assets.running.instance import open_instance
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    import dagster as dg

    from rag_assets.auditing import AuditOutcome
    from rag_assets.auditing.claims import ClaimOutcome


def record_audit(workspace: Workspace, outcome: "AuditOutcome") -> None:
    """Record the audit of a draft that lies outside `drafts/`, where no run would find it."""
    from rag_assets.assets import DRAFTS, audit_metadata

    _record(workspace, "citation_audits", DRAFTS, outcome.key, audit_metadata(workspace, outcome))


def record_claims(workspace: Workspace, outcome: "ClaimOutcome") -> None:
    """Record a claim audit that was made without a run, as a materialization of `claim_audits`."""
    from rag_assets.assets import DRAFTS, claims_metadata

    _record(workspace, "claim_audits", DRAFTS, outcome.key, claims_metadata(workspace, outcome))


def _record(
    workspace: Workspace,
    asset: str,
    partitions: "dg.DynamicPartitionsDefinition",
    key: str,
    metadata: Mapping[str, Any],
) -> None:
    import dagster as dg

    from rag_assets.checks import make_first_checks

    with open_instance(workspace) as instance:
        make_first_checks(workspace, instance)
        instance.add_dynamic_partitions(str(partitions.name), [key])
        instance.report_runless_asset_event(
            dg.AssetMaterialization(asset_key=asset, partition=key, metadata=dict(metadata))
        )


def prune_runs(workspace: Workspace, days: float) -> int:
    """Remove finished runs that ended more than `days` ago. Returns how many went.

    The newest run of all stays, so that the UI is never empty; materializations are kept by
    Dagster itself.
    """
    import dagster as dg

    limit = datetime.now(UTC) - timedelta(days=days)
    with open_instance(workspace) as instance:
        finished = [
            dg.DagsterRunStatus.SUCCESS,
            dg.DagsterRunStatus.FAILURE,
            dg.DagsterRunStatus.CANCELED,
        ]
        records = instance.get_run_records(
            dg.RunsFilter(statuses=finished, updated_before=limit), order_by="id"
        )
        for record in records:
            instance.delete_run(record.dagster_run.run_id)
    return len(records)
