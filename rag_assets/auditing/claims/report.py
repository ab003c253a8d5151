"""A claim audit as a page of Markdown, for the person who wrote the draft (spec 000 §4.7)."""

from collections.abc import Iterator

from rag_assets.auditing.claims.deciding import describe_found
from rag_assets.auditing.claims.record import ClaimAudit, ClaimRow, ClaimStatus, LinkedEvidence
from rag_assets.auditing.claims.wording import Exemption
from rag_assets.auditing.drafts.office import unit_of
from rag_assets.auditing.report import ORDER_OF_ROWS, shorten
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.model import (
    block_quote,
    code_span,
    count_of,
    escape_inline,
    escape_prose,
    show_figures,
)

# Columns of a terminal or page; a wide (East Asian) character takes two.
_CLAIM_WIDTH = 160
_MEANINGS: dict[ClaimStatus, str] = {
    "DISPUTED": "other sources say otherwise",
    "EVIDENCE_NEEDED": "it cites nothing, and the end of its paragraph does not support it",
    "WEAK": "the end of its paragraph cites what speaks of it; the reason says how much is known",
    "SUPPORTED": "what the end of its paragraph cites supports it",
}
_EXEMPT: dict[Exemption, str] = {
    "hedged": "hedged",
    "own_work": "on your own work",
    "structure": "on the text itself",
    "definition": "defining a term",
    "question": "asking a question",
    "no_statement": "too short to state anything",
}


