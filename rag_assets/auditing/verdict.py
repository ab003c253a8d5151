"""One verdict for one sentence and one document that it cites."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from rag_assets.auditing.anchors import Citation
from rag_assets.auditing.draft import CitedSentence
from rag_assets.auditing.library import CitedDocument, CitedDocumentRef, FaultyCitation, Passage
from rag_assets.auditing.locating import Quote, locate_quote
from rag_assets.evidence.locating import LocatorQuality, anchor_words
from rag_assets.evidence.wording import suggest_query

Status = Literal["OK", "WEAK", "MISSING", "ERROR"]
ScoredBy = Literal["similarity", "coverage"]
ReasonCode = Literal[
    "supported",
    "weakly_supported",
    "not_found",
    "no_passages",
    "no_claim",
    "unknown_uid",
    "ambiguous_uid",
    "not_citable",
    "withheld",
    "no_locator",
    "damaged_vectors",
    "model_mismatch",
]

# Scores are compared and shown as stored: the last bits of a vector depend on its batch.
SCORE_DECIMALS = 6

_SPEC_THRESHOLD = 0.55  # spec 000 §4.8: "threshold T=0.55 (config default)"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which score a citation is OK (`ok`) and WEAK (`weak`), and who said so."""

    ok: float
    weak: float
    ok_origin: str
    weak_origin: str


