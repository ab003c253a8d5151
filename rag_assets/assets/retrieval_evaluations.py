"""The asset `retrieval_evaluations`: how well the settings find what evaluation sets ask for."""

from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.assets.evaluation_sets import EVALUATION_SETS
from rag_assets.assets.options import ENCODERS, OWNERS, progress_reporter
from rag_assets.assets.reporting import Metadata, text_preview
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.evaluation.workspace_sets import StoredEvaluation


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
