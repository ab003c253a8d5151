"""What the UI shows of a claim audit."""

from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.assets.lineage_links import lineage_metadata
from rag_assets.assets.reporting import Metadata, table, text_preview
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.auditing import AuditOutcome
    from rag_assets.auditing.claims import ClaimAudit


def claims_metadata(workspace: Workspace, outcome: "AuditOutcome[ClaimAudit]") -> Metadata:
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
        "publications": ", ".join(f"{n}/{p}" for n, p in audit.publications.items()),
        "digest": audit.audit_id,
    }
