"""What the UI shows of a citation audit."""

from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.assets.lineage_links import lineage_metadata
from rag_assets.assets.reporting import Metadata, table, text_preview
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.auditing import AuditOutcome, CitationAudit


def citations_metadata(workspace: Workspace, outcome: "AuditOutcome[CitationAudit]") -> Metadata:
    """Return what the UI shows of an audit."""
    from rag_assets.judging import show_score

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
        "publications": ", ".join(f"{n}/{p}" for n, p in audit.publications.items()),
        "digest": audit.audit_id,
    }
