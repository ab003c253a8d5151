"""What people have decided on citations: kept in a journal, joined to verdicts."""

import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from rag_assets.auditing.draft import Draft
from rag_assets.auditing.library import statute_of_label
from rag_assets.auditing.record import (
    AgentDecision,
    CitationVerdict,
    Decision,
    PersonVerdict,
    ReasonCode,
    ScoredBy,
    Status,
    is_agent,
)
from rag_assets.model import (
    ChangedMeanwhileError,
    DamagedFileError,
    UsageError,
    drop_controls,
    hide_credentials,
)
from rag_assets.storage import (
    Notify,
    append_journal_lines,
    describe_torn_line,
    hold_lock,
    mend_journal,
    read_journal_lines,
)
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# A judgement of a person on one citation: what was judged, and how it is found again.

DECISIONS: tuple[Decision, ...] = get_args(Decision)
# Visible characters before and behind a sentence that tell it when it was edited, as many as tell
# an edited chunk.
_AROUND = 40
# Characters in which those are looked for.
_WINDOW = 400
# Citations that are kept as they were folded: a draft is joined at each judgement.
_KEPT = 8192
# Of a name and of a comment; what is longer belongs into the draft.
_LONGEST_NAME, _LONGEST_COMMENT = 100, 4000

# Claim, namespace, uid, place that is named, article of a statute: what a judgement is about.
JudgedCitation = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class ChosenPassage:
    """Another passage of the source, which a person chose to look at.

    Args:
        text: verbatim; `locator` where it stands, as shown.
    """

    text: str
    locator: str
    chunk_id: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """One line of the journal: who has decided what on a sentence and a document that it cites.

    Args:
        number: of its line, from 1; 0 before it is kept.
        by: who; `at` when, ISO 8601.
        draft: name of its file; `draft_digest` the SHA-256 of the bytes that were looked at.
        sentence: as it stood; `claim` what of it was judged, without anchors and marks.
        before: visible characters before the sentence; `after` behind it.
        cites: the citation as written; `hint` the place in the document that it names.
        namespace: of the document; None for a citation that means none.
        content_version: SHA-256 of the raw file; `text_digest` of its text, cuts and places.
        status: what the machine said then, as `reason_code`, `score`, `scorer` and `fingerprint`.
        quote: sentence of the source that was shown, at `locator`, in the chunk `chunk_id`;
            `passage_hash` the SHA-256 of its passage.
        chosen: another passage, where a person chose one.
    """

    by: str
    at: str
    draft: str
    draft_digest: str
    sentence: str
    claim: str
    before: str
    after: str
    cites: str
    hint: str | None
    namespace: str | None
    doc_uid: str
    content_version: str | None
    text_digest: str | None
    status: Status
    reason_code: ReasonCode
    score: float | None
    scorer: ScoredBy | None
    fingerprint: str | None
    quote: str | None
    locator: str | None
    chunk_id: str | None
    passage_hash: str | None
    decision: Decision | AgentDecision
    comment: str = ""
    chosen: ChosenPassage | None = None
    number: int = field(default=0, compare=False)

    @property
    def citation(self) -> JudgedCitation:
        """What it is about: the last judgement on it holds."""
        return _citation(self.claim, self.namespace, self.doc_uid, self.hint, self.cites)

    @property
    def version(self) -> str:
        """The content that was judged; of a statute the article that is cited, and no other."""
        return _version(self.cites, self.content_version, self.text_digest)


def citation_of(row: CitationVerdict) -> JudgedCitation:
    """Return what a judgement on a verdict is about.

    Neither the draft nor the place in it is part of it: a sentence keeps its judgement when
    others are edited, and when the draft is renamed.
    """
    return _citation(row.claim or row.sentence, row.namespace, row.doc_uid, row.hint, row.cites)


def version_of(row: CitationVerdict) -> str:
    """Return the content that a verdict judged, to be compared with that of a judgement."""
    return _version(row.cites, row.content_version, row.text_digest)


