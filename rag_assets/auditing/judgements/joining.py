"""People's judgements joined to the machine's verdicts, where a report is made of them.

The machine's verdicts are kept without them (`VerdictStore`): they are what text and settings
give. A judgement holds while its sentence and the content of its source are those that were
judged; else the machine's verdict counts, and the row says why.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rag_assets.auditing.drafts.draft import Draft
from rag_assets.auditing.judgements.journal import Judgements
from rag_assets.auditing.judgements.record import (
    Judgement,
    citation_of,
    is_around,
    version_of,
)
from rag_assets.auditing.verdict import (
    CitationVerdict,
    Decision,
    PersonVerdict,
    ReasonCode,
    Status,
)

_MEANS: Mapping[Decision, tuple[Status, ReasonCode]] = {
    "supported": ("OK", "judged_supported"),
    "unsupported": ("MISSING", "judged_unsupported"),
    "needs_work": ("WEAK", "judged_needs_work"),
}
_SAID: Mapping[Decision, str] = {
    "accepted": "accepted this verdict",
    "supported": "judged it supported",
    "unsupported": "judged it not supported",
    "needs_work": "judged that it needs work",
}
# Of a sentence that was edited, characters that are repeated.
_SHOWN = 120


def join_judgements(
    rows: Iterable[CitationVerdict], judgements: Judgements, draft: Draft | None = None
) -> tuple[CitationVerdict, ...]:
    """Return verdicts with what people have decided on them; joining again changes nothing.

    Args:
        rows: of one draft, joined before or not.
        draft: as it is now; without it no edited sentence is told.
    """
    machine = [without_judgement(row) for row in rows]
    if not judgements.latest:
        return tuple(machine)
    found = {citation_of(row) for row in machine}
    lost = judgements.lost(draft.name, found) if draft is not None else []
    return tuple(join_judgement(row, judgements, lost, draft) for row in machine)


def without_judgements(rows: Iterable[CitationVerdict]) -> tuple[CitationVerdict, ...]:
    """Return the verdicts as the machine made them."""
    return tuple(map(without_judgement, rows))


def without_judgement(row: CitationVerdict) -> CitationVerdict:
    """Return a verdict as the machine made it."""
    if row.person is None:
        return replace(row, outdated_judgement=None) if row.outdated_judgement else row
    return replace(
        row,
        status=row.person.machine_status,
        reason_code=row.person.machine_reason_code,
        reason=row.person.machine_reason,
        person=None,
    )


def describe_judgement(judgement: Judgement) -> str:
    """Return who has decided what, and when: `Ana judged it supported on 2026-03-01`."""
    return f"{judgement.by} {_SAID[judgement.decision]} on {judgement.at[:10]}"


def join_judgement(
    row: CitationVerdict,
    judgements: Judgements,
    lost: Sequence[Judgement],
    draft: Draft | None,
) -> CitationVerdict:
    """Return one verdict of the machine with what a person has decided on it.

    Args:
        lost: judgements made in this draft on what it does not hold any more (`Judgements.lost`).
    """
    judgement = judgements.latest.get(citation_of(row))
    if judgement is None:
        edited = _before_edit(row, lost, draft)
        return row if edited is None else replace(row, outdated_judgement=_tell_edited(edited))
    if judgement.version != version_of(row):
        told = (
            f"{describe_judgement(judgement)}, but `{row.doc_uid}` has changed since: the "
            "machine's verdict counts until somebody judges it again."
        )
        return replace(row, outdated_judgement=told)
    return _decided(row, judgement)


def _decided(row: CitationVerdict, judgement: Judgement) -> CitationVerdict:
    status, code = _MEANS.get(judgement.decision, (judgement.status, judgement.reason_code))
    if row.status == "ERROR":
        # What a person says of a citation that means nothing does not make it mean something.
        status, code = row.status, row.reason_code
    chosen = judgement.chosen
    parts = [f"{describe_judgement(judgement)}."]
    if judgement.comment:
        parts.append(f"“{' '.join(judgement.comment.split())}”")
    if chosen is not None:
        parts.append(f"It rests on {chosen.locator}.")
    parts.append(f"The machine says {row.status}: {row.reason}")
    return replace(
        row,
        status=status,
        reason_code=code,
        reason=" ".join(parts),
        person=PersonVerdict(
            decision=judgement.decision,
            by=judgement.by,
            at=judgement.at,
            comment=judgement.comment,
            passage=chosen.text if chosen else None,
            locator=chosen.locator if chosen else None,
            machine_status=row.status,
            machine_reason_code=row.reason_code,
            machine_reason=row.reason,
        ),
    )


def _before_edit(
    row: CitationVerdict, lost: Sequence[Judgement], draft: Draft | None
) -> Judgement | None:
    """Return the newest judgement on a sentence that stood here and stands nowhere any more."""
    if draft is None:
        return None
    candidates = (
        one
        for one in lost
        if (one.namespace, one.doc_uid) == (row.namespace, row.doc_uid)
        and is_around(one, draft.text, row.sentence_start, row.sentence_end)
    )
    return max(candidates, key=lambda one: one.number, default=None)


def _tell_edited(judgement: Judgement) -> str:
    claim = judgement.claim
    shown = claim if len(claim) <= _SHOWN else f"{claim[:_SHOWN]}…"
    return (
        f"{describe_judgement(judgement)}, but the sentence was edited since (it was: “{shown}”): "
        "the machine's verdict counts until somebody judges it again."
    )
