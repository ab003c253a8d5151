"""The asset `parse_quality_report`: how well the library was read, for a person."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.options import OWNERS
from rag_assets.parsing import write_quality_report
from rag_assets.workspace import Workspace


def build_parse_quality_report_asset(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> dg.AssetsDefinition:
    """Return the asset of a workspace; it depends on every namespace's parse_reports."""

    @dg.asset(
        key="parse_quality_report",
        deps=list(upstream),
        group_name="workspace",
        description="What could not be read and why, what was removed as running heads, and "
        "figures of every document: meta/parse_quality_report.md.",
        kinds={"markdown"},
        owners=OWNERS,
        code_version="1",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def parse_quality_report(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        report = write_quality_report(Workspace.open(workspace.root))
        context.log.info(f"How well the library was read: {report}")
        return dg.MaterializeResult(metadata={"file": dg.MetadataValue.path(str(report))})

    return parse_quality_report
