"""One verdict for one sentence and one document that it cites."""

from dataclasses import dataclass
from typing import Literal

from rag_assets.auditing.quoting import QuotationCheck
from rag_assets.evidence.locating import LocatorQuality
from rag_assets.judging import ScorerName, Sign
from rag_assets.model import PageBox

Status = Literal["OK", "WEAK", "MISSING", "ERROR"]
# The last two judged in earlier versions; their audits can still be read.
ScoredBy = Literal[ScorerName, "coverage", "nli"]
ReasonCode = Literal[
    "supported",
    "weakly_supported",
    "framed",
    "not_found",
    "contradicted",
    "facts_differ",
    "unread",
    "misquoted",
    "quote_not_found",
    "wrong_page",
    "wrong_article",
    "drops_exception",
    "not_in_force",
    "no_passages",
    "no_claim",
    "unknown_uid",
    "unknown_article",
    "removed",
    "ambiguous_uid",
    "not_citable",
    "withheld",
    "no_locator",
    "judged_supported",
    "judged_unsupported",
    "judged_needs_work",
]
# What a person may decide: the machine's verdict is right; the source supports the sentence, or
# does not; the sentence needs work; an earlier decision is taken back.
Decision = Literal["accepted", "supported", "unsupported", "needs_work", "withdrawn"]


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A short passage of the cited document that was judged.

    Args:
        text: verbatim; rows of a table with their header, items with what leads to them.
        locator: where its likeliest sentence stands; None where nobody could look it up.
        chunk_ids: of the passages that it is taken from, in order.
    """

    text: str
    locator: str | None
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PersonVerdict:
    """What a person has decided on a citation, and the machine's verdict that it overrides.

    Args:
        by: who; `at` when, ISO 8601.
        passage: another one of the source that the person chose, verbatim, at `locator`; None
            where the one that was shown counts.
        machine_status: what the machine says; `machine_reason_code` and `machine_reason` why.
    """

    decision: Decision
    by: str
    at: str
    comment: str
    passage: str | None
    locator: str | None
    machine_status: Status
    machine_reason_code: ReasonCode
    machine_reason: str


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """Whether a cited document supports a sentence, and what was looked at to say so.

    Args:
        number: row of the audit, from 1.
        line: of the draft, from 1; `sentence_start` and `sentence_end` are offsets in its text.
        sentence: as it stands; `claim` is what was judged, without anchors and marks: the
            sentence, or the clause of it that this citation follows.
        cites: the citation as written, `doc_uid`, `namespace:doc_uid` or a key.
        hint: the place in the document that it names, as written; None without.
        doc_uid: of the document that was found, else as written.
        status: OK, WEAK, MISSING or ERROR.
        reason_code: short stable word; `reason` is the sentence for a person.
        score: 0 to 1, six decimals; None where nothing could be compared (ERROR).
        scored_by: the scorer; None where nothing was compared. `scorer_fingerprint` is the SHA-256
            of all that decides its judgements.
        scoring_note: what could not be looked at as it should, and that a cited wording of a
            statute is not in force; None where nothing is to be said.
        threshold: from which a score is OK, with its origin; `weak_threshold` for WEAK.
        speaks_for: what a reader can check with his own eyes; `speaks_against` likewise.
        quotations: of the sentence, compared with this document word for word.
        passage: the best passage, whole and verbatim; None, with all that describes it, where
            there is none. `quote` is its best sentence, at [quote_start, quote_end) of the
            document's clean text.
        locator: as shown, `p. 3`; `locator_quality` says how exact it is.
        boxes: around the quote's printed lines, in points.
        anchor_begin: first words of the quote; `anchor_end` its last.
        content_hash: SHA-256 of the passage that was judged.
        citation_id: of the chunk; outlives edits elsewhere in the document.
        content_version: SHA-256 of the raw file that was judged; `text_digest` of its text, cuts
            and places, as `digest_document` counts them.
        passages: the short passages that were judged, best first; at most three where something
            reads them.
        suggested_query: content words of the claim, for WEAK and MISSING.
        nearest_uids: what may have been meant, for an unknown or ambiguous uid.
        is_clause: whether `claim` is a part of the sentence only.
        person: who has decided otherwise, or the same; `status` and `reason` are then theirs.
        outdated_judgement: a sentence on a person's judgement that does not hold any more.
    """

    number: int
    line: int
    sentence_start: int
    sentence_end: int
    sentence: str
    claim: str
    cites: str
    hint: str | None
    namespace: str | None
    doc_uid: str
    title: str | None
    status: Status
    reason_code: ReasonCode
    reason: str
    score: float | None
    scored_by: ScoredBy | None
    scorer_fingerprint: str | None
    scoring_note: str | None
    threshold: float
    threshold_origin: str
    weak_threshold: float
    weak_threshold_origin: str
    speaks_for: tuple[Sign, ...] = ()
    speaks_against: tuple[Sign, ...] = ()
    quotations: tuple[QuotationCheck, ...] = ()
    chunk_id: str | None = None
    parent_id: str | None = None
    passage: str | None = None
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
    locator: str | None = None
    locator_quality: LocatorQuality | None = None
    boxes: tuple[PageBox, ...] = ()
    anchor_begin: str | None = None
    anchor_end: str | None = None
    section_path: tuple[str, ...] = ()
    content_hash: str | None = None
    citation_id: str | None = None
    content_version: str | None = None
    text_digest: str | None = None
    passages: tuple[ShownPassage, ...] = ()
    suggested_query: str | None = None
    nearest_uids: tuple[str, ...] = ()
    is_clause: bool = False
    person: PersonVerdict | None = None
    outdated_judgement: str | None = None
