"""The asset `evaluation_sets`: which sets stand in evaluations/, each a partition to evaluate."""

from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.defs.assets.reporting import (
    ENCODERS,
    OWNERS,
    Metadata,
    progress_reporter,
    table,
    text_preview,
)
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.evaluation.workspace_sets import StoredEvaluation
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


def build_retrieval_evaluations_asset(workspace: Workspace) -> dg.AssetsDefinition:
    """Return the asset of a workspace; its sets bring their own documents."""

    @dg.asset(
        key="retrieval_evaluations",
        deps=["evaluation_sets"],
        group_name="workspace",
        description="Each set in evaluations/ goes through parse, chunk, embed, index and retrieve "
        "with the workspace's settings, in a library of its own: figures, intervals, plots and "
        "history, numbered files under outputs/evaluations/.",
        kinds={"file", "report"},
        owners=OWNERS,
        code_version="1",
        partitions_def=EVALUATION_SETS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=ENCODERS,
    )
    def retrieval_evaluations(context: dg.AssetExecutionContext) -> None:
        # Imported here: every command loads the definitions, few evaluate.
        from rag_assets.evaluation.workspace_sets import run_evaluation

        fresh = Workspace.open(workspace.root)
        for key in context.partition_keys:
            outcome = run_evaluation(
                fresh, key, notify=context.log.info, on_progress=progress_reporter.get()
            )
            context.add_asset_metadata(evaluation_metadata(outcome), partition_key=key)

    return retrieval_evaluations


def evaluation_metadata(outcome: "StoredEvaluation") -> Metadata:
    """Return what the UI shows of an evaluation; its figures are plotted over the runs."""
    figures = {
        name: value for name, value in outcome.values.items() if isinstance(value, int | float)
    }
    return {
        "set": outcome.name,
        **figures,
        "is new": outcome.is_new,
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        "preview": text_preview(outcome.markdown.read_text(encoding="utf-8")[:8000]),
        "digest": outcome.digest,
    }
