"""A citation audit as a value, and as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, get_args

from rag_assets.auditing.judged import read_boxes, read_checks, read_signs
from rag_assets.auditing.ordering import urgency
from rag_assets.auditing.verdict import CitationVerdict, ShownPassage, Status
from rag_assets.model import UsageError, hash_fields

# Part of every audit's identity: raise it when the same inputs may be judged otherwise.
VERIFICATION_VERSION = 4
SCHEMA = "rag-assets/citation-audit/4"

NamedPairs = tuple[tuple[str, str], ...]


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
        publications: (namespace, publication) consulted, sorted.
        encoders: (namespace, fingerprints of its embedding models), sorted.
        k: how many passages of each cited document were looked at closely.
        threshold: from which a score is OK; `weak_threshold` WEAK; each with its origin.
        rows: one for each sentence and document cited in it, in the order of the draft.
        warnings: sentences a person can act on.
        listed: the documents of its list of sources, in its order; what is wrong with a citation
            there is a row.
        judged_now: how many judgements were made for it; the others were kept from before. Not
            stored: it says how the audit came to be, not what it found.
    """

    draft_name: str
    draft_digest: str
    audit_id: str
    publications: NamedPairs
    encoders: NamedPairs
    scorer: str
    k: int
    threshold: float
    threshold_origin: str
    weak_threshold: float
    weak_threshold_origin: str
    rows: tuple[CitationVerdict, ...]
    warnings: tuple[str, ...]
    listed: tuple[ListedSource, ...] = ()
    judged_now: int = field(default=0, compare=False)

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
    def has_errors(self) -> bool:
        """Say whether a citation cannot be judged at all (exit code 3)."""
        return any(row.status == "ERROR" for row in self.rows)

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
    unread: Sequence[str] = (),
    listed: Sequence[ListedSource] = (),
) -> str:
    """Return the audit's id: SHA-256 of the draft and what was found, and of no clock.

    Args:
        unread: what was told of words that look like citations; it depends on the library, as
            `listed` does.
    """
    found = [_row_to_json(row) for row in rows]
    return hash_fields(
        VERIFICATION_VERSION,
        draft_digest,
        scorer,
        k,
        found,
        list(unread),
        [asdict(each) for each in listed],
    )


def to_json(audit: CitationAudit) -> dict[str, Any]:
    """Return `audit` as values that JSON knows.

    Its keys are `schema`, then the fields of CitationAudit and `counts` (status → rows);
    `publications` and `encoders` are objects by namespace; each of `rows` has the fields of
    CitationVerdict, absent values as null; `speaks_for` and `speaks_against` are lists of objects
    (`kind`, `claim`, `source`, `text`), `boxes` of (`page`, `x0`, `y0`, `x1`, `y1`), `quotations`
    of (`text`, `state`, `source`, `changes`, `chunk_ids`, `page`), `passages` of (`text`,
    `locator`, `chunk_ids`). The same audit always gives the
    same object.
    """
    content = asdict(audit)
    del content["judged_now"]
    return {
        "schema": SCHEMA,
        **content,
        "publications": dict(audit.publications),
        "encoders": dict(audit.encoders),
        "counts": dict(audit.counts),
        "rows": [_row_to_json(row) for row in audit.rows],
        "warnings": list(audit.warnings),
        "listed": [asdict(each) for each in audit.listed],
    }


def _row_to_json(row: CitationVerdict) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(row).items()
    }


def from_json(data: Mapping[str, Any]) -> CitationAudit:
    """Return the audit that `to_json` wrote.

    Raises:
        UsageError: `data` is not of this schema, or a field is missing or unknown.
    """
    if data.get("schema") != SCHEMA:
        raise UsageError(
            f"This is not a citation audit of schema {SCHEMA} but {data.get('schema')!r}. Make it "
            "again with `rag verify-citations`."
        )
    content = {key: value for key, value in data.items() if key not in {"schema", "counts"}}
    _require_fields(CitationAudit, content, "audit")
    audit = CitationAudit(
        **{
            **content,
            "publications": tuple(sorted(content["publications"].items())),
            "encoders": tuple(sorted(content["encoders"].items())),
            "rows": tuple(_row_from_json(row) for row in content["rows"]),
            "warnings": tuple(content["warnings"]),
            "listed": tuple(ListedSource(**each) for each in content["listed"]),
        }
    )
    if data.get("counts") != audit.counts:
        raise UsageError(
            "This citation audit counts other verdicts than its rows hold: it was changed or cut "
            "off. Make it again with `rag verify-citations`."
        )
    return audit


def _row_from_json(row: Mapping[str, Any]) -> CitationVerdict:
    _require_fields(CitationVerdict, row, f"row {row.get('number', '?')}")
    content: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
    }
    content["speaks_for"] = read_signs(row["speaks_for"])
    content["speaks_against"] = read_signs(row["speaks_against"])
    content["boxes"] = read_boxes(row["boxes"])
    content["quotations"] = read_checks(row["quotations"])
    content["passages"] = tuple(
        ShownPassage(one["text"], one["locator"], tuple(one["chunk_ids"]))
        for one in row["passages"]
    )
    return CitationVerdict(**content)


def _require_fields(kind: type, content: Mapping[str, Any], where: str) -> None:
    wanted: Sequence[str] = [each.name for each in fields(kind) if each.name != "judged_now"]
    wrong = sorted(set(wanted) ^ set(content))
    if wrong:
        raise UsageError(
            f"The {where} of this citation audit lacks or does not know the fields "
            f"{', '.join(wrong)}. Make it again with `rag verify-citations`."
        )
