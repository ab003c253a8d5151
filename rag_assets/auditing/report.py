"""Audits as Markdown, for the person who wrote the draft."""

from collections.abc import Iterator, Sequence

from rag_assets.auditing.claims import (
    ClaimAudit,
    ClaimRow,
    ClaimStatus,
    Exemption,
    LinkedEvidence,
    describe_found,
)
from rag_assets.auditing.consistency import Inconsistency, InconsistencyKind
from rag_assets.auditing.draft import place_in
from rag_assets.auditing.record import CitationAudit, CitationVerdict
from rag_assets.judging import Sign, show_score
from rag_assets.model import (
    block_quote,
    code_span,
    count_of,
    escape_inline,
    escape_prose,
    shorten,
    show_figures,
)

# A citation audit as a page of Markdown, for the person who wrote the draft.

# Columns of a terminal or page; a wide (East Asian) character takes two.
_SENTENCE_WIDTH = 110
ORDER_OF_ROWS = (
    "What needs eyes first: contradicted, facts differ, nothing found, partly, unread, supported."
)

_MEANING_OF_SCORE: dict[str, str] = {
    "facts": "Nothing has read the passages: the score is how likely the sentence shown decides, "
    "beside the rest of its document, for ordering alone. Checkable facts were compared; the rest "
    "is yours to read. A reader on this machine reads them: `rag models add`.",
    "reader": "A small model has read a few sentences of each source. It is often unsure: WEAK "
    "means that you should read them yourself. Check its OKs too: on difficult drafts three in "
    "ten were not fully supported (docs/judging.md). A larger model reads better: `rag models "
    "add`.",
    "similarity": "The score is a similarity: a passage speaks of the same thing, which does not "
    "mean that it agrees. Check numbers, negations and directions against the quoted words.",
    "llm": "A language model has read a few sentences of each source; which model, and where its "
    "score is a calibrated probability, is in the reason. Read what is shown.",
}


