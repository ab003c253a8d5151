"""Checks of a draft: whether the documents that it cites support what it says."""

from typing import TYPE_CHECKING

from rag_assets.auditing.audit import Audit, audit_from_json, audit_schema, audit_to_json
from rag_assets.auditing.drafts.anchors import Citation
from rag_assets.auditing.drafts.draft import CitedSentence, Draft, parse_draft, read_draft
from rag_assets.auditing.drafts.office import unit_of
from rag_assets.auditing.encoders import Encoder
from rag_assets.auditing.library import CitedDocument, CitedDocumentRef, Library, Passage
from rag_assets.auditing.ordering import urgency
from rag_assets.auditing.published import open_published
from rag_assets.auditing.record import VERIFICATION_VERSION, CitationAudit
from rag_assets.auditing.report import render_markdown
from rag_assets.auditing.sources import export_cited_sources
from rag_assets.auditing.staleness import OutdatedDraft, look_for_stale, outdated_drafts
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
    find_drafts,
    judge_draft,
    list_drafts,
)
from rag_assets.auditing.unsupported import unsupported_citations
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.auditing.verdict_store import VerdictStore
from rag_assets.auditing.verification import verify_citations
from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.auditing.staleness import stale_verdicts

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("claims", "judgements", "pages", "showing")

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
    "Encoder",
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

# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "stale_verdicts": "staleness",
    },
)
