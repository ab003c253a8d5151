"""Record what a command did without a run, and prune what runs leave behind."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rag_assets.running.instance import open_instance
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.auditing import AuditOutcome


def record_audit(workspace: Workspace, outcome: "AuditOutcome[Any]") -> None:
    """Record an audit that was made without a run, as a materialization of its asset."""
    import dagster as dg

    from rag_assets.assets import DRAFTS, metadata_of_audit
    from rag_assets.checks import make_first_checks

    with open_instance(workspace) as instance:
        make_first_checks(workspace, instance)
        instance.add_dynamic_partitions(str(DRAFTS.name), [outcome.key])
        instance.report_runless_asset_event(
            dg.AssetMaterialization(
                asset_key=outcome.kind.asset,
                partition=outcome.key,
                metadata=metadata_of_audit(workspace, outcome),
            )
        )


def register_saved_questions(workspace: Workspace) -> None:
    """Make each question of queries/ a partition where there is no run to do it."""
    from rag_assets.assets import register_questions

    with open_instance(workspace) as instance:
        register_questions(workspace, instance)


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
