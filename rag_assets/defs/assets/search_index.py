"""The asset `search_index`: the publication that readers see."""

import dagster as dg

from rag_assets.defs.assets.reporting import (
    OWNERS,
    bullet_list,
    document_list,
    document_table,
    progress_reporter,
    publishers,
    sentence_list,
    signed_work,
    warnings_metadata,
)
from rag_assets.defs.assets.reporting import reopen_namespace as reopen
from rag_assets.defs.assets.stage import stage_before
from rag_assets.embedding import embedding_models
from rag_assets.evidence import mark_retired
from rag_assets.model import DocumentStatus, count_of
from rag_assets.publishing import (
    PUBLISHING_VERSION,
    DocumentFacts,
    PublishOutcome,
    publish,
)
from rag_assets.tracing import write_build_manifest
from rag_assets.workspace import Namespace, require_inventory
from rag_assets.workspace.stages import PARSES, published_stages, switched_on

# Documents in trouble that the status names; the table lists more.
_SHOWN = 20


def build_search_index_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""

    @dg.asset(
        key=[declared.name, "search_index"],
        deps=stage_before(declared, "search_index"),
        group_name=declared.name,
        description="What readers see: one immutable publication, a Lance table with vectors and "
        "a text index and a DuckDB catalogue. Readers switch to a new one at once. `status` below "
        "lists what failed and what to do; the check `publication_is_fresh` shows what has changed "
        f"since, and the command to run ([checks](/assets/{declared.name}/search_index?view=checks)"
        ").",
        kinds={"duckdb", "table"},
        owners=OWNERS,
        metadata={
            "desk": dg.MetadataValue.url(f"{declared.settings.desk.url}/library/{declared.name}")
        },
        code_version=str(PUBLISHING_VERSION),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=publishers(declared.name),
    )
    def search_index(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        namespace = reopen(declared.workspace, declared.name, declared.settings.hex_digits)
        with signed_work(context, namespace, str(PUBLISHING_VERSION)):
            outcome = publish(
                namespace,
                embedding_models(namespace.settings.embed),
                context.log.info,
                is_whole=_is_whole(context, namespace),
                on_progress=progress_reporter.get(),
            )
        # After the pointer: readers have the publication, whatever becomes of its manifest.
        build = write_build_manifest(namespace, outcome.publication)
        mark_retired(namespace.workspace, namespace.name, outcome.retired)
        for warning in outcome.warnings:
            context.log.warning(warning)
        return dg.MaterializeResult(
            metadata={
                "status": dg.MetadataValue.md(_status(namespace, outcome)),
                "documents": outcome.counts["documents"],
                "failed": sum(fact.status == "failed" for fact in outcome.facts),
                "seconds": round(outcome.seconds, 3),
                **{name: n for name, n in outcome.counts.items() if name != "documents"},
                "is new": outcome.is_new,
                **warnings_metadata(outcome.warnings),
                "table": document_table([describe_facts(fact) for fact in outcome.facts]),
                "preview": dg.MetadataValue.md(_preview(outcome)),
                "manifest": dg.MetadataValue.path(str(build.path)),
                "build": build.build_id,
                "publication": outcome.publication,
                "digest": outcome.publication,
            },
            data_version=dg.DataVersion(outcome.publication),
        )

    return search_index


def _is_whole(context: dg.AssetExecutionContext, namespace: Namespace) -> bool:
    """Say whether this run refreshed every stage over all partitions."""
    tags, keys = context.run.tags, namespace.partition_keys
    selected = context.run.asset_selection or frozenset()
    stages = {key.path[-1] for key in selected if key.path[0] == namespace.name}
    return (
        {"inventory", *switched_on(published_stages(), namespace.settings)} <= stages
        and tags.get("dagster/asset_partition_range_start") == keys[0]
        and tags.get("dagster/asset_partition_range_end") == keys[-1]
    )


def describe_facts(fact: DocumentFacts) -> DocumentStatus:
    """Return a living content as a row of the UI's table."""
    reason = f"{fact.reason_code}: {fact.message}" if fact.reason_code else ""
    figures = {"doc_uid": fact.doc_uid or "", "citable": str(fact.citable), "title": fact.title}
    return DocumentStatus(fact.living.first.source_uri, fact.status, reason, figures)


def _status(namespace: Namespace, outcome: PublishOutcome) -> str:
    """Return what failed and what to do about it."""
    troubled = [
        DocumentStatus(each.source_uri, "refused", f"{each.reason_code}: {each.message}")
        for each in require_inventory(namespace).sources
        if each.status != "ok"
    ]
    troubled += [describe_facts(f) for f in outcome.facts if f.status in {"failed", "withheld"}]
    if not troubled:
        return f"Published: {count_of(outcome.counts['documents'], 'document')}. Nothing to do."
    more = f"\n- … and {len(troubled) - _SHOWN} more" if len(troubled) > _SHOWN else ""
    # Short lines: the page cuts off what is longer than 44 characters at a width of 1400 pixels.
    why = f"[why](/assets/{namespace.name}/{PARSES}?view=checks)"
    return (
        f"Not published: {count_of(len(troubled), 'file')} ({why})\n\n"
        f"Fix or remove, then run:\n\n`rag ingest --namespace {namespace.name}`\n\n"
        f"{document_list(troubled[:_SHOWN])}{more}"
    )


def _preview(outcome: PublishOutcome) -> str:
    state = "new" if outcome.is_new else "unchanged, nothing was written"
    lines = [f"Publication `{outcome.publication}` ({state})."]
    lines.append(bullet_list(f"{name}: {count}" for name, count in outcome.counts.items()))
    if outcome.retired:
        lines.append(f"Retired: {', '.join(outcome.retired)}.")
    if outcome.warnings:
        lines.append(sentence_list(outcome.warnings))
    return "\n\n".join(lines)
