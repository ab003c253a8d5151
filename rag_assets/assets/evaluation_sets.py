"""The asset `evaluation_sets`: which sets stand in evaluations/, each a partition to evaluate."""

import dagster as dg

from rag_assets.assets.options import OWNERS
from rag_assets.assets.reporting import table
from rag_assets.workspace import Workspace

EVALUATION_SETS = dg.DynamicPartitionsDefinition(name="evaluation_sets")


def build_evaluation_sets_asset(workspace: Workspace) -> dg.AssetsDefinition:
    """Return the asset of a workspace.

    It is what "Materialize all" needs, too: over a graph whose only partitioned root is
    `retrieval_evaluations`, the UI asks for a partition of that asset and runs nothing else.
    """

    @dg.asset(
        key="evaluation_sets",
        group_name="workspace",
        description="The sets in evaluations/ by name. Materializing it makes each a partition of "
        "retrieval_evaluations, and takes away those that are gone.",
        kinds={"file"},
        owners=OWNERS,
        code_version="1",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def evaluation_sets(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        # Imported here: every command loads the definitions, few evaluate.
        from rag_assets.evaluation.workspace_sets import baseline_of, list_evaluation_sets

        sets = list_evaluation_sets(Workspace.open(workspace.root))
        known = set(context.instance.get_dynamic_partitions(str(EVALUATION_SETS.name)))
        context.instance.add_dynamic_partitions(str(EVALUATION_SETS.name), list(sets))
        for gone in sorted(known.difference(sets)):
            context.instance.delete_dynamic_partition(str(EVALUATION_SETS.name), gone)
            context.log.info(f"'{gone}' is not in evaluations/ any more")
        return dg.MaterializeResult(
            metadata={
                "sets": len(sets),
                "table": table(
                    ("set", "layout", "pinned baseline"),
                    (
                        (
                            name,
                            "folder (BEIR)" if path.is_dir() else "JSON",
                            "yes" if baseline_of(workspace, name).is_file() else "no",
                        )
                        for name, path in sets.items()
                    ),
                ),
            }
        )

    return evaluation_sets
