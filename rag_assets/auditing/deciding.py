"""From what was found out about a claim to its verdict."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag_assets.auditing.citation_forms import Citation
from rag_assets.auditing.draft import CitedSentence
from rag_assets.auditing.library import (
    CitedArticle,
    CitedDocument,
    CitedDocumentRef,
    FaultyCitation,
    NamedArticle,
    clause_at,
    find_article,
    find_unmentioned,
    read_articles,
    show_article,
)
from rag_assets.auditing.quoting import OMISSION, REORDERED, QuotationCheck
from rag_assets.auditing.record import CitationVerdict, ReasonCode, ShownPassage, Status
from rag_assets.evidence.locating import anchor_words, first_words, locate, suggest_query
from rag_assets.judging import PassageText, Scorer, Sign, name_context
from rag_assets.judging import ReasonCode as JudgedReason
from rag_assets.judging import Status as JudgedStatus
from rag_assets.model import PageBox, describe_standing, standing_of_title
from rag_assets.retrieval.finding import EvidenceWindow
from rag_assets.retrieval.statutes import dropped_limit, misplaced_lead

# What is shown of a cited document for a claim: the windows that decide it, and their places.


@dataclass(frozen=True, slots=True)
class PassagePart:
    """A passage of a document, or the part of it that an article fills, as the finder reads it.

    Args:
        passage: index of the passage; `offset` where the part begins in it.
    """

    text: str
    char_start: int | None
    char_end: int | None
    section_path: tuple[str, ...]
    passage: int
    offset: int
    context: str = ""


@dataclass(frozen=True, slots=True)
class ShownWindow:
    """A window as it was judged, to be kept and printed.

    Args:
        text: verbatim; rows and items on lines of their own.
        share: how likely it decides, beside the rest of the document; no probability of support.
        parts: where it stands: (index of the passage, start, end in it), half-open.
    """

    text: str
    share: float
    parts: tuple[tuple[int, int, int], ...]


def read_parts(
    document: CitedDocument, spans: Mapping[int, tuple[int, int]] | None = None
) -> tuple[PassagePart, ...]:
    """Return the passages of a document, or the spans of some of them, in order."""
    chosen = spans or {i: (0, len(p.text)) for i, p in enumerate(document.passages)}
    parts = []
    for index, (start, end) in sorted(chosen.items()):
        passage = document.passages[index]
        begin = passage.char_start
        parts.append(
            PassagePart(
                passage.text[start:end],
                None if begin is None else begin + start,
                None if begin is None else begin + end,
                passage.section_path,
                index,
                start,
                passage.context,
            )
        )
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class Shown:
    """A window of a document with what a scorer needs of it."""

    window: EvidenceWindow
    parts: tuple[PassagePart, ...]

    def as_passage(self, title: str | None) -> PassageText:
        """Return the window as scorers read it, sentence by sentence."""
        first = self.parts[self.window.sentences[0].parts[0][0]]
        context = name_context(title, first.section_path)
        found = self.window
        rows = tuple(sentence.row for sentence in found.sentences)
        return PassageText(found.text, found.spans, context, found.shares, found.leads, rows)

    def row_of(self, span: tuple[int, int]) -> str:
        """Return a row of values as it is shown, "" where the span is none."""
        spans = zip(self.window.sentences, self.window.spans, strict=True)
        return next((sentence.row for sentence, own in spans if own == span), "")

    def place_of(self, span: tuple[int, int]) -> tuple[int, int, int]:
        """Return where a sentence of the window stands: passage, start, end in it.

        Of a sentence over two passages the longer part.
        """
        touched = [
            part
            for sentence, (start, end) in zip(self.window.sentences, self.window.spans, strict=True)
            if start < span[1] and span[0] < end
            for part in sentence.parts
        ]
        longest = max(touched, key=lambda part: part[2] - part[1])
        same = [part for part in touched if part[0] == longest[0]]
        whole = self.parts[longest[0]]
        start, end = min(part[1] for part in same), max(part[2] for part in same)
        return whole.passage, whole.offset + start, whole.offset + end

    def kept(self) -> ShownWindow:
        """Return the window as it is kept."""
        places = (
            (part.passage, part.offset + start, part.offset + end)
            for index, start, end in self.window.parts
            for part in [self.parts[index]]
        )
        return ShownWindow(self.window.text, self.window.share, tuple(places))


# What was found out about one claim and one document, apart from where the claim stands.

PlaceFound = Literal["as_named", "elsewhere", "unchecked"]
"""How the place that a citation names compares with where support was found: there, on another
page, or it cannot be checked (no pages, a page that the file does not have, a chapter)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement that can be kept: it holds neither uid nor place in a draft.

    Args:
        passage: index of the best passage among those of the document.
        start: of its best sentence in the passage; `end` exclusive.
        boxes: around the printed lines of that sentence.
        note: what could not be looked at as it should.
        place: None where the citation names none.
        quotations: of the sentence, compared with the document.
        shown: the windows of the document that were judged, best first.
        row: the best sentence as it is shown, where it is a row of values.
    """

    score: float
    status: JudgedStatus
    reason_code: JudgedReason
    reason: str
    passage: int
    start: int
    end: int
    speaks_for: tuple[Sign, ...] = ()
    speaks_against: tuple[Sign, ...] = ()
    boxes: tuple[PageBox, ...] = ()
    note: str | None = None
    place: PlaceFound | None = None
    quotations: tuple[QuotationCheck, ...] = ()
    shown: tuple[ShownWindow, ...] = ()
    row: str = ""


_WORDS_SHOWN = 12
_CHARACTERS_SHOWN = 30  # of Chinese, where each counts as a word
_CHANGES_SHOWN = 4
_ELSEWHERE = (
    "Supported on {found}, but not where the citation says ({named}). Correct the page; pages are "
    "counted from the first of the file. "
)
_NEAREST_ELSEWHERE = "What comes nearest is on {found}, not where the citation says ({named}). "
_OTHER_ARTICLE = "Supported by {found}, but the citation says {named}. Correct the article. "
_UNMENTIONED = "The passage does not speak of {}: check there yourself. "
_NEAREST_IN_ARTICLE = "What comes nearest is {found}, not {named}, which the citation says. "
_OTHER_LEAD = "What it says is below “{}”, not below “{}”. Correct it."
_DROPPED = "It leaves out what limits the article: “{}” Say so, or quote the whole sentence."
_RETRACTED = "The source says it, but it is marked as retracted."
# What `cut_to_article` leaves of the items between a list's first words and the one that is cited.
_GAP = re.compile(r"\n{3,}")
_TRANSLATED = (
    "The quotation “{}” is not in the language of the source, so that it could not be compared "
    "word for word."
)
# The scorer's own reason would say of the whole sentence that it is supported.
_APART_FROM_IT = "Apart from the quotation, the sentence is supported."
_REST_UNREAD = (
    "Nobody has read whether the source supports your sentence as a whole: read the passage "
    "yourself."
)
_LOST = (
    "The quotation “{}” is nowhere in the document. Quote what is printed, or remove the quotation "
    "marks."
)


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence, one of its citations and the document that it means.

    Args:
        number: row of the audit, from 1.
    """

    number: int
    sentence: CitedSentence
    citation: Citation
    target: CitedDocumentRef | FaultyCitation

    @property
    def claim(self) -> str:
        """What the citation is to support: the clause before it, or the whole sentence."""
        return self.citation.claim or self.sentence.claim


