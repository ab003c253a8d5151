"""A claim audit as a value, and as JSON."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from rag_assets.auditing.claims.wording import AssertionType, Exemption
from rag_assets.auditing.record import NamedPairs
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.evidence.locating import LocatorQuality
from rag_assets.judging import ReasonCode, Sign
from rag_assets.judging import Status as Judged
from rag_assets.model import hash_fields

# Part of every audit's identity: raise it when the same inputs may come out otherwise.
CLAIM_AUDIT_VERSION = 2
SCHEMA = "rag-assets/claim-audit/1"

ClaimStatus = Literal[
    "CONTRADICTED", "UNSUPPORTED", "EVIDENCE_NEEDED", "DISPUTED", "WEAK", "ERROR", "SUPPORTED"
]
# How a citation belongs to an assertion: it stands in the sentence, in a footnote of the sentence,
# or at the end of its paragraph.
Linkage = Literal["sentence", "footnote", "paragraph"]
CounterMode = Literal["off", "soft", "strict"]
# What a passage that was found is to an assertion. `close` and `near` are said of likenesses,
# which tell no support.
Bearing = Literal["supports", "supports_in_part", "close", "near", "on_the_matter", "contradicts"]


@dataclass(frozen=True, slots=True)
class LinkedEvidence:
    """A citation of an assertion, with its verdict."""

    linkage: Linkage
    verdict: CitationVerdict


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that the index holds on an assertion, judged against it.

    Args:
        cite: how it would be cited here, `doc_uid` or `namespace:doc_uid`.
        text: the chunk, verbatim; `quote` is its best sentence, at [quote_start, quote_end) of
            `text`.
        judged: what the scorer makes of it, as of a citation; `bearing` what may be said of it.
    """

    cite: str
    namespace: str
    doc_uid: str
    title: str | None
    chunk_id: str
    parent_id: str
    citation_id: str
    content_hash: str
    locator: str
    locator_quality: LocatorQuality
    text: str
    quote: str
    quote_start: int
    quote_end: int
    bearing: Bearing
    judged: Judged
    reason_code: ReasonCode
    reason: str
    score: float
    speaks_for: tuple[Sign, ...] = ()
    speaks_against: tuple[Sign, ...] = ()


@dataclass(frozen=True, slots=True)
class SuggestedQuery:
    """A query for the index and what it found when it was run; nothing is said as nothing."""

    query: str
    found: tuple[FoundPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A strong assertion of the draft.

    Args:
        claim_id: of its words; the second sentence of the same words gets `-2`.
        line: of the draft, from 1; [start, end) in its text.
        section: the heading above it; empty before the first.
        sentence: as it stands; `claim_text` is it without citations and marks.
        claim_type: the primary of `claim_types`; `cue` the words that made it so, may be empty.
        linked_evidence: its citations with their verdicts.
        reason: a sentence for the writer.
        suggested_queries: for what is not supported.
        counterevidence: passages of documents that it does not cite and that speak against it;
            empty where they were not looked for.
    """

    claim_id: str
    line: int
    start: int
    end: int
    section: str
    sentence: str
    claim_text: str
    claim_type: AssertionType
    claim_types: tuple[AssertionType, ...]
    cue: str
    linked_evidence: tuple[LinkedEvidence, ...]
    status: ClaimStatus
    reason: str
    suggested_queries: tuple[SuggestedQuery, ...]
    counterevidence: tuple[FoundPassage, ...]


@dataclass(frozen=True, slots=True)
class ClaimAudit:
    """All strong assertions of one draft. Holds everything it looked at.

    Args:
        draft_digest: SHA-256 of the draft's bytes.
        sentences: how many the draft has, headings not counted.
        exempt: how many would have been strong assertions but for this; by reason.
        publications: (namespace, publication) asked, sorted.
        scorer: its name; `scorer_fingerprints` by namespace.
        sources_used: what the draft cites, as `namespace:doc_uid` with its title, sorted.
        warnings: sentences a person can act on.
        searched_now: how many assertions the index was asked for; the others were kept from
            before. Not stored. `judged_now` likewise counts judgements of citations.
    """

    draft_name: str
    draft_digest: str
    sentences: int
    exempt: tuple[tuple[Exemption, int], ...]
    publications: NamedPairs
    scorer: str
    scorer_fingerprints: NamedPairs
    counterevidence: CounterMode
    rows: tuple[ClaimRow, ...]
    sources_used: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    searched_now: int = field(default=0, compare=False)
    judged_now: int = field(default=0, compare=False)

    @property
    def counts(self) -> dict[ClaimStatus, int]:
        """Return how many assertions have each status, all of them named."""
        found = Counter(row.status for row in self.rows)
        statuses: tuple[ClaimStatus, ...] = get_args(ClaimStatus)
        return {status: found[status] for status in statuses}

    @property
    def has_errors(self) -> bool:
        """Say whether a citation of an assertion cannot be judged at all (exit code 3)."""
        return any(
            evidence.verdict.status == "ERROR"
            for row in self.rows
            for evidence in row.linked_evidence
        )

    @property
    def audit_id(self) -> str:
        """Return SHA-256 of the draft and what was found, and of no clock.

        Publications are not in it: a file that changes nothing here makes no new audit.
        """
        content = claims_to_json(self, "")
        kept = {k: v for k, v in content.items() if k not in {"audit_id", "publications"}}
        return hash_fields(CLAIM_AUDIT_VERSION, kept)


def claims_to_json(audit: ClaimAudit, audit_id: str | None = None) -> dict[str, Any]:
    """Return `audit` as values that JSON knows; docs/schemas/claim_audit.schema.json says which.

    Its keys are `schema`, `audit_id`, then the fields of ClaimAudit and `counts` (status → rows).
    """
    content = asdict(audit)
    for name in ("searched_now", "judged_now"):
        del content[name]
    content |= {
        "exempt": dict(audit.exempt),
        "publications": dict(audit.publications),
        "scorer_fingerprints": dict(audit.scorer_fingerprints),
        "sources_used": [{"cite": cite, "title": title} for cite, title in audit.sources_used],
        "counts": dict(audit.counts),
    }
    known = audit.audit_id if audit_id is None else audit_id
    return {
        "schema": SCHEMA,
        "audit_id": known,
        **{name: _plain(value) for name, value in content.items()},
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