def render_markdown(audit: CitationAudit) -> str:
    """Return the audit as Markdown: its head, one table of all rows, then each row to fix."""
    lines = [*_head(audit), *_table(audit), *_details(audit), *_sources(audit), *_provenance(audit)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _head(audit: CitationAudit) -> Iterator[str]:
    yield f"# Citations of {_escape(audit.draft_name)}"
    yield ""
    sentences = len({row.sentence_start for row in audit.rows})
    if audit.rows:
        tally = " · ".join(f"{n} {status}" for status, n in audit.counts.items() if n)
        yield (
            f"**{count_of(len(audit.rows), 'citation')} in {count_of(sentences, 'sentence')}: "
            f"{tally}**"
        )
        yield ""
        yield (
            f"OK from {show_score(audit.threshold)} ({audit.threshold_origin}), WEAK from "
            f"{show_score(audit.weak_threshold)} ({audit.weak_threshold_origin}), MISSING below, "
            f"or where the source says otherwise; the best {audit.k} passages of each cited "
            f"document were looked at. {_MEANING_OF_SCORE[audit.scorer]}"
        )
        yield ""
        yield (
            "Words in quotation marks are compared with the print: invented, or altered in a "
            "number, a negation or an exception, they make a citation MISSING; otherwise altered, "
            "at best WEAK."
        )
    else:
        yield "**No citations were found.**"
    for warning in audit.warnings:
        yield ""
        yield f"> **Note.** {escape_prose(warning)}"
    yield ""


def _table(audit: CitationAudit) -> Iterator[str]:
    if not audit.rows:
        return
    yield "## All citations"
    yield ""
    yield f"{ORDER_OF_ROWS} Numbers are those of the draft's order."
    yield ""
    yield "| # | sentence | cites | verdict | score | where | passage | reason | suggested query |"
    yield "|--:|---|---|---|--:|---|---|---|---|"
    for row in audit.by_urgency:
        quote = f"“{_escape(show_figures(row.shown_quote))}”" if row.shown_quote else "–"
        cells = (
            str(row.number),
            _escape(shorten(row.claim or row.sentence, _SENTENCE_WIDTH)),
            _cell_code(row.cites or "(empty)"),
            row.status if row.status == "OK" else f"**{row.status}**",
            _score(row),
            _escape(row.locator) if row.locator else "–",
            quote,
            escape_prose(row.reason),
            _escape(row.suggested_query) if row.suggested_query else "–",
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _score(row: CitationVerdict) -> str:
    if row.score is None or row.scored_by is None:
        return "–"
    return show_score(row.score)


def _details(audit: CitationAudit) -> Iterator[str]:
    to_mend = [
        row for row in audit.by_urgency if row.status != "OK" or row.outdated_judgement is not None
    ]
    if not to_mend:
        return
    yield "## To fix"
    yield ""
    for row in to_mend:
        yield from _detail(row, place_in(audit.draft_name, row.line, row.file))


def _detail(row: CitationVerdict, where: str) -> Iterator[str]:
    place = f", {_escape(row.hint)}" if row.hint else ""
    cited = f"{code_span(row.cites or '(empty)')}{place}"
    yield f"### {row.number}. {row.status}: {cited} in {_escape(where)}"
    yield ""
    yield block_quote(row.sentence)
    if row.is_clause:
        yield ""
        yield f"Judged: {_escape(row.claim)}"
    yield ""
    yield escape_prose(row.reason)
    for note in (row.scoring_note, row.outdated_judgement):
        if note:
            yield ""
            yield escape_prose(note)
    yield from _signs("For", row.speaks_for)
    yield from _signs("Against", row.speaks_against)
    if row.status == "ERROR" and len(row.nearest_uids) > 1:
        yield ""
        yield f"May be meant: {', '.join(code_span('{#' + uid + '}') for uid in row.nearest_uids)}"
    if row.suggested_query:
        yield ""
        yield f"Search for: {_escape(row.suggested_query)}"
    if row.passage is not None and row.quote is not None:
        title = f"{_escape(' '.join(row.title.split()))}, " if row.title else ""
        yield ""
        yield f"Nearest sentence ({title}{_escape(row.locator or '')}):"
        yield ""
        yield block_quote(show_figures(row.row or row.quote))
        if " ".join(row.passage.split()) != " ".join(row.quote.split()):
            yield ""
            yield f"Its passage ({code_span(row.chunk_id or '')}):"
            yield ""
            yield block_quote(show_figures(row.passage))
    yield ""


def _signs(head: str, signs: Sequence[Sign]) -> Iterator[str]:
    if not signs:
        return
    yield ""
    yield f"{head}:"
    yield ""
    for sign in signs:
        yield f"- {sign.kind}: {_escape(sign.text)}"
        if sign.kind == "quotation" and sign.source:
            yield f"  Printed: “{_escape(sign.source)}”"


def _sources(audit: CitationAudit) -> Iterator[str]:
    if audit.sources_used:
        yield "## Sources used"
        yield ""
        yield from (f"- {code_span(source)}" for source in audit.sources_used)
        yield ""


def _provenance(audit: CitationAudit) -> Iterator[str]:
    yield "## Where this comes from"
    yield ""
    yield f"- draft: {_escape(audit.draft_name)}, SHA-256 `{audit.draft_digest}`"
    yield f"- audit: `{audit.audit_id}`"
    for namespace, publication in audit.publications.items():
        yield f"- publication of {_escape(namespace)}: {code_span(publication)}"
    for namespace, fingerprint in audit.encoders.items():
        yield f"- embedding model of {_escape(namespace)}: {code_span(fingerprint)}"
    yield f"- scorer: {_escape(audit.scorer)}, k = {audit.k}"


def _escape(text: str) -> str:
    """Return what stands behind words of ours, on one line."""
    return escape_inline(text, opens=False)


def _cell_code(text: str) -> str:
    return code_span(text, in_table=True)


# A claim audit as a page of Markdown, for the person who wrote the draft (spec 000 §4.7).

# Columns of a terminal or page; a wide (East Asian) character takes two.
_CLAIM_WIDTH = 160
_MEANINGS: dict[ClaimStatus, str] = {
    "DISPUTED": "other sources say otherwise",
    "EVIDENCE_NEEDED": "it cites nothing, and the end of its paragraph does not support it",
    "WEAK": "the end of its paragraph cites what speaks of it; the reason says how much is known",
    "SUPPORTED": "what the end of its paragraph cites supports it",
}
_KINDS: dict[InconsistencyKind, str] = {
    "table": "a number differs from the table",
    "abstract": "a number of the abstract differs from the text",
    "reference": "points to nothing",
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
    """Return the audit as Markdown: head, one table of all assertions, then each to fix."""
    lines = [
        *_claims_head(audit),
        *_inconsistent(audit),
        *_claims_table(audit),
        *_claims_details(audit),
        *_claims_sources(audit),
        *_claims_provenance(audit),
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


def _claims_head(audit: ClaimAudit) -> Iterator[str]:
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


def _inconsistent(audit: ClaimAudit) -> Iterator[str]:
    if not audit.inconsistent:
        return
    yield "## Inconsistent in the draft"
    yield ""
    for one in audit.inconsistent:
        yield f"### {_line(describe_place(one, audit.draft_name))}"
        yield ""
        yield block_quote(one.sentence)
        yield ""
        yield escape_prose(one.reason)
        if one.words:
            yield ""
            yield f"It differs from {_line(other_place(one, audit.draft_name))}:"
            yield ""
            yield block_quote(one.words)
        yield ""


def describe_place(one: Inconsistency, draft_name: str) -> str:
    """Return where a draft contradicts itself and of which kind that is."""
    return f"{place_in(draft_name, one.line, one.file)}: {_KINDS[one.kind]}"


def other_place(one: Inconsistency, draft_name: str) -> str:
    """Return where the draft says otherwise; empty where nothing is."""
    return place_in(draft_name, one.other_line, one.other_file) if one.other_line else ""


def _claims_table(audit: ClaimAudit) -> Iterator[str]:
    if not audit.rows:
        return
    yield "## All assertions"
    yield ""
    yield f"{ORDER_OF_ROWS} What the library has on each follows below."
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


def _claims_details(audit: ClaimAudit) -> Iterator[str]:
    to_mend = [row for row in audit.by_urgency if row.status != "SUPPORTED" or row.counterevidence]
    if not to_mend:
        return
    yield "## To fix"
    yield ""
    for row in to_mend:
        where = _escape(place_in(audit.draft_name, row.line, row.file))
        yield f"### {row.status}: {where}, {row.claim_type} (`{row.claim_id}`)"
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
    if verdict.shown_quote:
        yield f"  “{_line(show_figures(verdict.shown_quote))}”"
    for sign in verdict.speaks_against:
        yield f"  - against it: {_line(sign.text)}"
    if verdict.scoring_note:
        yield f"  - {_line(verdict.scoring_note)}"
    yield ""


def _claims_sources(audit: ClaimAudit) -> Iterator[str]:
    yield "## Sources used"
    yield ""
    if not audit.sources_used:
        yield "The draft cites no document of the index."
    for source in audit.sources_used:
        yield f"- {code_span(source.cite)}{f' {_line(source.title)}' if source.title else ''}"
    yield ""


def _claims_provenance(audit: ClaimAudit) -> Iterator[str]:
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
