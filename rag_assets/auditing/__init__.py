"""Checks of a draft: whether the documents that it cites support what it says."""

from rag_assets.auditing.citation_forms import Citation
from rag_assets.auditing.draft import CitedSentence, Draft, parse_draft, read_draft, unit_of
from rag_assets.auditing.library import CitedDocument, CitedDocumentRef, Library, Passage
from rag_assets.auditing.published import open_published
from rag_assets.auditing.record import (
    VERIFICATION_VERSION,
    Audit,
    CitationAudit,
    CitationVerdict,
    audit_from_json,
    audit_schema,
    audit_to_json,
    urgency,
)
from rag_assets.auditing.report import render_markdown
from rag_assets.auditing.staleness import (
    OutdatedDraft,
    look_for_stale,
    outdated_drafts,
    stale_verdicts,
    unsupported_citations,
)
from rag_assets.auditing.storing import (
    CITATIONS,
    DRAFT_SUFFIXES,
    AuditKind,
    AuditOutcome,
    audit_citations,
    audit_sentence,
    check_draft,
    citations_of_text,
    draft_key,
    export_cited_sources,
    find_drafts,
    judge_draft,
    list_drafts,
)
from rag_assets.auditing.verification import VerdictStore, verify_citations

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("claims", "deciding", "judgements", "pages", "record", "report", "storing")

__all__ = [
    "CITATIONS",
    "DRAFT_SUFFIXES",
    "VERIFICATION_VERSION",
    "Audit",
    "AuditKind",
    "AuditOutcome",
    "Citation",
    "CitationAudit",
    "CitationVerdict",
    "CitedDocument",
    "CitedDocumentRef",
    "CitedSentence",
    "Draft",
    "Library",
    "OutdatedDraft",
    "Passage",
    "VerdictStore",
    "audit_citations",
    "audit_from_json",
    "audit_schema",
    "audit_sentence",
    "audit_to_json",
    "check_draft",
    "citations_of_text",
    "draft_key",
    "export_cited_sources",
    "find_drafts",
    "judge_draft",
    "list_drafts",
    "look_for_stale",
    "open_published",
    "outdated_drafts",
    "parse_draft",
    "read_draft",
    "render_markdown",
    "stale_verdicts",
    "unit_of",
    "unsupported_citations",
    "urgency",
    "verify_citations",
]
