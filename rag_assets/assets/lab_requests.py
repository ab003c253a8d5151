"""The asset `lab/requests`, and what commands did of a laboratory, told to Dagster."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.assets.lab_feedback import (
    EXTRACTIONS_ASSET,
    FEEDBACK_REVISIONS,
    REPORTS_ASSET,
    build_feedback_assets,
    extraction_metadata,
    report_metadata,
)
from rag_assets.assets.lab_runs import (
    GROUP,
    RECIPE_RUNS,
    REQUESTS_ASSET,
    RUNS_ASSET,
    build_run_assets,
    opened_lab,
    run_metadata,
)
from rag_assets.assets.options import OWNERS
from rag_assets.assets.reporting import Metadata, table
from rag_assets.checks import check_feedback, check_runs
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.lab import Laboratory, Revision


def build_lab_assets(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> list[dg.AssetsDefinition | dg.AssetSpec]:
    """Return the assets of a workspace that has a laboratory.

    Args:
        upstream: the search indexes of its two knowledge bases.
    """

    @dg.asset(
        key=REQUESTS_ASSET,
        group_name=GROUP,
        description="The files in requests/, each key of which is one run. Materializing it makes "
        "them partitions of lab/recipe_runs, and the present feedback partitions of "
        "lab/feedback_reports; what commands did is recorded.",
        kinds={"file"},
        owners=OWNERS,
        code_version="2",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def requests(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        # Imported here: every command loads the definitions, few have a laboratory.
        from rag_assets.lab.queueing import requested_keys

        troubles: list[str] = []
        found = list(requested_keys(Workspace.open(workspace.root), troubles))
        for trouble in troubles:
            context.log.warning(f"passed over: {trouble}")
        context.instance.add_dynamic_partitions(str(RECIPE_RUNS.name), [key for key, _ in found])
        recorded = record_done_runs(workspace, context.instance)
        recorded += record_feedback(workspace, context.instance)
        return dg.MaterializeResult(
            metadata={
                "runs": len(found),
                "recorded": recorded,
                "table": table(("run", "file"), ((key, path.name) for key, path in found)),
            }
        )

    return [requests, *build_run_assets(workspace, upstream), *build_feedback_assets(workspace)]


def record_done_runs(workspace: Workspace, instance: dg.DagsterInstance) -> int:
    """Make materializations of the runs that were made elsewhere; return how many."""
    from rag_assets.lab import list_runs

    made = instance.get_materialized_partitions(RUNS_ASSET)
    with opened_lab(workspace) as lab:
        with lab.store.reading() as reading:
            done = [run for run, _ in list_runs(reading, "done") if run.kind != "imported"]
        new = [run for run in done if run.id not in made]
        for run in new:
            instance.add_dynamic_partitions(str(RECIPE_RUNS.name), [run.id])
            _report(instance, RUNS_ASSET, run.id, run_metadata(lab, run))
    if new:
        check_runs(workspace, instance)
    return len(new)


def record_feedback(workspace: Workspace, instance: dg.DagsterInstance) -> int:
    """Make the present revisions of feedback the partitions; record what commands made of them.

    Keys of revisions that were edited or deleted leave the set.

    Returns:
        How many materializations were made.
    """
    from rag_assets.lab import list_revisions

    with opened_lab(workspace) as lab:
        with lab.store.reading() as reading:
            revisions = list_revisions(reading)
        _register(instance, [one.key for one in revisions])
        compared = [one for one in revisions if one.report is not None]
        taught = [one for one in revisions if one.extraction is not None or one.refusal]
        count = _record(instance, REPORTS_ASSET, lab, compared, report_metadata)
        count += _record(instance, EXTRACTIONS_ASSET, lab, taught, extraction_metadata)
    if count:
        check_feedback(workspace, instance)
    return count


def _register(instance: dg.DagsterInstance, keys: Sequence[str]) -> None:
    name = str(FEEDBACK_REVISIONS.name)
    known = set(instance.get_dynamic_partitions(name))
    new = [key for key in keys if key not in known]
    if new:
        instance.add_dynamic_partitions(name, new)
    for dead in sorted(known.difference(keys)):
        instance.delete_dynamic_partition(name, dead)


def _record(
    instance: dg.DagsterInstance,
    asset: dg.AssetKey,
    lab: "Laboratory",
    revisions: "Sequence[Revision]",
    describe: "Callable[[Laboratory, Revision], Metadata]",
) -> int:
    """Report those of which the last materialization tells another version, or there is none."""
    made = instance.get_materialized_partitions(asset)
    count = 0
    for one in revisions:
        told = describe(lab, one)
        if one.key not in made or _told_version(instance, asset, one.key) != told["version"]:
            _report(instance, asset, one.key, told)
            count += 1
    return count


def _told_version(instance: dg.DagsterInstance, asset: dg.AssetKey, key: str) -> object:
    wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[key])
    (newest,) = instance.fetch_materializations(wanted, limit=1).records
    told = newest.asset_materialization
    return told.metadata["version"].value if told is not None else None


def _report(
    instance: dg.DagsterInstance, asset: dg.AssetKey, partition: str, metadata: Metadata
) -> None:
    instance.report_runless_asset_event(
        dg.AssetMaterialization(asset_key=asset, partition=partition, metadata=metadata)
    )
