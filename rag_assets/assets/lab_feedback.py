"""Assets of a laboratory's feedback: how each compares, what it taught, experience to be searched.

A command compares and learns as it stores a feedback; these assets do what it left undone, and
report what is done.
"""

from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.assets.lab_runs import (
    BY,
    EXPERIENCE_ASSET,
    GROUP,
    RUNS_ASSET,
    experience_metadata,
    now,
    opened_lab,
)
from rag_assets.assets.options import OWNERS
from rag_assets.assets.reporting import Metadata, sentence_list, table
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.lab import Laboratory, Revision

FEEDBACK_REVISIONS = dg.DynamicPartitionsDefinition(name="feedback_revisions")
REPORTS_ASSET = dg.AssetKey(["lab", "feedback_reports"])
EXTRACTIONS_ASSET = dg.AssetKey(["lab", "memory_extractions"])
INDEX_ASSET = dg.AssetKey(["lab", "experience_index"])


def build_feedback_assets(workspace: Workspace) -> list[dg.AssetsDefinition]:
    """Return the assets of what people say of runs."""

    @dg.asset(
        key=REPORTS_ASSET,
        deps=[RUNS_ASSET],
        group_name=GROUP,
        description="How each run with feedback compares with the others. A revision that has its "
        "report keeps it; an edit of the feedback is a partition of its own.",
        kinds={"sqlite", "report"},
        owners=OWNERS,
        code_version="1",
        partitions_def=FEEDBACK_REVISIONS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def feedback_reports(context: dg.AssetExecutionContext) -> None:
        from rag_assets.lab import compare_revision

        with opened_lab(workspace) as lab:
            for key in context.partition_keys:
                found = compare_revision(lab, key, at=now(), by=BY)
                context.add_asset_metadata(report_metadata(lab, found), partition_key=key)

    @dg.asset(
        key=EXTRACTIONS_ASSET,
        deps=[REPORTS_ASSET],
        group_name=GROUP,
        description="What each feedback taught, item by item. A revision that has taught is not "
        "learned again, nor one that a person stored with the word that it is not to teach.",
        kinds={"sqlite"},
        owners=OWNERS,
        code_version="1",
        partitions_def=FEEDBACK_REVISIONS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def memory_extractions(context: dg.AssetExecutionContext) -> None:
        from rag_assets.lab import learn_revision

        with opened_lab(workspace) as lab:
            for key in context.partition_keys:
                found = learn_revision(lab, key, at=now(), by=BY)
                context.add_asset_metadata(extraction_metadata(lab, found), partition_key=key)

    @dg.asset(
        key=INDEX_ASSET,
        deps=[EXTRACTIONS_ASSET],
        group_name=GROUP,
        description="Experience, ready to be searched: the vectors of all active items are made, "
        "and lab/experience, which runs read, is reported where it has changed.",
        kinds={"sqlite"},
        owners=OWNERS,
        code_version="1",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def experience_index(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        from rag_assets.lab import list_items

        with opened_lab(workspace) as lab:
            with lab.store.reading() as reading:
                items = list_items(reading, status="active")
            made = lab.nearness.prepare([item.content for item in items])
            metadata = experience_metadata(lab)
        if metadata["digest"] != published_experience(context.instance):
            context.instance.report_runless_asset_event(
                dg.AssetMaterialization(EXPERIENCE_ASSET, metadata=metadata)
            )
        rows = ((f"mem:{item.id}", item.role, item.kind, item.title) for item in items)
        shown = table(("item", "role", "kind", "title"), rows)
        return dg.MaterializeResult(metadata={**metadata, "vectors made": made, "table": shown})

    return [feedback_reports, memory_extractions, experience_index]


def published_experience(instance: dg.DagsterInstance) -> str:
    """Return the digest of experience as it was last reported; empty where it never was."""
    event = instance.get_latest_materialization_event(EXPERIENCE_ASSET)
    told = event.asset_materialization if event is not None else None
    return str(told.metadata["digest"].value) if told is not None else ""


def report_metadata(lab: "Laboratory", revision: "Revision") -> Metadata:
    """Return what the UI shows of a revision that was compared."""
    from rag_assets.lab import NOTES, product_names
    from rag_assets.lab.recipes import formula

    feedback, report = revision.feedback, revision.report
    if report is None:
        raise LookupError(f"{revision.key} was compared, and has no report.")
    comparison = report.comparison
    with lab.store.reading() as reading:
        names = product_names(reading, [one.product_id for one in feedback.products])
    measured = zip(names, feedback.products, strict=True)
    told = {
        "mean score": comparison.mean and comparison.mean.score,
        "above the mean": comparison.minus_mean and comparison.minus_mean.score,
        "best run": comparison.best and comparison.best.run_id,
        "above the best": comparison.minus_best and comparison.minus_best.score,
    }
    return {
        "run": revision.run.id,
        "recipe": formula(revision.run.recipes[feedback.recipe_index - 1]),
        **({"as made": feedback.as_made} if feedback.as_made else {}),
        "score": feedback.score,
        "compared with": comparison.history,
        **{name: value for name, value in told.items() if value is not None},
        "table": table(
            ("product", "value", "fraction"),
            ((name, f"{one.value:g}", f"{one.fraction:.1%}") for name, one in measured),
        ),
        "notes": dg.MetadataValue.md(sentence_list(NOTES[note] for note in comparison.notes)),
        "version": report.version,
    }


def extraction_metadata(lab: "Laboratory", revision: "Revision") -> Metadata:
    """Return what the UI shows of a revision that has taught, or is not to teach."""
    from rag_assets.lab import delta_of, find_item

    extraction = revision.extraction
    if extraction is None:
        return {"run": revision.run.id, "items": 0, "taught nothing": revision.refusal,
                "version": ""}  # fmt: skip
    with lab.store.reading() as reading:
        changes = [
            (one, find_item(reading, one.item_id)) for one in delta_of(reading, extraction.id)
        ]
    model = extraction.record.get("model")
    by = str(model.get("model", model)) if isinstance(model, dict) else "own sentences"
    return {
        "run": revision.run.id,
        "items": len(changes),
        "learned by": by,
        "table": table(
            ("change", "item", "role", "kind", "title"),
            (
                (one.change, f"mem:{item.id}", item.role, item.kind, item.title)
                for one, item in changes
            ),
        ),
        "version": extraction.id,
    }
