"""Audits as pages of HTML: the draft itself, coloured, each note a click away."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from rag_assets.auditing.citation_forms import ANCHOR
from rag_assets.auditing.claims import (
    ClaimAudit,
    ClaimRow,
    ClaimStatus,
    SuggestedQuery,
    describe_found,
)
from rag_assets.auditing.draft import FRONT_MATTER, Draft, unit_of
from rag_assets.auditing.prose import ProseBlock, find_prose
from rag_assets.auditing.record import CitationAudit, CitationVerdict, Status, urgency
from rag_assets.auditing.report import describe_place, other_place, provenance, summarize
from rag_assets.judging import show_score
from rag_assets.model import count_of, drop_controls, is_chinese, show_figures

if TYPE_CHECKING:
    from jinja2 import Template

# A draft cut into the pieces of a page: its blocks, and in each the sentences with notes.

BlockKind = Literal["heading", "paragraph", "item", "quotation", "row", "code"]

_NOT_A_LINE_END = re.compile(r"[^\r\n]")
_BULLET = re.compile(r"(?:^|[>\s])([-*+]|\d{1,9}[.)])[ \t]+$")
_QUOTED = re.compile(r"^\s*>")
# Shown smaller than the words: anchors, keys of Pandoc and LaTeX.
_CITATION = re.compile(
    rf"{ANCHOR}|[\[［【]-?[@＠][^\[\]［］【】\n]*[\]］】]|\\[a-z]*cite[a-z]*\*?(?:\[[^\]\n]*\])*\{{[^{{}}]*\}}"
)
_MARK = re.compile(r"\*\*\*?|(?<!\w)__?(?=\S)|(?<=\S)__?(?!\w)|(?<![\d\s])\*(?!\d)|(?<!\d)\*(?=\S)")
_MOST_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Span:
    """Where a note belongs: half-open offsets of its sentence, and its number on the page."""

    start: int
    end: int
    number: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a block. `note` is the number of the note on them, None without one.

    Args:
        text: as it stands, `is_citation` where it is an anchor and not words.
        is_first: where a note's sentence begins: there the note can be opened.
    """

    parts: tuple[tuple[str, bool], ...]
    note: int | None
    is_first: bool


@dataclass(frozen=True, slots=True)
class LaidBlock:
    """A block of the page.

    Args:
        level: of a heading, from 1; how deep an item is nested, from 0.
        marker: of a list item, as it stands.
    """

    kind: BlockKind
    level: int
    marker: str
    pieces: tuple[Piece, ...]


def lay_out(draft: Draft, spans: Sequence[Span]) -> list[LaidBlock]:
    """Return the blocks of a draft in order, its front matter left out.

    Args:
        spans: sentences with notes, in order, none inside another.
    """
    body = FRONT_MATTER.sub(lambda match: _NOT_A_LINE_END.sub(" ", match.group()), draft.text)
    laid: list[LaidBlock] = []
    begun: set[int] = set()
    end, has_code = 0, False
    for block in find_prose(body, draft.is_markdown):
        if block is None:
            has_code = True
            continue
        if not block.offsets:
            continue
        start = block.offsets[0]
        line = body.rfind("\n", 0, start) + 1
        if has_code:
            laid.extend(_code(body[end : max(line, end)]))
        laid.append(_lay(block, body, line, spans, begun))
        end, has_code = block.offsets[-1] + 1, False
    if has_code:
        laid.extend(_code(body[end:]))
    return laid


def _code(gap: str) -> Iterator[LaidBlock]:
    lines = [line for line in gap.splitlines() if not re.match(r"\s*(```|~~~)", line)]
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield LaidBlock("code", 0, "", (Piece(((text, False),), None, is_first=False),))


def _lay(
    block: ProseBlock, body: str, line: int, spans: Sequence[Span], begun: set[int]
) -> LaidBlock:
    prefix = body[line : block.offsets[0]]
    pieces = tuple(_pieces(block, body, spans, begun))
    if block.kind == "heading":
        # A heading underlined with `===` or `---` has no marks before it.
        level = prefix.count("#") or (1 if "=" in body[block.offsets[-1] + 1 :][:3] else 2)
        return LaidBlock("heading", min(level, _MOST_LEVELS), "", pieces)
    if block.kind == "row":
        return LaidBlock("row", 0, "", pieces)
    bullet = _BULLET.search(prefix)
    depth = (len(prefix.expandtabs(4)) - len(prefix.expandtabs(4).lstrip(" >"))) // 2
    if bullet:
        return LaidBlock("item", min(depth, _MOST_LEVELS), bullet[1], pieces)
    if _QUOTED.match(prefix):
        return LaidBlock("quotation", 0, "", pieces)
    return LaidBlock("paragraph", 0, "", pieces)


def _pieces(
    block: ProseBlock, body: str, spans: Sequence[Span], begun: set[int]
) -> Iterator[Piece]:
    """Cut a block where sentences with notes begin and end."""
    place = 0
    for span in spans:
        if span.end <= block.offsets[0] or span.start > block.offsets[-1]:
            continue
        inside = [n for n, offset in enumerate(block.offsets) if span.start <= offset < span.end]
        if not inside or inside[0] < place:
            continue
        first, last = inside[0], inside[-1] + 1
        if first > place:
            yield _piece(block, body, place, first, None, is_first=False)
        yield _piece(block, body, first, last, span.number, is_first=span.number not in begun)
        begun.add(span.number)
        place = last
    if place < len(block.offsets):
        yield _piece(block, body, place, len(block.offsets), None, is_first=False)


