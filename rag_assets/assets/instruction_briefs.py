"""The asset `instruction_briefs`: what is asked for, and how the exemplars are written."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.options import OWNERS
from rag_assets.assets.reporting import Metadata, sentence_list
from rag_assets.briefing import write_briefs
from rag_assets.workspace import Workspace


def build_instruction_briefs_asset(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> dg.AssetsDefinition:
    """Return the asset of a workspace; it depends on every namespace's parse_reports."""

    @dg.asset(
        key="instruction_briefs",
        deps=list(upstream),
        group_name="workspace",
        description="What raw/instruction/ asks for, word for word, and how the exemplars are "
        "written: meta/instruction_brief.md and meta/style_brief.md. Never evidence.",
        kinds={"markdown"},
        owners=OWNERS,
        code_version="1",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def instruction_briefs(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        made = write_briefs(Workspace.open(workspace.root))
        context.log.info(f"What is asked for, and how to write: {made.instruction.parent}")
        metadata: Metadata = {
            "texts": made.texts,
            "sentences": made.demands,
            "exemplars": made.exemplars,
            "file": dg.MetadataValue.path(str(made.instruction)),
            "style": dg.MetadataValue.path(str(made.style)),
        }
        if made.amiss:  # the brief itself and `rag briefs` tell it; no warning of the build
            metadata["left out"] = dg.MetadataValue.md(sentence_list(made.amiss))
        return dg.MaterializeResult(metadata=metadata)

    return instruction_briefs
