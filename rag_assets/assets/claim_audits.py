"""The asset `claim_audits`: the strong assertions of each draft in drafts/ and their evidence."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.citation_audits import DRAFTS
from rag_assets.assets.lineage_links import lineage_metadata
from rag_assets.assets.options import OWNERS, progress_reporter, signed_work
from rag_assets.assets.reporting import Metadata, copies_metadata, table, text_preview
from rag_assets.auditing import find_drafts
from rag_assets.auditing.claims import ClaimOutcome, audit_claims
from rag_assets.workspace import Workspace

# Raise it when the same sentence may be typed or judged otherwise.
CODE_VERSION = "4"


def build_claim_audits_asset(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> dg.AssetsDefinition:
    """Return the asset of a workspace; it depends on every namespace's search_index."""

    @dg.asset(
        key="claim_audits",
        deps=list(upstream),
        group_name="workspace",
        description="The strong assertions of a draft that cite nothing (causal, comparative, "
        "superlative, universal, recommendation, quantitative), and which documents could be "
        "cited for each. Numbered files under outputs/audits/.",
        kinds={"file", "report"},
        owners=OWNERS,
        code_version=CODE_VERSION,
        partitions_def=DRAFTS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def claim_audits(context: dg.AssetExecutionContext) -> None:
        fresh = Workspace.open(workspace.root)
        for key in context.partition_keys:
            with signed_work(context, fresh, CODE_VERSION):
                outcomes = {
                    path: audit_claims(
                        fresh, path, notify=context.log.info, on_progress=progress_reporter.get()
                    )
                    for path in find_drafts(fresh, key)
                }
            # Equal copies have equal rows; each has files of its own.
            outcome = next(iter(outcomes.values()))
            files = {path: each.markdown for path, each in outcomes.items()}
            context.add_asset_metadata(
                {**claims_metadata(fresh, outcome), **copies_metadata(fresh, files)},
                partition_key=key,
            )

    return claim_audits


def claims_metadata(workspace: Workspace, outcome: ClaimOutcome) -> Metadata:
    """Return what the UI shows of a claim audit."""
    audit = outcome.audit
    return {
        "draft": audit.draft_name,
        **{str(status): count for status, count in audit.counts.items()},
        "seconds": round(outcome.seconds, 3),
        "searched": audit.searched_now,
        "judged": audit.judged_now,
        "is new": outcome.is_new,
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        "page": dg.MetadataValue.path(str(outcome.html)),
        "table": table(
            ("claim_id", "line", "claim", "type", "status", "reason"),
            (
                (
                    row.claim_id,
                    row.line,
                    row.claim_text[:200],
                    row.claim_type,
                    row.status,
                    row.reason,
                )
                for row in audit.by_urgency
            ),
        ),
        **lineage_metadata(
            workspace,
            (
                (
                    link.verdict.namespace,
                    link.verdict.doc_uid,
                    link.verdict.content_version,
                    row.claim_id,
                )
                for row in audit.rows
                for link in row.linked_evidence
            ),
        ),
        "preview": text_preview(outcome.markdown.read_text(encoding="utf-8")[:8000]),
        "publications": ", ".join(f"{n}/{p}" for n, p in audit.publications),
        "digest": audit.audit_id,
    }
