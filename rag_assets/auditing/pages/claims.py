"""The page of a claim audit: the draft with a note on every strong assertion."""

from dataclasses import replace

from rag_assets.auditing.claims.deciding import describe_found
from rag_assets.auditing.claims.record import ClaimAudit, ClaimRow, ClaimStatus, SuggestedQuery
from rag_assets.auditing.claims.report import provenance, summarize
from rag_assets.auditing.drafts.draft import Draft
from rag_assets.auditing.pages.citations import show_verdict
from rag_assets.auditing.pages.page import Note, PageHead, Passage, Suggestion, Tone, render_page
from rag_assets.auditing.verdict import CitationVerdict

TONES: dict[ClaimStatus, Tone] = {
    "DISPUTED": "bad",
    "EVIDENCE_NEEDED": "open",
    "WEAK": "weak",
    "SUPPORTED": "good",
}


def render_claims_html(draft: Draft, audit: ClaimAudit) -> str:
    """Return one HTML file: the draft, its strong assertions coloured by their status.

    Args:
        draft: the one that was audited.
    """
    head = PageHead(
        title=f"Claims of {audit.draft_name}",
        summary=summarize(audit).replace("`", ""),
        tally=tuple((s, TONES[s], count) for s, count in audit.counts.items() if count),
        warnings=audit.warnings,
        sources=tuple(f"{one.cite} {one.title}".strip() for one in audit.sources_used),
        provenance=provenance(audit),
    )
    return render_page(draft, [_note(row) for row in audit.rows], head)


def _note(row: ClaimRow) -> Note:
    return Note(
        start=row.start,
        end=row.end,
        status=row.status,
        tone=TONES[row.status],
        kind=", ".join(row.claim_types),
        line=row.line,
        claim=row.claim_text,
        reasons=(row.reason,),
        urgency=row.urgency,
        cited=tuple(show_verdict(item.verdict) for item in row.linked_evidence),
        against=tuple(map(_show_found, row.counterevidence)),
        suggestions=tuple(
            _suggestion(query, cites=bool(row.linked_evidence)) for query in row.suggested_queries
        ),
    )


def _suggestion(query: SuggestedQuery, *, cites: bool) -> Suggestion:
    what = "No other document in the index" if cites else "Nothing citable in the index"
    remark = "" if query.found else f"{what} speaks of it."
    return Suggestion(query.query, tuple(map(_show_found, query.found)), remark)


def _show_found(verdict: CitationVerdict) -> Passage:
    """Return a document that nobody cites yet, as it is shown."""
    return replace(
        show_verdict(verdict), source=f"{{#{verdict.cites}}}", label=describe_found(verdict)
    )
