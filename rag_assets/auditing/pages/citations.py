"""The page of a citation audit: the draft with a verdict on every cited sentence."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rag_assets.auditing.drafts.draft import Draft
from rag_assets.auditing.ordering import urgency
from rag_assets.auditing.pages.page import Note, PageHead, Passage, Suggestion, Tone, render_page
from rag_assets.auditing.record import CitationAudit
from rag_assets.auditing.verdict import CitationVerdict, Status
from rag_assets.judging import show_score
from rag_assets.model import count_of, show_figures

TONES: dict[Status, Tone] = {"OK": "good", "WEAK": "weak", "MISSING": "bad", "ERROR": "error"}
# Where a sentence cites several documents its colour is that of the worst.
_WORST_FIRST: tuple[Status, ...] = ("ERROR", "MISSING", "WEAK", "OK")


def render_citation_html(draft: Draft, audit: CitationAudit) -> str:
    """Return one HTML file: the draft, its cited sentences coloured by their verdicts.

    Args:
        draft: the one that was judged.
        audit: of that draft; sentences and rows belong together by their offsets.
    """
    by_sentence = groupby(
        sorted(audit.rows, key=lambda row: (row.sentence_start, row.number)),
        key=lambda row: row.sentence_start,
    )
    notes = [_note(list(rows)) for _, rows in by_sentence]
    return render_page(draft, notes, _head(audit))


def _note(rows: Sequence[CitationVerdict]) -> Note:
    first = rows[0]
    status = min((row.status for row in rows), key=_WORST_FIRST.index)
    queries = dict.fromkeys(row.suggested_query for row in rows if row.suggested_query)
    return Note(
        start=first.sentence_start,
        end=first.sentence_end,
        status=status,
        tone=TONES[status],
        kind="cites " + ", ".join(row.cites or "(empty)" for row in rows),
        line=first.line,
        claim=first.claim,
        reasons=(),
        urgency=min(map(urgency, rows)),
        cited=tuple(show_verdict(row) for row in rows),
        suggestions=tuple(Suggestion(query) for query in queries),
    )


def show_verdict(row: CitationVerdict) -> Passage:
    """Return what a verdict looked at as it is shown: its passage, the best sentence marked."""
    before, marked, after = map(show_figures, _parted(row.passage or "", row.quote))
    return Passage(
        source=row.cites or "(empty)",
        title=row.title or "",
        locator=row.locator or "",
        text=before + marked + after,
        mark_start=len(before),
        mark_end=len(before) + len(marked),
        label=row.status,
        tone=TONES[row.status],
        remark=" ".join(_told(row)),
        speaks_for=tuple(dict.fromkeys(sign.text for sign in row.speaks_for)),
        speaks_against=tuple(dict.fromkeys(sign.text for sign in row.speaks_against)),
    )


def _told(row: CitationVerdict) -> Iterator[str]:
    for part in (row.reason, row.scoring_note, row.outdated_judgement):
        if part:
            yield part.replace("`", "")


def _parted(passage: str, quote: str | None) -> tuple[str, str, str]:
    """Return what stands before the quote, the quote and what follows it."""
    return passage.partition(quote) if quote and quote in passage else ("", "", passage)


def _head(audit: CitationAudit) -> PageHead:
    sentences = len({row.sentence_start for row in audit.rows})
    return PageHead(
        title=f"Citations of {audit.draft_name}",
        summary=f"{count_of(len(audit.rows), 'citation')} in {count_of(sentences, 'sentence')}.",
        tally=tuple((s, TONES[s], count) for s, count in audit.counts.items() if count),
        warnings=audit.warnings,
        sources=audit.sources_used,
        provenance=(
            f"draft: {audit.draft_name}, SHA-256 {audit.draft_digest}",
            f"audit: {audit.audit_id}",
            *(f"publication of {name}: {value}" for name, value in audit.publications.items()),
            (
                f"scorer: {audit.scorer}, k = {audit.k}; OK from {show_score(audit.threshold)} "
                f"({audit.threshold_origin}), WEAK from {show_score(audit.weak_threshold)} "
                f"({audit.weak_threshold_origin})"
            ),
        ),
    )