def render_claims(audit: ClaimAudit) -> str:
    """Return the audit as Markdown: head, one table of all assertions, then each to mend."""
    lines = [
        *_head(audit),
        *_table(audit),
        *_details(audit),
        *_sources(audit),
        *_provenance(audit),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def summarize(audit: ClaimAudit) -> str:
    """Return what was listed of how many sentences, and what was left out."""
    sentences = count_of(audit.sentences, "sentence")
    verb = "cites" if len(audit.rows) == 1 else "cite"
    assertions = count_of(len(audit.rows), "strong assertion")
    parts = [f"{assertions} in {sentences} {verb} nothing."]
    if audit.cited:
        others = "1 more cites a source" if audit.cited == 1 else f"{audit.cited} more cite sources"
        parts.append(f"{others}: `rag verify-citations` judges those.")
    if audit.exempt:
        exempt = ", ".join(f"{number} {_EXEMPT[reason]}" for reason, number in audit.exempt.items())
        parts.append(f"Not flagged: {exempt}.")
    return " ".join(parts)


def _head(audit: ClaimAudit) -> Iterator[str]:
    yield f"# Claims of {_line(audit.draft_name)}"
    yield ""
    tally = " · ".join(f"{n} {status}" for status, n in audit.counts.items() if n)
    yield f"**{tally or 'No strong assertion without a source was found.'}**"
    yield ""
    yield summarize(audit)
    yield ""
    for status, count in audit.counts.items():
        if count:
            yield f"- {status}: {_MEANINGS[status]}"
    for warning in audit.warnings:
        yield ""
        yield f"> **Note.** {escape_prose(warning)}"
    yield ""


def _table(audit: ClaimAudit) -> Iterator[str]:
    if not audit.rows:
        return
    yield "## All assertions"
    yield ""
    yield f"{ORDER_OF_ROWS} What the library holds on each, and why, stands below."
    yield ""
    yield "| claim_id | claim_text | claim_type | linked_evidence | status | suggested_queries |"
    yield "|---|---|---|---|---|---|"
    for row in audit.by_urgency:
        evidence = "; ".join(_evidence(item, in_table=True) for item in row.linked_evidence)
        queries = "; ".join(
            _query_cell(row, number) for number in range(len(row.suggested_queries))
        )
        status = row.status if row.status == "SUPPORTED" else f"**{row.status}**"
        cells = (
            f"`{row.claim_id}`",
            _line(shorten(row.claim_text, _CLAIM_WIDTH)),
            ", ".join(row.claim_types),
            evidence or "–",
            status,
            queries or "–",
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _evidence(item: LinkedEvidence, *, in_table: bool = False) -> str:
    verdict = item.verdict
    where = f", {_line(verdict.locator)}" if verdict.locator else ""
    cites = code_span(verdict.cites, in_table=in_table)
    return f"{cites}{where}: {verdict.status}, at the paragraph's end"


def _query_cell(row: ClaimRow, number: int) -> str:
    query = row.suggested_queries[number]
    found = list(
        dict.fromkeys(
            f"{code_span(one.cites, in_table=True)} {_line(one.locator or '')}"
            for one in query.found
        )
    )
    nothing = "nothing else" if row.linked_evidence else "nothing citable"
    return f"{_line(query.query)} → {', '.join(found) or nothing}"


def _details(audit: ClaimAudit) -> Iterator[str]:
    to_mend = [row for row in audit.by_urgency if row.status != "SUPPORTED" or row.counterevidence]
    if not to_mend:
        return
    yield "## To mend"
    yield ""
    unit = unit_of(audit.draft_name)
    for row in to_mend:
        yield f"### {row.status}: {unit} {row.line}, {row.claim_type} (`{row.claim_id}`)"
        yield ""
        yield block_quote(row.sentence)
        yield ""
        yield escape_prose(row.reason)
        yield ""
        for item in row.linked_evidence:
            yield from _cited(item)
        for query in row.suggested_queries:
            yield f"Search for: {_line(query.query)}"
            yield ""
            for found in query.found:
                yield from _found(found)
        if row.counterevidence:
            yield "Says otherwise:"
            yield ""
            for found in row.counterevidence:
                yield from _found(found)


def _cited(item: LinkedEvidence) -> Iterator[str]:
    yield f"- {_evidence(item)}. {escape_prose(item.verdict.reason)}"
    yield from _looked_at(item.verdict)


def _found(verdict: CitationVerdict) -> Iterator[str]:
    title = f" {_line(verdict.title)}," if verdict.title else ""
    cite = code_span("{#" + verdict.cites + "}")
    where = f" {_line(verdict.locator)}" if verdict.locator else ""
    yield f"- {cite}{title}{where}: **{describe_found(verdict)}**. {escape_prose(verdict.reason)}"
    yield from _looked_at(verdict)


def _looked_at(verdict: CitationVerdict) -> Iterator[str]:
    if verdict.quote:
        yield f"  “{_line(show_figures(verdict.quote))}”"
    for sign in verdict.speaks_against:
        yield f"  - against it: {_line(sign.text)}"
    if verdict.scoring_note:
        yield f"  - {_line(verdict.scoring_note)}"
    yield ""


def _sources(audit: ClaimAudit) -> Iterator[str]:
    yield "## Sources used"
    yield ""
    if not audit.sources_used:
        yield "The draft cites no document of the index."
    for source in audit.sources_used:
        yield f"- {code_span(source.cite)}{f' {_line(source.title)}' if source.title else ''}"
    yield ""


def _provenance(audit: ClaimAudit) -> Iterator[str]:
    yield "## Where this comes from"
    yield ""
    yield from (f"- {_line(line)}" for line in provenance(audit))


def provenance(audit: ClaimAudit) -> tuple[str, ...]:
    """Return lines that say where the audit comes from."""
    return (
        f"draft: {audit.draft_name}, SHA-256 {audit.draft_digest}",
        f"audit: {audit.audit_id}",
        *(
            f"publication of {name}: {publication}"
            for name, publication in audit.publications.items()
        ),
        *(
            f"scorer of {name}: {audit.scorer} {mark}"
            for name, mark in audit.scorer_fingerprints.items()
        ),
        f"counter-evidence: {audit.counterevidence}",
    )


def _line(text: str) -> str:
    """Return what stands behind words of ours, on one line."""
    return escape_inline(text, opens=False)
