"""Which verdicts and audits are out of date, and which citations do not hold."""

import shlex
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from rag_assets.auditing.draft import draft_bytes, place_in, read_draft
from rag_assets.auditing.judgements import join_judgements, judgements_of
from rag_assets.auditing.library import (
    CitedDocumentRef,
    cut_to_article,
    digest_cut,
    digest_document,
    find_statute,
    statute_of_label,
)
from rag_assets.auditing.published import PublishedLibrary, open_published
from rag_assets.auditing.record import CitationAudit, CitationVerdict
from rag_assets.auditing.storing import CITATIONS, CLAIMS, list_drafts
from rag_assets.law.citing import StatuteCitation
from rag_assets.model import hash_bytes
from rag_assets.storage import find_versions, read_json
from rag_assets.workspace import Workspace

# Verdicts outlive the text that they judged, audits the revision of their draft; this says so.

# (namespace, doc_uid) → digest of the document as published; None where it is not.
_Digests = dict[tuple[str, str], str | None]

_KINDS = (CITATIONS, CLAIMS)
_JUDGED_SINCE = "a person's judgements are others now than when the audit was made."


@dataclass(frozen=True, slots=True)
class OutdatedDraft:
    """A draft that was audited, and is not what it was then, or whose sources are not.

    Args:
        name: its path from the workspace.
        edited: the newest audits, by name, of those kinds of which none is of what it says now.
        stale: a sentence for each cited document that is not the one that was judged.
        rows: the verdicts that these are about, by their numbers.
        mend: the commands that judge again what is out of date, and no more.
    """

    name: str
    edited: tuple[str, ...]
    stale: tuple[str, ...]
    rows: frozenset[int]
    mend: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is out of date, each once."""
        if not self.edited:
            return self.stale
        verb = "was" if len(self.edited) == 1 else "were"
        made = " and ".join(self.edited)
        return (f"{self.name} was edited since {made} {verb} made.", *self.stale)


def outdated_drafts(workspace: Workspace, as_of: date | None = None) -> Iterator[OutdatedDraft]:
    """Yield the drafts in `drafts/` that were audited and are to be audited again.

    Of several audits of one revision the newest counts.

    Args:
        as_of: the day on which wordings of statutes have to hold; that of each audit without.

    Raises:
        DamagedFileError: an audit is not what was written.
    """
    drafts = {draft: _audits_before(workspace, draft) for draft in list_drafts(workspace)}
    if not any(drafts.values()):
        return
    digests: _Digests = {}
    with open_published(workspace) as library:
        for draft, before in drafts.items():
            edited = {what: name for what, (name, is_present) in before.items() if not is_present}
            audit = CITATIONS.newest(workspace, draft) if before else None
            stale = _stale_rows(workspace, draft, audit, library, digests, as_of) if audit else {}
            name = draft.relative_to(workspace.root).as_posix()
            again = dict.fromkeys([*edited, *([CITATIONS.record.command] if stale else [])])
            if again:
                yield OutdatedDraft(
                    name,
                    tuple(edited.values()),
                    tuple(f"{name}, {_lines_of(rows)}: {told}" for told, rows in stale.items()),
                    frozenset(row.number for rows in stale.values() for row in rows),
                    tuple(f"{what} {shlex.quote(name)}" for what in again),
                )


def _audits_before(workspace: Workspace, draft: Path) -> dict[str, tuple[str, bool]]:
    """Return the newest audit of each kind, by the command that makes it: its name, and whether
    one of them all is of the present revision.
    """
    digest = hash_bytes(draft_bytes(draft))
    found = {}
    for kind in _KINDS:
        stem = kind.stem(workspace, draft)
        versions = find_versions(workspace.outputs / "audits", stem, ".json")
        if versions:
            is_present = any(
                read_json(path, "audit").get("draft_digest") == digest
                for _, path in reversed(versions)
            )
            found[kind.record.command] = (versions[-1][1].stem, is_present)
    return found


def _stale_rows(
    workspace: Workspace,
    draft: Path,
    audit: CitationAudit,
    library: PublishedLibrary,
    digests: _Digests,
    as_of: date | None,
) -> dict[str, list[CitationVerdict]]:
    """Return the stale verdicts of an audit by what is to be said of their document."""
    read = read_draft(draft)
    named = read.namespaces
    joined = join_judgements(audit.rows, judgements_of(workspace), read)
    if as_of is None and audit.as_of is not None:
        as_of = date.fromisoformat(audit.as_of)
    found: dict[str, list[CitationVerdict]] = {}
    for row, now in zip(audit.rows, joined, strict=True):
        statute = statute_of_label(row.cites)
        if statute is not None:
            told = _why_article_is_stale(row, statute, named, library, as_of)
        else:
            told = _why_stale(row, named, library, digests)
        if told is None and now != row:
            told = _JUDGED_SINCE
        if told is not None:
            found.setdefault(told, []).append(row)
    return found


def _lines_of(rows: Sequence[CitationVerdict]) -> str:
    lines = sorted({(row.file, row.line) for row in rows})
    shown = [f"{line} of {file}" if file else str(line) for file, line in lines]
    return f"line{'s' * (len(lines) > 1)} {', '.join(shown)}"


def stale_verdicts(workspace: Workspace, as_of: date | None = None) -> Iterator[str]:
    """Yield a sentence for every cited document that is not the one that was judged any more.

    The present revision of each draft in `drafts/` counts, by its newest audit; drafts that were
    never audited have no verdicts.

    Args:
        as_of: as of `outdated_drafts`.
    """
    for outdated in outdated_drafts(workspace, as_of):
        for told in outdated.stale:
            yield f"{told} `{outdated.mend[0]}` judges it again, and no other."


def look_for_stale(
    workspace: Workspace, drafts: Iterable[Path], as_of: date | None = None
) -> Generator[tuple[Path, bool]]:
    """Yield each draft and whether its present content is to be judged again.

    It is where a verdict is stale, or no audit of it is stored. One at a time, so that who asks
    may stop: every cited document is read.

    Args:
        as_of: as of `outdated_drafts`.
    """
    with open_published(workspace) as library:
        digests: _Digests = {}
        for draft in drafts:
            audit = CITATIONS.newest(workspace, draft)
            if audit is None:
                yield draft, True
                continue
            yield draft, bool(_stale_rows(workspace, draft, audit, library, digests, as_of))


def _why_stale(
    row: CitationVerdict, named: Sequence[str], library: PublishedLibrary, digests: _Digests
) -> str | None:
    """Return why a verdict is stale; `named` are the namespaces of the draft, empty for all."""
    if row.status == "ERROR":
        found = library.find(row.doc_uid, row.namespace)
        found = found or library.find_key(row.doc_uid, row.namespace)
        if named and row.namespace is None:
            found = [ref for ref in found if ref.namespace in named]
        is_known = len(found) == 1 and found[0].withheld_reason is None
        told = f"`{row.doc_uid}` names a document that may be cited now; it was an error before."
        return told if is_known else None
    if row.namespace is None or row.text_digest is None:
        return None
    key = (row.namespace, row.doc_uid)
    if key not in digests:
        found = [r for r in library.find(row.doc_uid, row.namespace) if r.withheld_reason is None]
        digests[key] = digest_document(library.load(found[0])) if found else None
    if digests[key] == row.text_digest:
        return None
    if digests[key] is not None:
        return f"`{row.doc_uid}` has changed since it was judged."
    gone = [ref for ref in library.find(row.doc_uid, row.namespace) if ref.is_removed]
    if gone and gone[0].withheld_reason:
        return gone[0].withheld_reason
    return f"`{row.doc_uid}` was judged and is not published any more."


def _why_article_is_stale(
    row: CitationVerdict,
    statute: StatuteCitation,
    named: Sequence[str],
    library: PublishedLibrary,
    as_of: date | None,
) -> str | None:
    """Return why a verdict on an article of a statute is stale."""
    found = find_statute(statute, library, named, as_of)
    is_error = row.status == "ERROR"
    if not isinstance(found, CitedDocumentRef) or found.article is None:
        return None if is_error else f"`{row.cites}` names nothing any more."
    if is_error:
        told = f"`{row.cites}` names an article that may be cited now; it was an error before."
        return told if found.citable else None
    if (row.namespace, row.doc_uid) != (found.namespace, found.doc_uid):
        return f"`{row.cites}` means another wording now than the one that was judged."
    cut = cut_to_article(library.load(found), found.article)
    if digest_cut(cut, found.article) != row.text_digest:
        return f"`{row.cites}` has changed since it was judged."
    if found.article.mark not in (row.scoring_note or ""):
        return f"`{row.cites}`: {found.article.mark}"
    return None


# Citations of drafts that do not hold: by the machine's verdict, or by that of a person.


def unsupported_citations(workspace: Workspace) -> Iterator[str]:
    """Yield a sentence for every citation of a draft in `drafts/` that is MISSING or ERROR.

    The newest audit of each draft's present content counts, with what people have decided since.
    Drafts whose present content was not audited have none.

    Raises:
        DamagedFileError: an audit or the journal of judgements is not what was written.
    """
    judgements = judgements_of(workspace)
    for path in list_drafts(workspace):
        audit = CITATIONS.newest(workspace, path)
        if audit is None:
            continue
        name = path.relative_to(workspace.root).as_posix()
        for row in join_judgements(audit.rows, judgements, read_draft(path)):
            if row.status in {"MISSING", "ERROR"}:
                yield f"{name}, {place_in(path.name, row.line, row.file)}: {_told(row)}"


def _told(row: CitationVerdict) -> str:
    return f"`{row.cites}` is {row.status}. {row.reason}"
