"""The page of a claim audit: the draft with a note on every strong assertion."""

from collections.abc import Sequence

from rag_assets.auditing.claims.record import (
    Bearing,
    ClaimAudit,
    ClaimRow,
    ClaimStatus,
    FoundPassage,
    SuggestedQuery,
)
from rag_assets.auditing.claims.report import BEARINGS, provenance, summarize
from rag_assets.auditing.drafts.draft import Draft
from rag_assets.auditing.pages.citations import show_verdict
from rag_assets.auditing.pages.page import Note, PageHead, Passage, Suggestion, Tone, render_page
from rag_assets.judging import Sign

TONES: dict[ClaimStatus, Tone] = {
    "CONTRADICTED": "bad",
    "UNSUPPORTED": "bad",
    "EVIDENCE_NEEDED": "open",
    "DISPUTED": "weak",
    "WEAK": "weak",
    "ERROR": "error",
    "SUPPORTED": "good",
}
_TONES_FOUND: dict[Bearing, Tone | None] = {
    "supports": "good",
    "supports_in_part": "weak",
    "close": "good",
    "near": "weak",
    "on_the_matter": None,
    "contradicts": "bad",
}


def render_claims_html(draft: Draft, audit: ClaimAudit, audit_id: str) -> str:
    """Return one HTML file: the draft, its strong assertions coloured by their status.

    Args:
        draft: the one that was audited.
        audit_id: of `audit`.
    """
    head = PageHead(
        title=f"Claims of {audit.draft_name}",
        summary=summarize(audit),
        tally=tuple((s, TONES[s], count) for s, count in audit.counts.items() if count),
        warnings=audit.warnings,
        sources=tuple(f"{cite} {title}".strip() for cite, title in audit.sources_used),
        provenance=provenance(audit, audit_id),
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
        cited=tuple(show_verdict(item.verdict) for item in row.linked_evidence),
        against=tuple(_passage(found) for found in row.counterevidence),
        suggestions=tuple(
            _suggestion(query, cites=bool(row.linked_evidence)) for query in row.suggested_queries
        ),
    )


def _suggestion(query: SuggestedQuery, *, cites: bool) -> Suggestion:
    what = "No other document in the index" if cites else "Nothing citable in the index"
    remark = "" if query.found else f"{what} speaks of it."
    return Suggestion(query.query, tuple(_passage(found) for found in query.found), remark)


def _passage(found: FoundPassage) -> Passage:
    return Passage(
        source=f"{{#{found.cite}}}",
        title=found.title or "",
        locator=found.locator,
        text=found.text,
        mark_start=found.quote_start,
        mark_end=found.quote_end,
        label=BEARINGS[found.bearing],
        tone=_TONES_FOUND[found.bearing],
        speaks_for=texts_of(found.speaks_for),
        speaks_against=texts_of(found.speaks_against),
    )


def texts_of(signs: Sequence[Sign]) -> tuple[str, ...]:
    """Return what signs say, each once."""
    return tuple(dict.fromkeys(sign.text for sign in signs))
