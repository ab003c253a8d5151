"""Verdicts and citation audits as values, and audits as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, Protocol, TypeVar, get_args

from rag_assets.auditing.quoting import QuotationCheck
from rag_assets.evidence.locating import LocatorQuality
from rag_assets.judging import ScorerName, Sign
from rag_assets.model import PageBox, UsageError, hash_fields

# One verdict for one sentence and one document that it cites.

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
    "no_entry",
    "unsure_entry",
    "not_in_library",
    "no_locator",
    "judged_supported",
    "judged_unsupported",
    "judged_needs_work",
    "agent_supports",
    "agent_partly",
    "agent_contradicts",
    "agent_does_not_address",
]
# What a person may decide: the machine's verdict is right; the source supports the sentence, or
# does not; the sentence needs work; an earlier decision is taken back.
Decision = Literal["accepted", "supported", "unsupported", "needs_work", "withdrawn"]
# What an AI agent may record (`rag mcp`), always with a quotation that was found in the document.
AgentDecision = Literal[
    "agent_supports", "agent_partly", "agent_contradicts", "agent_does_not_address"
]  # fmt: skip


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
    """What a person or an AI agent has decided, and the machine's verdict that it overrides.

    Args:
        by: who, of an agent its program, version and model; `at` when, ISO 8601.
        passage: another one of the source that the person chose, verbatim, at `locator`; None
            where the one that was shown counts.
        machine_status: what the machine says; `machine_reason_code` and `machine_reason` why.
    """

    decision: Decision | AgentDecision
    by: str
    at: str
    comment: str
    passage: str | None
    locator: str | None
    machine_status: Status
    machine_reason_code: ReasonCode
    machine_reason: str

    @property
    def is_agent(self) -> bool:
        """Whether no person has decided it, but an AI agent."""
        return is_agent(self.decision)


def is_agent(decision: str) -> bool:
    """Say whether a decision is that of an AI agent."""
    return decision in get_args(AgentDecision)


# Codes of citations whose document the reference list of the draft has to name.
_OF_ENTRIES = frozenset({"no_entry", "unsure_entry", "not_in_library"})


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
            document's clean text. `row`: of a row of a table, the quote with the names of its
            columns, as it is shown.
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
        nearest_uids: what may have been meant, for an unknown or ambiguous uid, and for an entry
            of the reference list that is not paired.
        paired: the entry of the reference list that means the document, and why; None where the
            citation names the document itself.
        file: that `line` is of, where the draft includes others; empty for the draft itself.
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
    paired: str | None = None
    file: str = ""
    is_clause: bool = False
    person: PersonVerdict | None = None
    outdated_judgement: str | None = None
    row: str | None = None

    @property
    def shown_quote(self) -> str | None:
        """The quote as it is shown: a row of a table with the names of its columns."""
        return self.row or self.quote

    @property
    def shown_citation(self) -> str:
        """Return the citation as a draft has it: its printed words or key, else `{#doc_uid}`."""
        is_entry = self.paired or self.reason_code in _OF_ENTRIES
        return self.cites if is_entry else f"{{#{self.cites}}}"


# What a writer has to look at first; both audits show their rows in this order.

# Contradicted, facts differ, nothing found, partly, unread, supported. What is wrong with the
# citation itself (a uid that is unknown) was not found; what a program compares letter by letter
# (quotations, places named) or reads around the words (a frame) is a fact.
CONTRADICTED, FACTS_DIFFER, NOTHING_FOUND, PARTLY, UNREAD, SUPPORTED = range(6)
_FACTS = frozenset({
    "facts_differ", "framed", "misquoted", "quote_not_found", "wrong_page", "wrong_article",
    "drops_exception", "not_in_force",
})  # fmt: skip


def urgency(row: CitationVerdict) -> int:
    """Return the place of a verdict in the order in which results are shown, from 0."""
    # What a person has found wrong, nobody needs to look at once more to say so.
    if row.reason_code in {"contradicted", "judged_unsupported", "agent_contradicts"}:
        return CONTRADICTED
    if row.reason_code in _FACTS:
        return FACTS_DIFFER
    if row.status in {"MISSING", "ERROR"}:
        return NOTHING_FOUND
    if row.status == "OK":
        return SUPPORTED
    return UNREAD if row.reason_code == "unread" else PARTLY


# What every kind of audit of a draft has: a schema, an id, rows, and JSON that gives it back.


class Audit(Protocol):
    """What was found in one revision of a draft: a frozen dataclass.

    Fields that are left out of comparisons say how the audit came to be, not what it found; they
    are not stored.

    Args:
        schema: name of its JSON; `title` and `about` describe it there.
        command: makes it.
        audit_id: of the draft and what was found, and of no clock.
        publications: that were looked at, by namespace.
        counts: rows by status.
    """

    schema: ClassVar[str]
    command: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]

    @property
    def draft_name(self) -> str:
        """Return the name of the draft's file."""

    @property
    def draft_digest(self) -> str:
        """Return the SHA-256 of the draft's bytes."""

    @property
    def audit_id(self) -> str:
        """Return what tells it from another."""

    @property
    def publications(self) -> Mapping[str, str]:
        """Return the publications that were looked at, by namespace."""

    @property
    def rows(self) -> Sequence[Any]:
        """Return what was found, in the order of the draft."""

    @property
    def counts(self) -> Mapping[Any, int]:
        """Return how many rows have each status."""

    @property
    def judged_now(self) -> int:
        """Return how many judgements were made for it."""

    @property
    def errors(self) -> tuple[str, ...]:
        """Return why citations cannot be judged at all."""


