"""The asset `citation_audits`: a verdict for every cited sentence of each draft in drafts/."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.lineage_links import lineage_metadata
from rag_assets.assets.options import OWNERS, progress_reporter, signed_work
from rag_assets.assets.reporting import Metadata, copies_metadata, table, text_preview
from rag_assets.auditing import AuditOutcome, audit_citations, find_drafts
from rag_assets.judging import show_score
from rag_assets.workspace import Workspace

CODE_VERSION = "2"
DRAFTS = dg.DynamicPartitionsDefinition(name="drafts")


def build_citation_audits_asset(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> dg.AssetsDefinition:
    """Return the asset of a workspace; it depends on every namespace's search_index."""

    @dg.asset(
        key="citation_audits",
        deps=list(upstream),
        group_name="workspace",
        description="For each sentence of a draft that cites {#doc_uid}, [@key] or \\cite{key}: "
        "OK, WEAK or MISSING, with the best passage of that document, where it stands, and what "
        "speaks for and against. What was judged before is not judged again. Numbered files "
        "under outputs/audits/.",
        kinds={"file", "report"},
        owners=OWNERS,
        code_version=CODE_VERSION,
        partitions_def=DRAFTS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def citation_audits(context: dg.AssetExecutionContext) -> None:
        fresh = Workspace.open(workspace.root)
        for key in context.partition_keys:
            with signed_work(context, fresh, CODE_VERSION):
                outcomes = {
                    path: audit_citations(
                        fresh, path, notify=context.log.info, on_progress=progress_reporter.get()
                    )
                    for path in find_drafts(fresh, key)
                }
            # Equal copies have equal rows; each has files of its own.
            outcome = next(iter(outcomes.values()))
            files = {path: each.markdown for path, each in outcomes.items()}
            context.add_asset_metadata(
                {**audit_metadata(fresh, outcome), **copies_metadata(fresh, files)},
                partition_key=key,
            )
            for row in outcome.audit.rows:
                if row.status == "ERROR":
                    context.log.error(f"{outcome.audit.draft_name}: {row.reason}")

    return citation_audits


def audit_metadata(workspace: Workspace, outcome: AuditOutcome) -> Metadata:
    """Return what the UI shows of an audit."""
    audit = outcome.audit
    return {
        "draft": audit.draft_name,
        **{str(status): count for status, count in audit.counts.items()},
        "seconds": round(outcome.seconds, 3),
        "judged now": outcome.judged,
        "is new": outcome.is_new,
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        "page": dg.MetadataValue.path(str(outcome.html)),
        "table": table(
            ("row", "line", "sentence", "cites", "verdict", "score", "where", "reason"),
            (
                (
                    row.number,
                    row.line,
                    row.claim[:200],
                    row.doc_uid,
                    row.status,
                    "" if row.score is None else show_score(row.score),
                    row.locator or "",
                    row.reason,
                )
                for row in audit.by_urgency
            ),
        ),
        **lineage_metadata(
            workspace,
            (
                (row.namespace, row.doc_uid, row.content_version, str(row.number))
                for row in audit.rows
            ),
        ),
        "preview": text_preview(outcome.markdown.read_text(encoding="utf-8")[:8000]),
        "publications": ", ".join(f"{n}/{p}" for n, p in audit.publications),
        "digest": audit.audit_id,
    }