@dataclass(frozen=True, slots=True)
class Subject:
    """The document of a case, as it was judged.

    Args:
        digest: that of `digest_document`.
    """

    document: CitedDocument
    digest: str


def decide(
    case: Case,
    scorer: Scorer,
    subject: Subject | None,
    judged: Judged | None,
    quoted_elsewhere: Collection[str],
) -> CitationVerdict:
    """Return the verdict for `case`.

    Args:
        case: what is asked.
        scorer: of the cited namespace.
        subject: None where the citation is faulty.
        judged: None where the document has no passage or the sentence no words.
        quoted_elsewhere: quotations that another document cited by the sentence prints as quoted.
    """
    if isinstance(case.target, FaultyCitation):
        fault = case.target
        return _bare(case, scorer, None, "ERROR", fault.code, fault.reason, fault.nearest)
    if not case.claim:
        return _bare(
            case, scorer, subject, "MISSING", "no_claim",
            "The citation has no sentence before it. Put it behind the sentence that it supports.",
        )  # fmt: skip
    if subject is None or judged is None:
        return _bare(
            case, scorer, subject, "MISSING", "no_passages",
            f"`{case.target.doc_uid}` has no text that could be searched. `rag documents` says "
            "how its parse went.",
        )  # fmt: skip
    return _judged_verdict(case, scorer, subject, judged, quoted_elsewhere)


