"""The assets `parse_quality_report` and `instruction_briefs`: what the parses of a workspace tell.

Each is an entry of `_SUMMARIES`, under its name in `PARSE_SUMMARIES`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import dagster as dg

from rag_assets.defs.assets.reporting import (
    OWNERS,
    Metadata,
    sentence_list,
    table,
    warnings_metadata,
)
from rag_assets.evidence.briefing import write_briefs
from rag_assets.parsing import write_quality_report
from rag_assets.workspace import Workspace
from rag_assets.workspace.stages import PARSE_SUMMARIES


@dataclass(frozen=True, slots=True)
class _Summary:
    """One asset.

    Args:
        description: for the UI.
        write: writes it; returns a sentence for the log, and what is told beside the asset.
    """

    description: str
    write: Callable[[Workspace], tuple[str, Metadata]]


def build_parse_summary_assets(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> list[dg.AssetsDefinition]:
    """Return the summaries of a workspace; they depend on every namespace's parse_reports."""
    return [_build(workspace, upstream, name, _SUMMARIES[name]) for name in PARSE_SUMMARIES]


def _build(
    workspace: Workspace, upstream: Sequence[dg.AssetKey], name: str, summary: _Summary
) -> dg.AssetsDefinition:
    @dg.asset(
        key=name,
        deps=list(upstream),
        group_name="workspace",
        description=summary.description,
        kinds={"file", "report"},
        owners=OWNERS,
        code_version="1",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def write(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        told, metadata = summary.write(Workspace.open(workspace.root))
        context.log.info(told)
        return dg.MaterializeResult(metadata=metadata)

    return write


def _quality(workspace: Workspace) -> tuple[str, Metadata]:
    report = write_quality_report(workspace)
    told = f"How well the library was read: {report}"
    return told, {"file": dg.MetadataValue.path(str(report))}


def _briefs(workspace: Workspace) -> tuple[str, Metadata]:
    made = write_briefs(workspace)
    metadata: Metadata = {
        "texts": made.texts,
        "sentences": made.demands,
        "exemplars": made.exemplars,
        "file": dg.MetadataValue.path(str(made.instruction)),
        "style": dg.MetadataValue.path(str(made.style)),
    }
    if made.amiss:  # the brief itself and `rag parse` tell it; no warning of the build
        metadata["left out"] = dg.MetadataValue.md(sentence_list(made.amiss))
    return f"What is asked for, and how to write: {made.instruction.parent}", metadata


_SUMMARIES: Mapping[str, _Summary] = {
    "parse_quality_report": _Summary(
        "What could not be read and why, what was removed as running heads, and figures of every "
        "document: meta/parse_quality_report.md.",
        _quality,
    ),
    "instruction_briefs": _Summary(
        "What raw/instruction/ asks for, word for word, and how the exemplars are written: "
        "meta/instruction_brief.md and meta/style_brief.md. Never evidence.",
        _briefs,
    ),
}


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