def thresholds_from(threshold: float, weak_threshold: float) -> Thresholds:
    """Return the thresholds with their origin: the specification's figure or a setting."""
    is_spec = math.isclose(threshold, _SPEC_THRESHOLD)
    return Thresholds(
        threshold,
        weak_threshold,
        "spec 000 default" if is_spec else "setting verify.threshold",
        "setting verify.weak_threshold",
    )


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """Whether a cited document supports a sentence, and what was looked at to say so.

    Args:
        number: row of the audit, from 1.
        line: of the draft, from 1; `sentence_start` and `sentence_end` are offsets in its text.
        sentence: as it stands; `claim` is it without anchors and marks.
        cites: the citation as written, `doc_uid` or `namespace:doc_uid`.
        status: OK, WEAK, MISSING or ERROR.
        reason_code: short stable word; `reason` is the sentence for a person.
        score: at most 1, six decimals; None where nothing could be compared (ERROR).
        scored_by: `similarity` of meaning (cosine) or `coverage` (share of words in common);
            None where nothing was compared.
        scoring_note: why meaning was not, or not everywhere, compared; None where it was.
        threshold: from which a score is OK, with its origin; `weak_threshold` for WEAK.
        passage: the best passage, whole and verbatim; None, with all that describes it, where
            there is none. `quote` is its best sentence, at [quote_start, quote_end) of the
            document's clean text.
        locator: as shown, `p. 3`; `locator_quality` says how exact it is.
        anchor_begin: first words of the quote; `anchor_end` its last.
        content_hash: SHA-256 of the passage that was judged.
        citation_id: of the chunk; outlives edits elsewhere in the document.
        suggested_query: content words of the claim, for WEAK and MISSING.
        nearest_uids: what may have been meant, for an unknown or ambiguous uid.
    """

    number: int
    line: int
    sentence_start: int
    sentence_end: int
    sentence: str
    claim: str
    cites: str
    namespace: str | None
    doc_uid: str
    title: str | None
    status: Status
    reason_code: ReasonCode
    reason: str
    score: float | None
    scored_by: ScoredBy | None
    scoring_note: str | None
    threshold: float
    threshold_origin: str
    weak_threshold: float
    weak_threshold_origin: str
    chunk_id: str | None = None
    parent_id: str | None = None
    passage: str | None = None
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
    locator: str | None = None
    locator_quality: LocatorQuality | None = None
    anchor_begin: str | None = None
    anchor_end: str | None = None
    section_path: tuple[str, ...] = ()
    content_hash: str | None = None
    citation_id: str | None = None
    suggested_query: str | None = None
    nearest_uids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """The best passage that was found for a claim, or none, and how it scored."""

    score: float
    scored_by: ScoredBy
    passage: Passage
    quote: Quote
    scoring_note: str | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a document that exists cannot be compared."""

    code: Literal["damaged_vectors", "model_mismatch"]
    reason: str


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
    thresholds: Thresholds


def judge(
    case: Case, document: CitedDocument | None, finding: Finding | Trouble | None
) -> CitationVerdict:
    """Return the verdict for `case`.

    Args:
        case: what is asked.
        document: None where the citation is faulty.
        finding: None where the document has no passage or the sentence no words.
    """
    if isinstance(case.target, FaultyCitation):
        fault = case.target
        return _without_passage(case, "ERROR", fault.code, fault.reason, nearest=fault.nearest)
    uid = case.target.doc_uid
    if isinstance(finding, Trouble):
        return _without_passage(case, "ERROR", finding.code, finding.reason)
    if not case.sentence.claim:
        return _without_passage(
            case,
            "MISSING",
            "no_claim",
            "The anchor stands alone: there is no sentence that it could support. Put it behind "
            "the sentence that it belongs to.",
        )
    if document is None or not document.passages or finding is None:
        return _without_passage(
            case,
            "MISSING",
            "no_passages",
            f"`{uid}` has no text that could be searched. `rag documents` says how its parse went.",
        )
    return _with_passage(case, finding)


def _without_passage(
    case: Case,
    status: Status,
    code: ReasonCode,
    reason: str,
    nearest: tuple[str, ...] = (),
) -> CitationVerdict:
    is_missing = status == "MISSING"
    target = None if isinstance(case.target, FaultyCitation) else case.target
    return CitationVerdict(
        number=case.number,
        line=case.sentence.line,
        sentence_start=case.sentence.start,
        sentence_end=case.sentence.end,
        sentence=case.sentence.text,
        claim=case.sentence.claim,
        cites=case.citation.label,
        namespace=target.namespace if target else case.citation.namespace,
        doc_uid=case.citation.doc_uid,
        title=target.title if target else None,
        status=status,
        reason_code=code,
        reason=reason,
        score=0.0 if is_missing else None,
        scored_by=None,
        scoring_note=None,
        threshold=case.thresholds.ok,
        threshold_origin=case.thresholds.ok_origin,
        weak_threshold=case.thresholds.weak,
        weak_threshold_origin=case.thresholds.weak_origin,
        suggested_query=(suggest_query(case.sentence.claim) or None) if is_missing else None,
        nearest_uids=nearest,
    )


def _with_passage(case: Case, finding: Finding) -> CitationVerdict:
    passage, quote = finding.passage, finding.quote
    status, code, reason = _decide(case, finding)
    verdict = replace(
        _without_passage(case, status, code, reason),
        score=finding.score,
        scored_by=finding.scored_by,
        scoring_note=finding.scoring_note,
        suggested_query=None if status == "OK" else suggest_query(case.sentence.claim) or None,
    )
    if finding.scored_by == "coverage" and finding.score == 0:
        # Where no word is shared the "best" passage would be the first one, and mislead.
        return verdict
    locator = locate_quote(passage, quote)
    if locator is None:
        return _without_passage(
            case,
            "ERROR",
            "no_locator",
            f"The best passage, `{passage.chunk_id}`, knows neither its page nor its characters, "
            "so nobody could look it up. Build the index again with `rag index`.",
        )
    begin, end = anchor_words(quote.text)
    return replace(
        verdict,
        chunk_id=passage.chunk_id,
        parent_id=passage.parent_id,
        passage=passage.text,
        quote=quote.text,
        quote_start=quote.start,
        quote_end=quote.end,
        locator=locator.text,
        locator_quality=locator.quality,
        anchor_begin=begin,
        anchor_end=end,
        section_path=passage.section_path,
        content_hash=passage.content_hash,
        citation_id=passage.citation_id,
    )


def _decide(case: Case, finding: Finding) -> tuple[Status, ReasonCode, str]:
    score, limits = finding.score, case.thresholds
    uid = f"`{case.citation.doc_uid}`"
    if finding.scored_by == "similarity":
        found, needed = f"similarity {score:.2f}", f"{limits.ok:.2f}"
        least = f"{limits.weak:.2f}"
        ok = "Close in meaning to the passage"
        weak = "Related to the passage, but not close"
        missing = f"Nothing in {uid} comes close"
    else:
        found, needed = f"{score:.0%} of its content words", f"{limits.ok:.0%}"
        least = f"{limits.weak:.0%}"
        ok = "Shares its words with the passage"
        weak = "Shares only some of its words with the passage"
        missing = f"Nothing in {uid} shares enough of its words"
    if score >= limits.ok:
        return "OK", "supported", f"{ok} ({found}; OK from {needed})."
    if score >= limits.weak:
        return (
            "WEAK",
            "weakly_supported",
            f"{weak} ({found}; OK from {needed}). Cite a better passage, or say less.",
        )
    return (
        "MISSING",
        "not_found",
        f"{missing} ({found}; WEAK from {least}). Cite another source, or drop the claim.",
    )