def _bare(
    case: Case,
    scorer: Scorer,
    subject: Subject | None,
    status: Status,
    code: ReasonCode,
    reason: str,
    nearest: tuple[str, ...] = (),
) -> CitationVerdict:
    is_missing = status == "MISSING"
    target = None if isinstance(case.target, FaultyCitation) else case.target
    hint = case.citation.hint
    return CitationVerdict(
        number=case.number,
        line=case.sentence.line,
        sentence_start=case.sentence.start,
        sentence_end=case.sentence.end,
        sentence=case.sentence.text,
        claim=case.claim,
        cites=case.citation.label,
        hint=hint.text if hint else None,
        namespace=target.namespace if target else case.citation.namespace,
        doc_uid=target.doc_uid if target else case.citation.doc_uid,
        title=target.title if target else None,
        status=status,
        reason_code=code,
        reason=reason,
        score=0.0 if is_missing else None,
        scored_by=None,
        scorer_fingerprint=None,
        scoring_note=None,
        threshold=scorer.thresholds.ok,
        threshold_origin=scorer.thresholds.ok_origin,
        weak_threshold=scorer.thresholds.weak,
        weak_threshold_origin=scorer.thresholds.weak_origin,
        content_version=(subject.document.content_version or None) if subject else None,
        text_digest=subject.digest if subject else None,
        suggested_query=(suggest_query(case.claim) or None) if is_missing else None,
        nearest_uids=nearest,
        paired=(target.pairing or None) if target else None,
        file=case.sentence.file,
        is_clause=bool(case.citation.claim),
    )


def _judged_verdict(
    case: Case, scorer: Scorer, subject: Subject, judged: Judged, quoted_elsewhere: Collection[str]
) -> CitationVerdict:
    checks = [c for c in judged.quotations if c.state == "exact" or c.text not in quoted_elsewhere]
    is_exact = bool(checks) and all(check.state == "exact" for check in checks)
    labels = subject.document.page_labels
    if is_exact and scorer.name == "facts" and judged.reason_code == "unread":
        judged = replace(judged, reason=f"{_show_exact(checks, labels)} {_REST_UNREAD}")
    status, code, reason = _with_place(case, subject.document, judged)
    status, code, reason = _with_quotations(checks, labels, status, code, reason)
    status, code, reason = _with_law(case, subject.document, judged, (status, code, reason))
    if status == "OK" and standing_of_title(subject.document.title) == "retracted":
        status, code, reason = "WEAK", "weakly_supported", f"{_RETRACTED} {reason}"
    verdict = replace(
        _bare(case, scorer, subject, status, code, reason),
        score=judged.score,
        scored_by=scorer.name,
        scorer_fingerprint=scorer.fingerprint,
        scoring_note=_note(case, subject, judged),
        speaks_for=(*judged.speaks_for, *_quotation_signs(checks, labels, {"exact"})),
        speaks_against=(
            *judged.speaks_against, *_quotation_signs(checks, labels, {"altered", "not_found"}),
        ),
        quotations=judged.quotations,
        suggested_query=None if status == "OK" else suggest_query(case.claim) or None,
    )  # fmt: skip
    verdict = replace(verdict, passages=tuple(_shown(subject.document, judged)))
    passage = subject.document.passages[judged.passage]
    quote = passage.text[judged.start : judged.end]
    begin = passage.char_start
    start, end = (None, None) if begin is None else (begin + judged.start, begin + judged.end)
    # Rectangles on its page, else its page, else its characters; without any it cannot be cited.
    pages: list[int | None] = [*sorted(box.page for box in judged.boxes)]
    pages = pages or [passage.page_start, passage.page_end]
    locator = locate(
        pages[0], pages[-1], start, end, passage.section_path, has_boxes=bool(judged.boxes),
        labels=subject.document.page_labels,
    )  # fmt: skip
    if locator is None:
        return _bare(
            case, scorer, subject, "ERROR", "no_locator",
            f"`{passage.chunk_id}` has neither page nor characters, so that nobody could look it "
            "up. Run `rag ingest` to read the file again.",
        )  # fmt: skip
    article = _shown_article(case, subject.document, judged)
    where = f"{article}, {locator.text}" if article is not None else locator.text
    first, last = anchor_words(quote)
    return replace(
        verdict,
        chunk_id=passage.chunk_id,
        parent_id=passage.parent_id,
        passage=_GAP.sub("\n\n", passage.text) if _cited_article(case) else passage.text,
        quote=quote,
        quote_start=start,
        quote_end=end,
        row=judged.row or None,
        locator=where,
        locator_quality=locator.quality,
        boxes=judged.boxes,
        anchor_begin=first,
        anchor_end=last,
        section_path=passage.section_path,
        content_hash=passage.content_hash,
        citation_id=passage.citation_id,
    )


def _shown_article(case: Case, document: CitedDocument, judged: Judged) -> str | None:
    cited = _cited_article(case)
    if cited is not None:
        return cited.shown
    return show_article(document, judged.passage, judged.start)