def judge_row(
    row: CitationVerdict,
    decision: Decision | AgentDecision,
    *,
    by: str,
    at: str,
    draft: str,
    draft_digest: str,
    text: str,
    comment: str = "",
    chosen: ChosenPassage | None = None,
) -> Judgement:
    """Return the judgement on a verdict of the machine, to be appended to the journal.

    Args:
        row: as the machine made it.
        text: of the draft; the verdict's offsets refer to it.

    Raises:
        UsageError: nobody is named, the comment is too long, or the decision does not fit: there
            is no verdict to accept where nothing was read, and nothing to judge where the
            citation means no document.
    """
    who = " ".join(hide_credentials(drop_controls(by)).split())
    said = hide_credentials(drop_controls(comment)).strip()
    if not who or len(who) > _LONGEST_NAME:
        raise UsageError(
            f"'by' must say who judges, in at most {_LONGEST_NAME} characters, got {who[:20]!r}."
        )
    if len(said) > _LONGEST_COMMENT:
        raise UsageError(
            f"'comment' must be at most {_LONGEST_COMMENT} characters, got {len(said)}."
        )
    if decision == "accepted" and row.reason_code == "unread":
        raise UsageError(
            f"row {row.number}: nothing has read the passage, so that there is no verdict to "
            "accept. Say whether it is supported or not."
        )
    if row.status == "ERROR" and (decision in {"supported", "unsupported"} or is_agent(decision)):
        raise UsageError(
            f"row {row.number}: `{row.cites}` means no document that could support the sentence "
            "or not. Correct the citation."
        )
    before, after = _around(text, row.sentence_start, row.sentence_end)
    return Judgement(
        by=who,
        at=at,
        draft=draft,
        draft_digest=draft_digest,
        sentence=row.sentence,
        claim=row.claim or row.sentence,
        before=before,
        after=after,
        cites=row.cites,
        hint=row.hint,
        namespace=row.namespace,
        doc_uid=row.doc_uid,
        content_version=row.content_version,
        text_digest=row.text_digest,
        status=row.status,
        reason_code=row.reason_code,
        score=row.score,
        scorer=row.scored_by,
        fingerprint=row.scorer_fingerprint,
        quote=row.quote,
        locator=row.locator,
        chunk_id=row.chunk_id,
        passage_hash=row.content_hash,
        decision=decision,
        comment=said,
        chosen=chosen,
    )


