"""Checks of a draft: whether the documents that it cites support what it says."""

from rag_assets.auditing.citation_forms import Citation
from rag_assets.auditing.draft import (
    CitedSentence,
    Draft,
    parse_draft,
    place_in,
    read_draft,
    unit_of,
)
from rag_assets.auditing.library import (
    CitedDocument,
    CitedDocumentRef,
    Library,
    NoReferences,
    Passage,
)
from rag_assets.auditing.published import open_published
from rag_assets.auditing.quoting import RefusedQuoteError, find_evidence
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
from rag_assets.auditing.reference_check import (
    ReferenceCheck,
    check_references,
    settle_reference,
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
    draft_key,
    export_cited_sources,
    find_drafts,
    judge_draft,
    list_drafts,
)
from rag_assets.auditing.verification import VerdictStore, verify_citations

# Modules that other packages may import from.
PUBLIC_MODULES = (
    "claims",
    "deciding",
    "draft",
    "judgements",
    "library",
    "online",
    "pages",
    "pairing",
    "receiving",
    "record",
    "reference_check",
    "references",
    "report",
    "reviewing",
    "sarif",
    "settling",
    "storing",
    "word_comments",
)
