"""Record what a command did without a run, and prune what runs leave behind."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import RagError, count_of
from rag_assets.running.instance import open_instance
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.auditing import AuditOutcome


def record_audit(workspace: Workspace, outcome: "AuditOutcome[Any]") -> None:
    """Record an audit that was made without a run, as a materialization of its asset."""
    import dagster as dg

    from rag_assets.defs.assets import DRAFTS, metadata_of_audit
    from rag_assets.defs.checks import refresh_checks

    with open_instance(workspace) as instance:
        instance.add_dynamic_partitions(str(DRAFTS.name), [outcome.key])
        instance.report_runless_asset_event(
            dg.AssetMaterialization(
                asset_key=outcome.kind.asset,
                partition=outcome.key,
                metadata=metadata_of_audit(workspace, outcome),
            )
        )
        refresh_checks(workspace, instance)


def register_saved_questions(workspace: Workspace) -> None:
    """Make each question of queries/ a partition, and the checks, where no run does it."""
    from rag_assets.defs.assets import register_questions
    from rag_assets.defs.checks import refresh_checks

    with open_instance(workspace) as instance:
        register_questions(workspace, instance)
        refresh_checks(workspace, instance)


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


# File systems over a network, as the kernel calls them: SQLite's locks do not hold there.
_NETWORK = ("nfs", "cifs", "smb", "afs", "9p", "fuse.sshfs", "ceph", "glusterfs", "lustre")


def laboratory_faults(workspace: Workspace) -> Iterator[tuple[str, str | None]]:
    """Yield what was found of a laboratory, each with its mend, None where it is fine.

    Nothing for a workspace that has none; of such a one no module of laboratories is loaded.
    """
    try:
        if workspace.settings.lab is None:
            return
    except RagError as error:
        yield str(error), "correct what the message names"
        return
    from rag_assets.lab.laboratory import lab_file, open_laboratory

    path = lab_file(workspace)
    if not path.is_file():
        yield f"there is no {path}", "rag lab init"
        return
    kind = file_system_of(path)
    if kind.startswith(_NETWORK):
        yield (
            f"{path} is on a network file system ({kind}), where two writers can damage it",
            "keep the workspace on a disk of this machine",
        )
    try:
        lab = open_laboratory(workspace)
        with lab.store.reading() as reading:
            told = count_of(reading.head(), "change")
    except RagError as error:
        yield str(error), "do what the message says"
        return
    yield told, None


def file_system_of(path: Path, mounts: Sequence[tuple[str, str]] | None = None) -> str:
    """Return the kind of the file system that a path lies on; empty where nobody knows.

    Args:
        mounts: mount points with their kinds; those of this machine without.
    """
    if mounts is None:
        import psutil

        mounts = [(each.mountpoint, each.fstype) for each in psutil.disk_partitions(all=True)]
    whole = path.resolve()
    holding = [(point, kind) for point, kind in mounts if whole.is_relative_to(point)]
    return max(holding, key=lambda each: len(each[0]), default=("", ""))[1]