def is_around(judgement: Judgement, text: str, start: int, end: int) -> bool:
    """Say whether a sentence of a draft stands where the judged one stood.

    It does where the words before it, or those behind it, are the same and there are any.
    """
    before, after = _around(text, start, end)
    return (before != "" and before == judgement.before) or (
        after != "" and after == judgement.after
    )


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the visible characters before and behind a span of a text."""
    before, after = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    return "".join(before.split())[-_AROUND:], "".join(after.split())[:_AROUND]


@lru_cache(maxsize=_KEPT)
def _citation(
    claim: str, namespace: str | None, doc_uid: str, hint: str | None, cites: str
) -> JudgedCitation:
    words = " ".join(unicodedata.normalize("NFC", claim).split())
    article = cites if _is_statute(cites) else ""
    return words, namespace or "", doc_uid, hint or "", article


def _version(cites: str, content_version: str | None, text_digest: str | None) -> str:
    if _is_statute(cites):
        return text_digest or ""
    return content_version or text_digest or ""


@lru_cache(maxsize=_KEPT)
def _is_statute(cites: str) -> bool:
    return statute_of_label(cites) is not None


# The journal of what people have decided on citations: append-only, synced, readable lines.
#
# It stands beside the identity journal, is as little rebuilt from raw/, and is written alike: a
# line is appended under a lock, in one synced write; what a crash leaves of a line is cut, and
# told, before the next one.

# Lines that are kept as they were read, some 5 KB each.
_LINES_KEPT = 4096


@dataclass(frozen=True)
class Judgements:
    """All judgements that were ever made, oldest first."""

    every: tuple[Judgement, ...] = ()

    @cached_property
    def latest(self) -> dict[JudgedCitation, Judgement]:
        """The judgement that holds, by what it is about; what was taken back is not there."""
        return {about: one for about, one in self.last.items() if one.decision != "withdrawn"}

    @cached_property
    def last(self) -> dict[JudgedCitation, Judgement]:
        """The last word on each citation, taking back included."""
        return {one.citation: one for one in self.every}

    def lost(self, name: str, found: Collection[JudgedCitation]) -> list[Judgement]:
        """Return those of a draft whose sentence or citation is not among `found` any more."""
        return [
            one for about, one in self.latest.items() if one.draft == name and about not in found
        ]


def judgements_of(workspace: Workspace) -> Judgements:
    """Return the judgements that people have made in a workspace.

    Raises:
        DamagedFileError: as `read_judgements`.
    """
    return read_judgements(workspace.judgement_journal)


def read_judgements(path: Path) -> Judgements:
    """Return the judgements of a journal; none where there is no file.

    A half-written last line is left out: nobody was told that it is kept.

    Raises:
        DamagedFileError: a line is not what was written; names it.
    """
    kept = []
    for number, line in enumerate(read_journal_lines(path), start=1):
        try:
            kept.append(_read_line(line, number))
        except (ValueError, TypeError, RecursionError) as error:
            told = " ".join(str(error).split())[:200]
            raise DamagedFileError(
                f"{path}, line {number}: not a judgement ({told}). Nothing was changed. Restore "
                "the file from a backup, or delete this line: what was decided in it is then lost."
            ) from error
    return Judgements(tuple(kept))


def append_judgement(
    workspace: Workspace,
    judgement: Judgement,
    *,
    seen: int | None = None,
    notify: Notify = lambda sentence: None,
) -> Judgement:
    """Append a judgement and return it with its number.

    Args:
        seen: number of the last judgement on this citation that its author has seen, 0 for none;
            None where that does not matter.
        notify: told what a crash had left of a line, and where another process is writing.

    Raises:
        ChangedMeanwhileError: somebody has judged the citation since; nothing was written.
        UsageError: an AI agent would replace the judgement of a person; nothing was written.
        DamagedFileError: as `read_judgements`.
        StorageError: the disk is full or refuses the write; the journal is as it was.
    """
    path = workspace.judgement_journal
    with hold_lock(workspace.locks / "judgements.lock", "judgements of citations", notify):
        torn = mend_journal(path)
        if torn is not None:
            notify(torn)
        kept = read_judgements(path)
        last = kept.last.get(judgement.citation)
        if seen is not None and seen != (last.number if last else 0):
            raise ChangedMeanwhileError(_told(last))
        is_persons = last and last.decision != "withdrawn" and not is_agent(last.decision)
        if last and is_persons and is_agent(judgement.decision):
            raise UsageError(
                f"{describe_judgement(last)}: a person's judgement stays, and nothing was "
                "recorded. Go on with the next citation, or tell the person what you found."
            )
        append_journal_lines(path, [json.dumps(_as_line(judgement), ensure_ascii=False)])
    return replace(judgement, number=len(kept.every) + 1)


def torn_judgement(workspace: Workspace) -> str | None:
    """Return what a crash left of a last judgement, in words; None where there is nothing."""
    return describe_torn_line(workspace.judgement_journal)


def _told(last: Judgement | None) -> str:
    if last is None:
        return (
            "this citation has no judgement any more: the journal was restored meanwhile. Nothing "
            "was kept; look at it again."
        )
    return (
        f"{last.by} has judged this citation meanwhile ({last.decision}, {last.at}"
        f"{': ' + last.comment if last.comment else ''}). Nothing of yours was kept: look at it "
        "again and judge it if you see it otherwise."
    )


@lru_cache(maxsize=_LINES_KEPT)
def _read_line(line: str, number: int) -> Judgement:
    """Return the judgement of a line; a journal is read at each judgement, and only grows."""
    values = json.loads(line)
    read = _adapter().validate_python(values)
    if _as_line(read) != values:
        raise ValueError("it has other fields")
    return replace(read, number=number)


def _as_line(judgement: Judgement) -> dict[str, Any]:
    return {name: value for name, value in asdict(judgement).items() if name != "number"}


@cache
def _adapter() -> "TypeAdapter[Judgement]":
    from pydantic import TypeAdapter  # every command loads this room, few read a judgement

    return TypeAdapter(Judgement)


# People's judgements joined to the machine's verdicts, where a report is made of them.
#
# The machine's verdicts are kept without them (`VerdictStore`): they are what text and settings
# give. A judgement holds while its sentence and the content of its source are those that were
# judged; else the machine's verdict counts, and the row says why.

_MEANS: Mapping[str, tuple[Status, ReasonCode]] = {
    "supported": ("OK", "judged_supported"),
    "unsupported": ("MISSING", "judged_unsupported"),
    "needs_work": ("WEAK", "judged_needs_work"),
    "agent_supports": ("OK", "agent_supports"),
    "agent_partly": ("WEAK", "agent_partly"),
    "agent_contradicts": ("MISSING", "agent_contradicts"),
    "agent_does_not_address": ("MISSING", "agent_does_not_address"),
}
# What a person decides who accepts the verdict of an agent, by its status.
_CONFIRMED: Mapping[Status, Decision] = {
    "OK": "supported", "WEAK": "needs_work", "MISSING": "unsupported",
}  # fmt: skip
_SAID: Mapping[str, str] = {
    "accepted": "accepted this verdict",
    "supported": "judged it supported",
    "unsupported": "judged it not supported",
    "needs_work": "judged that it needs work",
    "agent_supports": "judged it supported",
    "agent_partly": "judged it supported in part",
    "agent_contradicts": "judged it contradicted",
    "agent_does_not_address": "judged it not addressed by the document",
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
    who = f"The AI agent {judgement.by}" if is_agent(judgement.decision) else judgement.by
    return f"{who} {_SAID[judgement.decision]} on {judgement.at[:10]}"


def confirm(decision: Decision, held: Judgement | None) -> tuple[Decision, ChosenPassage | None]:
    """Return what a person decides who accepts the verdict that is shown, and on what it rests.

    Args:
        held: the judgement that holds; accepted is its verdict where an agent has made it, else
            that of the machine.
    """
    if decision == "accepted" and held is not None and is_agent(held.decision):
        return _CONFIRMED[_MEANS[held.decision][0]], held.chosen
    return decision, None


def join_judgement(
    row: CitationVerdict, judgements: Judgements, lost: Sequence[Judgement], draft: Draft | None
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
        words = f": “{chosen.text}”." if is_agent(judgement.decision) else "."
        parts.append(f"It rests on {chosen.locator}{words}")
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