Found = TypeVar("Found", bound=Audit)


def audit_to_json(audit: Audit) -> dict[str, Any]:
    """Return an audit as values that JSON knows: `schema`, its fields, `counts` (status → rows).

    The same audit always gives the same object.
    """
    content = asdict(audit)  # type: ignore[call-overload]  # a protocol cannot ask for a dataclass
    stored = {name: plain(content[name]) for name in stored_fields(type(audit))}
    return {"schema": audit.schema, **stored, "counts": dict(audit.counts)}


def audit_from_json(kind: type[Found], data: Mapping[str, Any]) -> Found:
    """Return the audit that `audit_to_json` wrote.

    Raises:
        UsageError: it is of another schema, or not what was written.
    """
    from pydantic import TypeAdapter, ValidationError

    again = f"Make it again with `{kind.command}`."
    if data.get("schema") != kind.schema:
        raise UsageError(
            f"This is not an audit of schema {kind.schema} but {data.get('schema')!r}. {again}"
        )
    try:
        audit = TypeAdapter(kind).validate_python(
            {name: value for name, value in data.items() if name not in {"schema", "counts"}}
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UsageError(
            f"This audit was changed: {_place(first['loc'])}: {first['msg'].lower()}. {again}"
        ) from error
    if audit_to_json(audit) != data:
        raise UsageError(
            f"This audit does not say what its rows hold: it was changed or cut off. {again}"
        )
    return audit


def audit_schema(kind: type[Audit]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of audit.

    Types and obligations are those of its fields and what they hold; unknown fields are not
    allowed.
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(kind).json_schema(mode="serialization")
    definitions = made.pop("$defs")
    for each in definitions.values():
        if "properties" in each:
            # What has a default when a program makes it is always there in a file.
            each["required"] = list(each["properties"])
            each["additionalProperties"] = False
    properties = {
        "schema": {"const": kind.schema},
        **{name: made["properties"][name] for name in stored_fields(kind)},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{kind.schema.replace('/', ':')}",
        "title": kind.title,
        "description": kind.about,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": definitions,
    }


def stored_fields(kind: type[Audit]) -> list[str]:
    """Return the fields of an audit that its JSON holds, in order."""
    return [each.name for each in fields(kind) if each.compare]  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    """Return a value with lists for tuples, as JSON gives it back."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def _place(location: tuple[int | str, ...]) -> str:
    if len(location) > 1 and location[0] == "rows" and isinstance(location[1], int):
        return f"row {location[1] + 1} {'.'.join(map(str, location[2:]))}".strip()
    return ".".join(map(str, location))


# A citation audit as a value.

# Part of every audit's identity: raise it when the same inputs may be judged otherwise.
VERIFICATION_VERSION = 8


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

    schema: ClassVar[str] = "rag-assets/citation-audit/7"
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
        faulty = tuple(row.reason for row in self.rows if row.status == "ERROR")
        # Where nothing was found to be checked, the first warning says what was looked for.
        return faulty if self.rows or self.listed else self.warnings[:1]

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
        VERIFICATION_VERSION, draft_digest, scorer, k, found, [asdict(each) for each in listed]
    )