def _piece(
    block: ProseBlock, body: str, first: int, last: int, note: int | None, *, is_first: bool
) -> Piece:
    # Cells of a row are parted by blanks in the block; the draft's own `|` is more to look at.
    text = "".join(body[block.offsets[n]] for n in range(first, last))
    parts: list[tuple[str, bool]] = []
    place = 0
    for match in _CITATION.finditer(text):
        parts.append((_MARK.sub("", text[place : match.start()]), False))
        parts.append((match.group(), True))
        place = match.end()
    parts.append((_MARK.sub("", text[place:]), False))
    return Piece(tuple(part for part in parts if part[0]), note, is_first)


# The page of an audited draft: its own words, coloured, each note a click away.
#
# One file without scripts and without anything from elsewhere; `<details>` opens and closes.

# What a colour says: supported; partly; not; nothing cited; cannot be judged.
Tone = Literal["good", "weak", "bad", "open", "error"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a source as it is shown.

    Args:
        source: uid, as it is cited; `title` of its document.
        locator: where it stands, as a person writes it.
        text: verbatim; [mark_start, mark_end) of it is what counts.
        label: a word on it, with its `tone`; empty for none.
        remark: a sentence on it; empty for none.
    """

    source: str
    title: str
    locator: str
    text: str
    mark_start: int = 0
    mark_end: int = 0
    label: str = ""
    tone: Tone | None = None
    remark: str = ""
    speaks_for: tuple[str, ...] = ()
    speaks_against: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, str, str]:
        """The text before the mark, in it and behind it."""
        return (
            self.text[: self.mark_start],
            self.text[self.mark_start : self.mark_end],
            self.text[self.mark_end :],
        )


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query that a writer may ask, what it finds, and a sentence where that is nothing."""

    query: str
    passages: tuple[Passage, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What is to be said about a sentence of the draft.

    Args:
        start: offset in the draft's text; `end` one past its last.
        status: the word on it; `tone` its colour.
        kind: what sort of sentence it is, or what it cites; in few words.
        line: of the draft, from 1; `file` that it is of, where the draft includes others.
        claim: the sentence without marks.
        reasons: sentences for the writer.
        urgency: its place in the list below the draft, which begins with what needs eyes first.
        cited: passages of what it cites.
        against: passages of other documents that speak against it.
        suggestions: what could be asked.
    """

    start: int
    end: int
    status: str
    tone: Tone
    kind: str
    line: int
    claim: str
    reasons: tuple[str, ...]
    urgency: int
    cited: tuple[Passage, ...] = ()
    against: tuple[Passage, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    file: str = ""


@dataclass(frozen=True, slots=True)
class PageHead:
    """What stands above and below the draft.

    Args:
        title: of the page.
        summary: one sentence below it.
        tally: (status, tone, how many), in the order in which they are shown.
        warnings: sentences a person can act on.
        sources: used, as they are cited.
        provenance: lines that say where the audit comes from.
        inconsistent: (where, sentence, why, words of the other place) the draft contradicts itself.
    """

    title: str
    summary: str
    tally: tuple[tuple[str, Tone, int], ...]
    warnings: tuple[str, ...]
    sources: tuple[str, ...]
    provenance: tuple[str, ...]
    inconsistent: tuple[tuple[str, str, str, str], ...] = ()


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rag_assets.auditing"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("draft.html")


def render_page(draft: Draft, notes: Sequence[Note], head: PageHead) -> str:
    """Return the page of a draft.

    Args:
        notes: in the order of their sentences, none inside another.
    """
    spans = [Span(note.start, note.end, number) for number, note in enumerate(notes)]
    page = _template().render(
        head=head,
        notes=notes,
        listed=sorted(range(len(notes)), key=lambda number: notes[number].urgency),
        blocks=lay_out(draft, spans),
        language="zh-Hans" if is_chinese(draft.text) else "en",
        is_plain=not draft.is_markdown,
        unit=unit_of(draft.name),
    )
    return drop_controls(page)


# The page of a citation audit: the draft with a verdict on every cited sentence.

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
        file=first.file,
        claim=first.claim,
        reasons=(),
        urgency=min(map(urgency, rows)),
        cited=tuple(show_verdict(row) for row in rows),
        suggestions=tuple(Suggestion(query) for query in queries),
    )


def show_verdict(row: CitationVerdict) -> Passage:
    """Return what a verdict looked at as it is shown: its passage, the best sentence marked."""
    before, marked, after = map(show_figures, part_passage(row.passage or "", row.quote))
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


def part_passage(passage: str, quote: str | None) -> tuple[str, str, str]:
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


# The page of a claim audit: the draft with a note on every strong assertion.

TONES_OF_CLAIMS: dict[ClaimStatus, Tone] = {
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
        tally=tuple((s, TONES_OF_CLAIMS[s], count) for s, count in audit.counts.items() if count),
        warnings=audit.warnings,
        sources=tuple(f"{one.cite} {one.title}".strip() for one in audit.sources_used),
        provenance=provenance(audit),
        inconsistent=tuple(
            (
                describe_place(one, audit.draft_name),
                one.sentence,
                " ".join(filter(None, (one.reason, other_place(one, audit.draft_name)))),
                one.words,
            )
            for one in audit.inconsistent
        ),
    )
    return render_page(draft, [_claim_note(row) for row in audit.rows], head)


def _claim_note(row: ClaimRow) -> Note:
    return Note(
        start=row.start,
        end=row.end,
        status=row.status,
        tone=TONES_OF_CLAIMS[row.status],
        kind=", ".join(row.claim_types),
        line=row.line,
        file=row.file,
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
