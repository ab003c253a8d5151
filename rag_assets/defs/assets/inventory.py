"""The asset `inventory`: what stands in raw/, and who each document is."""

import dagster as dg

from rag_assets.defs.assets.reporting import (
    OWNERS,
    REHASH_TAG,
    bullet_list,
    document_table,
    flag,
    progress_reporter,
    rest_seconds,
    sentence_list,
    warnings_metadata,
)
from rag_assets.defs.assets.reporting import reopen_namespace as reopen
from rag_assets.model import DocumentStatus
from rag_assets.model.markdown import code_span, escape_prose
from rag_assets.workspace import (
    InventoryOutcome,
    Namespace,
    count_changes,
    name_changes,
    take_inventory,
)


def build_inventory_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""

    @dg.asset(
        key=[declared.name, "inventory"],
        group_name=declared.name,
        description="Every file below raw/, its SHA-256, its place and its sidecar; and the uid "
        "of every document, from the identity journal.",
        kinds={"file"},
        owners=OWNERS,
        code_version="1",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def inventory(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        namespace = reopen(declared.workspace, declared.name, declared.settings.hex_digits)
        outcome = take_inventory(
            namespace,
            rehash=flag(context, REHASH_TAG),
            rest_seconds=rest_seconds(context),
            notify=context.log.warning,
            on_progress=progress_reporter.get(),
        )
        for warning in outcome.warnings:
            context.log.warning(warning)
        digest = outcome.inventory.digest
        return dg.MaterializeResult(
            metadata={
                "documents": len(outcome.inventory.contents),
                "failed": sum(source.status != "ok" for source in outcome.inventory.sources),
                "files": len(outcome.inventory.sources),
                **count_changes(outcome.changes),
                "hashed files": outcome.scan.hashed_files,
                "hashed bytes": outcome.scan.hashed_bytes,
                **warnings_metadata(outcome.warnings),
                "table": document_table(_documents(outcome)),
                "preview": dg.MetadataValue.md(_preview(outcome)),
                "digest": digest,
            },
            data_version=dg.DataVersion(digest),
        )

    return inventory


def _documents(outcome: InventoryOutcome) -> list[DocumentStatus]:
    identities = outcome.identities
    rows = []
    for source in outcome.inventory.sources:
        uid = identities.uids.get(source.content_hash, "")
        withheld = source.sidecar_error or identities.withheld.get(source.content_hash, "")
        status, reason = ("withheld", withheld) if withheld else ("ok", "")
        if source.status != "ok":
            status, reason = "refused", f"{source.reason_code}: {source.message}"
        figures: dict[str, int | float | str] = {
            "doc_uid": uid,
            "citable": str(source.citable),
            "bytes": source.size,
            "SHA-256": source.content_hash,
        }
        rows.append(DocumentStatus(source.source_uri, status, reason, figures))
    return rows


def _preview(outcome: InventoryOutcome) -> str:
    notes = [*outcome.warnings, *outcome.identities.notes.values()]
    lines = [escape_prose(f"{name_changes(outcome.changes) or 'No document changed'}.")]
    if outcome.identities.events:
        lines.append("New in the journal:")
        lines.append(
            bullet_list(
                f"{code_span(e.doc_uid)} is {code_span(e.path)}"
                for e in outcome.identities.events[:20]
            )
        )
    if notes:
        lines.append(sentence_list(notes))
    return "\n\n".join(lines)
