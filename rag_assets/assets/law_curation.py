"""The asset `law_curation`: what to look at among the laws of a workspace, for a person."""

from collections.abc import Sequence
from datetime import UTC, datetime

import dagster as dg

from rag_assets.assets.options import OWNERS
from rag_assets.assets.reporting import table, warnings_metadata
from rag_assets.workspace import Workspace


def build_law_curation_asset(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> dg.AssetsDefinition:
    """Return the asset of a workspace; it depends on parse_reports of its namespaces of laws."""

    @dg.asset(
        key="law_curation",
        deps=list(upstream),
        group_name="workspace",
        description="What to look at among laws: empty files, equal texts, superseded wordings, "
        "files without articles, broken numbers, titles that are none; nothing is changed: "
        "meta/law_curation/<namespace>.md.",
        kinds={"file", "report"},
        owners=OWNERS,
        code_version="1",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def law_curation(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        from rag_assets.retrieval.vaults import write_curation_reports

        today = datetime.now(UTC).date()
        made = write_curation_reports(Workspace.open(workspace.root), today)
        rows = [
            (one.namespace, str(kind), rule, count)
            for one in made.curations
            for kind, rules in one.counts.items()
            for rule, count in rules.items()
        ]
        for sentence in made.left_out:
            context.log.warning(sentence)
        return dg.MaterializeResult(
            metadata={
                "files": sum(one.files for one in made.curations),
                "flagged": sum(one.flagged for one in made.curations),
                "findings": table(("namespace", "kind", "rule", "findings"), rows),
                **warnings_metadata(made.left_out),
            }
        )

    return law_curation
