"""Claim audits: the strong assertions of a draft, and what there is to support them."""

from rag_assets.auditing.claims.linking import find_claims
from rag_assets.auditing.claims.making import make_claim_audit
from rag_assets.auditing.claims.record import ClaimAudit, ClaimRow, ClaimStatus
from rag_assets.auditing.claims.report import render_claims
from rag_assets.auditing.claims.storing import CLAIMS, audit_claims, claims_of_text
from rag_assets.auditing.claims.wording import AssertionType, Wording, read_wording

__all__ = [
    "CLAIMS",
    "AssertionType",
    "ClaimAudit",
    "ClaimRow",
    "ClaimStatus",
    "Wording",
    "audit_claims",
    "claims_of_text",
    "find_claims",
    "make_claim_audit",
    "read_wording",
    "render_claims",
]
