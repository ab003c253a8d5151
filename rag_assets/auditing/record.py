"""A citation audit as a value."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar, get_args

from rag_assets.auditing.audit import plain
from rag_assets.auditing.ordering import urgency
from rag_assets.auditing.verdict import CitationVerdict, Status
from rag_assets.model import hash_fields

# Part of every audit's identity: raise it when the same inputs may be judged otherwise.
VERIFICATION_VERSION = 7


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A document that the draft's list of sources cites; no claim rests on it there.

    Args:
        line: of the draft, from 1.
    """

    line: int
    namespace: str
    doc_uid: str
    title: str | None


@dataclass(frozen=True, slots=True)
class CitationAudit:
    """All verdicts of one draft. Holds everything it judged; needs no publication to be read.

    Args:
        draft_name: its file's name; `draft_digest` the SHA-256 of its bytes.
        audit_id: of the draft and its verdicts; a publication that changes neither keeps it.
        publications: consulted, by namespace, sorted; `encoders` the fingerprints of their
            embedding models.
        k: how many passages of each cited document were looked at closely.
        threshold: from which a score is OK; `weak_threshold` WEAK; each with its origin.
        rows: one for each sentence and document cited in it, in the order of the draft.
        warnings: sentences a person can act on.
        listed: the documents of its list of sources, in its order; what is wrong with a citation
            there is a row.
        as_of: the day, ISO 8601, on which the wordings of the cited statutes have to hold; None
            where no citation depends on a day.
        judged_now: how many judgements were made for it; the others were kept from before. Not
            stored: it says how the audit came to be, not what it found.
    """

    draft_name: str
    draft_digest: str
    audit_id: str
    publications: Mapping[str, str]
    encoders: Mapping[str, str]
    scorer: str
    k: int
    threshold: float
    threshold_origin: str
    weak_threshold: float
    weak_threshold_origin: str
    rows: tuple[CitationVerdict, ...]
    warnings: tuple[str, ...]
    listed: tuple[ListedSource, ...] = ()
    as_of: str | None = None
    judged_now: int = field(default=0, compare=False)

    schema: ClassVar[str] = "rag-assets/citation-audit/6"
    command: ClassVar[str] = "rag verify-citations"
    title: ClassVar[str] = "Citation audit"
    about: ClassVar[str] = "A verdict on every citation of a draft, with what was looked at."

    @property
    def counts(self) -> dict[Status, int]:
        """Return how many rows have each status, all four named."""
        found = Counter(row.status for row in self.rows)
        statuses: tuple[Status, ...] = get_args(Status)
        return {status: found[status] for status in statuses}

    @property
    def by_urgency(self) -> list[CitationVerdict]:
        """Return the rows as they are shown: what needs eyes first."""
        return sorted(self.rows, key=urgency)

    @property
    def errors(self) -> tuple[str, ...]:
        """Return why citations cannot be judged at all (exit code 3)."""
        return tuple(row.reason for row in self.rows if row.status == "ERROR")

    @property
    def sources_used(self) -> tuple[str, ...]:
        """Return the documents that were judged or listed, as `namespace:doc_uid`, sorted."""
        judged = {f"{row.namespace}:{row.doc_uid}" for row in self.rows if row.status != "ERROR"}
        return tuple(sorted(judged | {f"{one.namespace}:{one.doc_uid}" for one in self.listed}))


def identify_audit(
    draft_digest: str,
    scorer: str,
    k: int,
    rows: Sequence[CitationVerdict],
    listed: Sequence[ListedSource] = (),
) -> str:
    """Return the audit's id: SHA-256 of the draft and what was found, and of no clock."""
    found = [plain(asdict(row)) for row in rows]
    return hash_fields(
        VERIFICATION_VERSION,
        draft_digest,
        scorer,
        k,
        found,
        [asdict(each) for each in listed],
    )
