"""The reviews of a workspace: opened, judged, edited; what was read last is kept."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from rag_assets.auditing import (
    CITATIONS,
    AuditOutcome,
    CitationAudit,
    CitedDocument,
    Draft,
    audit_citations,
    judge_draft,
    list_drafts,
    open_published,
    read_draft,
)
from rag_assets.auditing.judgements import (
    ChosenPassage,
    Decision,
    Judgement,
    Judgements,
    append_judgement,
    judge_row,
    judgements_of,
)
from rag_assets.model import ChangedMeanwhileError, Progress, UsageError, hash_bytes
from rag_assets.retrieval import Asked
from rag_assets.reviewing.editing import SentenceEdit, replace_sentence
from rag_assets.reviewing.items import Item, Review, make_review
from rag_assets.reviewing.showing import place_of
from rag_assets.storage import Notify, find_versions, read_json, read_pointer
from rag_assets.workspace import Workspace

# Documents whose passages are kept to choose from.
_MOST_DOCUMENTS = 16
_Stamp = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class DraftSummary:
    """A draft in the list of all.

    Args:
        name: path below drafts/.
        counts: of its newest stored audit, by status; empty where it was never checked.
    """

    name: str
    counts: dict[str, int]


class Reviews:
    """The drafts of a workspace under review. Several threads may ask.

    Args:
        workspace: whose drafts, audits and judgements are read.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.RLock()
        self._audits: dict[str, tuple[Draft, CitationAudit]] = {}
        self._reviews: dict[str, tuple[CitationAudit, object, Review]] = {}
        self._pointers: dict[str, Path] = {}
        self._judgements: tuple[_Stamp, Judgements] = (None, Judgements())
        self._documents: dict[tuple[str, str, str], CitedDocument] = {}

    def names(self) -> list[str]:
        """Return the drafts by their paths below drafts/, sorted."""
        folder = self._workspace.drafts
        return [path.relative_to(folder).as_posix() for path in list_drafts(self._workspace)]

    def summaries(self) -> list[DraftSummary]:
        """Return all drafts with the counts of their newest stored audits."""
        return [DraftSummary(name, self._counts(name)) for name in self.names()]

    def path(self, name: str) -> Path:
        """Return the file of a draft.

        Raises:
            UsageError: drafts/ has no draft of this name; no other path is ever read.
        """
        if name not in self.names():
            raise UsageError(f"drafts/ has no draft '{name}'. `rag desk` lists those that it has.")
        return self._workspace.drafts / name

    def open(self, name: str) -> Review | None:
        """Return a draft's review; None where its present content was not checked yet.

        Raises:
            UsageError: there is no such draft, or it cannot be read.
            DamagedFileError: the journal of judgements or an audit is not what was written.
        """
        path = self.path(name)
        digest = hash_bytes(path.read_bytes())
        with self._lock:
            known = self._audits.get(name)
            if known is None or known[1].draft_digest != digest:
                stored = CITATIONS.newest(self._workspace, path)
                if stored is None:
                    return None
                known = self._audits[name] = (read_draft(path), stored)
            return self._made(name, *known)

    def check(
        self,
        asked: Asked,
        name: str,
        *,
        as_of: date,
        notify: Notify = lambda sentence: None,
        on_progress: Progress | None = None,
    ) -> Review:
        """Judge the present content of a draft and return its review.

        What was judged before is not judged again; no audit is stored.

        Raises:
            UsageError, PublicationError: as `audit_citations`.
        """
        draft = read_draft(self.path(name))
        audit = judge_draft(asked, draft, as_of=as_of, notify=notify, on_progress=on_progress)
        with self._lock:
            self._audits[name] = (draft, audit)
            return self._made(name, draft, audit)

    def keep(
        self,
        asked: Asked,
        name: str,
        *,
        as_of: date,
        notify: Notify = lambda sentence: None,
        on_progress: Progress | None = None,
    ) -> AuditOutcome[CitationAudit]:
        """Judge as `check` does, and store the audit with what people have decided.

        Raises:
            UsageError, PublicationError, StorageError: as `audit_citations`.
        """
        path = self.path(name)
        outcome = audit_citations(asked, path, as_of=as_of, notify=notify, on_progress=on_progress)
        draft = read_draft(path)
        with self._lock:
            if draft.digest == outcome.audit.draft_digest:
                self._audits[name] = (draft, outcome.audit)
        return outcome

    def judge(
        self,
        asked: Asked,
        name: str,
        key: str,
        decision: Decision,
        *,
        by: str,
        at: datetime,
        seen: int,
        version: str,
        comment: str = "",
        chosen: str = "",
    ) -> Judgement:
        """Keep what a person has decided on an item.

        Args:
            seen: number of the last judgement on it that the person has seen, 0 for none.
            version: of the source's content that the person has seen.
            chosen: id of another chunk of the source; empty for the passage that was shown.

        Raises:
            ChangedMeanwhileError: sentence, source or judgement are not what was seen; nothing was
                kept.
            UsageError: the decision does not fit, or the document has no such chunk.
        """
        review = self.open(name)
        item = review.find(key) if review is not None else None
        if review is None or item is None:
            raise ChangedMeanwhileError(
                f"{name} was edited since this page was loaded, and does not hold this sentence "
                "with this citation any more. Nothing was kept: load the page again."
            )
        if item.version != version:
            raise ChangedMeanwhileError(
                f"`{item.row.doc_uid}` has changed since this page was loaded. Nothing was kept: "
                "look at what it says now."
            )
        judgement = judge_row(
            item.machine,
            decision,
            by=by,
            at=at.astimezone().isoformat(timespec="seconds"),
            draft=review.draft.name,
            draft_digest=review.draft.digest,
            text=review.draft.text,
            comment=comment,
            chosen=self._chosen(asked, item, chosen) if chosen else None,
        )
        return append_judgement(self._workspace, judgement, seen=seen)

    def edit(
        self,
        asked: Asked,
        name: str,
        edit: SentenceEdit,
        *,
        by: str,
        at: datetime,
        notify: Notify = lambda sentence: None,
    ) -> tuple[Review, Item | None]:
        """Replace a sentence of a draft, judge it again, and return the review and its first item.

        Raises:
            ChangedMeanwhileError, UsageError, StorageError: as `replace_sentence`.
            PublicationError: the sentence stands in the file, and nothing is published to judge it.
        """
        path = self.path(name)
        replace_sentence(self._workspace, path, edit, by=by, at=at, notify=notify)
        review = self.check(asked, name, as_of=at.date(), notify=notify)
        return review, review.at(edit.start, edit.start + max(1, len(edit.after.strip())))

    def document(self, asked: Asked, item: Item) -> CitedDocument | None:
        """Return the document of an item with its passages; None where it means none (any more)."""
        row = item.row
        if row.namespace is None:
            return None
        key = (row.namespace, row.doc_uid, item.machine.content_version or "")
        with self._lock:
            if key in self._documents:
                return self._documents[key]
        with open_published(asked) as library:
            found = library.find(row.doc_uid, row.namespace)
            if not found or found[0].withheld_reason is not None:
                return None
            document = library.load(found[0])
        with self._lock:
            self._documents[key] = document
            while len(self._documents) > _MOST_DOCUMENTS:
                del self._documents[next(iter(self._documents))]
        return document

    def _chosen(self, asked: Asked, item: Item, chunk_id: str) -> ChosenPassage:
        document = self.document(asked, item)
        passages: Sequence[Any] = document.passages if document is not None else ()
        for passage in passages:
            if passage.chunk_id == chunk_id:
                return ChosenPassage(passage.text, place_of(passage), chunk_id)
        raise UsageError(f"`{item.row.doc_uid}` has no passage '{chunk_id}'. Choose another one.")

    def _made(self, name: str, draft: Draft, audit: CitationAudit) -> Review:
        """Return the review of an audit with the judgements of now; the last one where it holds."""
        path = self._workspace.judgement_journal
        stamp = _stamp(path)
        if stamp != self._judgements[0] or stamp is None:
            self._judgements = (stamp, judgements_of(self._workspace))
        is_current = self._is_current(audit)
        mark = (stamp, is_current)
        last = self._reviews.get(name)
        if last is None or last[0] is not audit or last[1] != mark:
            made = make_review(
                name,
                draft,
                audit,
                self._judgements[1],
                is_current=is_current,
                before=last[2] if last is not None and last[0] is audit else None,
            )
            last = self._reviews[name] = (audit, mark, made)
        return last[2]

    def _is_current(self, audit: CitationAudit) -> bool:
        for name, publication in audit.publications.items():
            if name not in self._pointers:
                # Of a namespace that is not declared any more nothing is published.
                if name not in self._workspace.namespace_names:
                    return False
                self._pointers[name] = self._workspace.namespace(name).publications
            pointer = read_pointer(self._pointers[name])
            if pointer is None or pointer.current != publication:
                return False
        return True

    def _counts(self, name: str) -> dict[str, int]:
        stem = CITATIONS.stem(self._workspace, self._workspace.drafts / name)
        versions = find_versions(self._workspace.outputs / "audits", stem, ".json")
        if not versions:
            return {}
        counts: Any = read_json(versions[-1][1], "citation audit").get("counts", {})
        return {str(status): int(count) for status, count in counts.items()}


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size
