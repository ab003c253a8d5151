"""A claim audit as a value."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

from rag_assets.auditing.audit import audit_to_json
from rag_assets.auditing.claims.wording import AssertionType, Exemption
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.model import hash_fields

# Part of every audit's identity: raise it when the same inputs may come out otherwise.
CLAIM_AUDIT_VERSION = 5

ClaimStatus = Literal["DISPUTED", "EVIDENCE_NEEDED", "WEAK", "SUPPORTED"]
CounterMode = Literal["off", "soft", "strict"]


@dataclass(frozen=True, slots=True)
class LinkedEvidence:
    """A citation at the end of the assertion's paragraph, with its verdict.

    Args:
        linkage: how it belongs to the assertion; there is one way.
    """

    verdict: CitationVerdict
    linkage: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class SuggestedQuery:
    """A query for the index, and what it finds.

    Args:
        found: documents that could be cited, each judged as if the assertion cited it, best first;
            nothing is said as nothing.
    """

    query: str
    found: tuple[CitationVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A strong assertion of the draft that cites nothing itself.

    Args:
        claim_id: of its words; the second sentence of the same words gets `-2`.
        line: of the draft, from 1; [start, end) in its text.
        section: the heading above it; empty before the first.
        sentence: as it stands; `claim_text` is it without marks.
        claim_type: the primary of `claim_types`; `cue` the words that made it so, may be empty.
        linked_evidence: the citations at the end of its paragraph, with their verdicts.
        reason: a sentence or two for the writer.
        suggested_queries: for what is not supported.
        counterevidence: verdicts on other documents that say the opposite; empty where they were
            not looked for.
        urgency: its place in the order of showing: 0 contradicted, 1 facts differ, 2 nothing
            found, 3 partly, 4 unread, 5 supported.
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
    counterevidence: tuple[CitationVerdict, ...]
    urgency: int


@dataclass(frozen=True, slots=True)
class UsedSource:
    """A document that a draft cites, as `namespace:doc_uid`, and its title."""

    cite: str
    title: str


@dataclass(frozen=True, slots=True)
class ClaimAudit:
    """The strong assertions of one draft that cite nothing. Holds everything it looked at.

    Args:
        audit_id: of the draft and what was found (`identify_claims`).
        draft_digest: SHA-256 of the draft's bytes.
        sentences: how many the draft has, headings not counted.
        cited: how many strong assertions cite something themselves; `rag verify-citations` judges
            those.
        exempt: how many would have been strong assertions but for this; by reason.
        publications: asked, by namespace, sorted.
        scorer: its name; `scorer_fingerprints` by namespace.
        rows: in the order of the draft.
        sources_used: what the draft cites, sorted.
        warnings: sentences a person can act on.
        as_of: the day, ISO 8601, on which the wordings of the cited statutes have to hold; None
            where no citation depends on a day.
        searched_now: how many assertions the index was asked for; the others were kept from
            before. Not stored. `judged_now` likewise counts judgements.
    """

    audit_id: str
    draft_name: str
    draft_digest: str
    sentences: int
    cited: int
    exempt: Mapping[Exemption, int]
    publications: Mapping[str, str]
    scorer: str
    scorer_fingerprints: Mapping[str, str]
    counterevidence: CounterMode
    rows: tuple[ClaimRow, ...]
    sources_used: tuple[UsedSource, ...]
    warnings: tuple[str, ...]
    as_of: str | None = None
    searched_now: int = field(default=0, compare=False)
    judged_now: int = field(default=0, compare=False)

    schema: ClassVar[str] = "rag-assets/claim-audit/4"
    command: ClassVar[str] = "rag audit"
    title: ClassVar[str] = "Claim audit"
    about: ClassVar[str] = (
        "The strong assertions of a draft that cite nothing, and what speaks of them."
    )

    @property
    def counts(self) -> dict[ClaimStatus, int]:
        """Return how many assertions have each status, all of them named."""
        found = Counter(row.status for row in self.rows)
        statuses: tuple[ClaimStatus, ...] = get_args(ClaimStatus)
        return {status: found[status] for status in statuses}

    @property
    def by_urgency(self) -> list[ClaimRow]:
        """Return the rows as they are shown: what needs eyes first."""
        return sorted(self.rows, key=lambda row: row.urgency)

    @property
    def errors(self) -> tuple[str, ...]:
        """Return why citations at the ends of the assertions' paragraphs cannot be judged."""
        linked = (one.verdict for row in self.rows for one in row.linked_evidence)
        return tuple(one.reason for one in linked if one.status == "ERROR")


def identify_claims(audit: ClaimAudit) -> ClaimAudit:
    """Return an audit with its id: SHA-256 of the draft and what was found, and of no clock.

    Neither publications nor the day are in it: what changes nothing here makes no new audit.
    """
    content = audit_to_json(audit)
    kept = {k: v for k, v in content.items() if k not in {"audit_id", "publications", "as_of"}}
    return replace(audit, audit_id=hash_fields(CLAIM_AUDIT_VERSION, kept))