def _cited_article(case: Case) -> CitedArticle | None:
    return case.target.article if isinstance(case.target, CitedDocumentRef) else None


def _shown(document: CitedDocument, judged: Judged) -> Iterator[ShownPassage]:
    for window in judged.shown:
        index, start, end = max(window.parts, key=lambda part: part[2] - part[1])
        passage = document.passages[index]
        begin = passage.char_start
        found = locate(
            passage.page_start,
            passage.page_end,
            None if begin is None else begin + start,
            None if begin is None else begin + end,
            passage.section_path,
            labels=document.page_labels,
        )
        chunks = dict.fromkeys(document.passages[part[0]].chunk_id for part in window.parts)
        yield ShownPassage(window.text, found.text if found else None, tuple(chunks))


def _with_place(
    case: Case, document: CitedDocument, judged: Judged
) -> tuple[Status, ReasonCode, str]:
    cited = _cited_article(case)
    if judged.status == "OK" and not read_articles(document):
        # A paragraph of an article does not say its number, but is known to be of it.
        known = cited.shown if cited is not None else ""
        text = document.passages[judged.passage].text
        unmentioned = find_unmentioned(case.claim, f"{known}\n{text}")
        if unmentioned is not None:
            return "WEAK", "wrong_article", _UNMENTIONED.format(unmentioned) + judged.reason
    article = named_article(case, document) if judged.status != "MISSING" else None
    if article is not None:
        return _with_article(document, judged, article)
    if judged.place != "elsewhere" or judged.status == "MISSING":
        return judged.status, judged.reason_code, judged.reason
    hint = case.citation.hint
    if hint is None:
        raise AssertionError("nothing is elsewhere where no place is named")
    passage = document.passages[judged.passage]
    first = passage.page_start or 0
    pages = sorted({box.page for box in judged.boxes}) or [first, passage.page_end or first]
    if hint.names_page(pages[0], pages[-1], document.page_labels):
        # On the page that is named, another sentence than that which was found first.
        return judged.status, judged.reason_code, judged.reason
    place = locate(pages[0], pages[-1], None, None, (), labels=document.page_labels)
    found = place.text if place is not None else ""
    if judged.status == "WEAK":
        reason = _NEAREST_ELSEWHERE.format(found=found, named=hint.text) + judged.reason
        return "WEAK", judged.reason_code, reason
    return "WEAK", "wrong_page", _ELSEWHERE.format(found=found, named=hint.text) + judged.reason


def named_article(case: Case, document: CitedDocument) -> NamedArticle | None:
    """Return the article that a citation names, behind its key or in its sentence; None where the
    document is no statute, or pages are named.
    """
    hint = case.citation.hint
    if (hint is not None and hint.pages) or not read_articles(document):
        return None
    named = find_article(hint.text) if hint is not None else None
    return named or find_article(case.claim, document.title)


def _with_article(
    document: CitedDocument, judged: Judged, named: NamedArticle
) -> tuple[Status, ReasonCode, str]:
    part = read_articles(document).at(judged.passage, judged.start)
    found = show_article(document, judged.passage, judged.start) or "another place"
    if part is not None and part.key == named.key:
        clause = clause_at(document, part.key, judged.passage, judged.start)
        if not named.is_missed_by(clause):
            # With its neighbours in the passage the article says more than alone.
            return judged.status, judged.reason_code, judged.reason
    if judged.status == "WEAK":
        reason = _NEAREST_IN_ARTICLE.format(found=found, named=named.shown) + judged.reason
        return "WEAK", judged.reason_code, reason
    reason = _OTHER_ARTICLE.format(found=found, named=named.shown) + judged.reason
    return "WEAK", "wrong_article", reason


def _note(case: Case, subject: Subject, judged: Judged) -> str | None:
    document = subject.document
    cited = _cited_article(case)
    notes = [note for note in (judged.note, cited.mark if cited else "") if note]
    standing = describe_standing(document.title)
    if standing:
        notes.append(standing)
    hint = case.citation.hint
    if hint is not None and judged.place == "unchecked":
        why = "names no page" if not hint.pages else "is not among the pages of the file"
        if hint.pages and not document.pages:
            why = "cannot be looked up, since the file has no pages"
        notes.append(f"The place that the citation names ({hint.text}) {why}: all was searched.")
    notes.extend(
        _TRANSLATED.format(_beginning(check.text))
        for check in judged.quotations
        if check.state == "other_language"
    )
    return " ".join(notes) or None


