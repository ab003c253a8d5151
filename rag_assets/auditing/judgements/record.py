"""A judgement of a person on one citation: what was judged, and how it is found again."""

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import get_args

from rag_assets.auditing.statutes import statute_of_label
from rag_assets.auditing.verdict import CitationVerdict, Decision, ReasonCode, ScoredBy, Status
from rag_assets.model import UsageError, drop_controls, hide_credentials

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
    decision: Decision
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
    decision: Decision,
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
    if row.status == "ERROR" and decision in {"supported", "unsupported"}:
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