def _with_quotations(
    checks: Sequence[QuotationCheck],
    labels: Sequence[str],
    status: Status,
    code: ReasonCode,
    reason: str,
) -> tuple[Status, ReasonCode, str]:
    """Return the verdict after its quotations: invented or altered in meaning, it is MISSING;
    altered otherwise, at best WEAK.
    """
    lost = [check for check in checks if check.state == "not_found"]
    altered = [check for check in checks if check.state == "altered"]
    if not lost and not altered:
        return status, code, reason
    sentence = _sentence_about((lost or altered)[0], labels)
    if status == "MISSING":
        return status, code, f"{reason} {sentence}"
    rest = _APART_FROM_IT if status == "OK" else reason
    if lost:
        return "MISSING", "quote_not_found", f"{sentence} {rest}"
    grave = [check for check in altered if check.changes_meaning]
    if grave:
        return "MISSING", "misquoted", f"{_sentence_about(grave[0], labels)} {rest}"
    return "WEAK", "misquoted", f"{sentence} {rest}"


def _with_law(
    case: Case, document: CitedDocument, judged: Judged, found: tuple[Status, ReasonCode, str]
) -> tuple[Status, ReasonCode, str]:
    """Return the verdict on a statute after what limits its words: at best WEAK where the sentence
    leaves that out, or the law is repealed.
    """
    status, code, reason = found
    if status == "MISSING":
        return found
    faults = list(_law_faults(case, document, judged))
    if not faults:
        return found
    told = " ".join(fault for _, fault in faults)
    kept = code if code not in {"supported", "weakly_supported", "unread"} else faults[0][0]
    rest = "" if status == "OK" or code == "unread" else f" {reason}"
    return "WEAK", kept, f"{told}{rest}"


def _law_faults(
    case: Case, document: CitedDocument, judged: Judged
) -> Iterator[tuple[ReasonCode, str]]:
    passage = document.passages[judged.passage].text
    cited = _cited_article(case)
    part = read_articles(document).at(judged.passage, judged.start)
    if cited is not None or part is not None:
        article = passage[part.start : part.end] if part is not None else passage
        leads = misplaced_lead(cited.whole if cited is not None else article, case.claim)
        if leads is not None:
            yield "wrong_article", _OTHER_LEAD.format(*leads)
        left = dropped_limit(passage, judged.start, judged.end, case.claim)
        if left is not None:
            yield "drops_exception", _DROPPED.format(left)
    if isinstance(case.target, CitedDocumentRef) and case.target.repeal:
        yield "not_in_force", f"The law is {case.target.repeal}."


def _shown_page(check: QuotationCheck, labels: Sequence[str]) -> str:
    place = locate(check.page, check.page, None, None, (), labels=labels)
    return place.text if place is not None else ""


def _sentence_about(check: QuotationCheck, labels: Sequence[str]) -> str:
    shown = _beginning(check.text)
    if check.state == "not_found":
        return _LOST.format(shown)
    changes = "; ".join(
        _show_change(before, after) for before, after in check.changes[:_CHANGES_SHOWN]
    )
    more = len(check.changes) - _CHANGES_SHOWN
    changes += f"; and {more} more" if more > 0 else ""
    page = f" ({_shown_page(check, labels)})" if check.page else ""
    return f"The quotation “{shown}” is not what is printed{page}: {changes}."


def _show_exact(checks: Sequence[QuotationCheck], labels: Sequence[str]) -> str:
    pages = ", ".join(dict.fromkeys(_shown_page(check, labels) for check in checks if check.page))
    noun = "quotation is" if len(checks) == 1 else "quotations are"
    return f"The {noun} exact{f' ({pages})' if pages else ''}."


def _beginning(quotation: str) -> str:
    text = " ".join(quotation.split())
    limit = _WORDS_SHOWN if text.isascii() else _CHARACTERS_SHOWN
    shown = first_words(text, limit)
    return shown if shown == text else f"{shown.rstrip(' ,;，；、')}…"


def _show_change(before: str, after: str) -> str:
    if before == OMISSION and after != REORDERED:
        return f"“{OMISSION}” leaves out “{after}”"
    if not before:
        return f"“{after}” is left out"
    if not after:
        return f"“{before}” is not there"
    return f"“{before}” for “{after}”"


def _quotation_signs(
    checks: Sequence[QuotationCheck], labels: Sequence[str], states: Collection[str]
) -> tuple[Sign, ...]:
    return tuple(
        Sign("quotation", check.text, check.source or "", _sign_text(check, labels))
        for check in checks
        if check.state in states
    )


def _sign_text(check: QuotationCheck, labels: Sequence[str]) -> str:
    if check.state != "exact":
        return _sentence_about(check, labels)
    page = f" on {_shown_page(check, labels)}" if check.page else ""
    return f"The quotation stands word for word{page}."
