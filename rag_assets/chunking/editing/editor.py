"""A person's draft of the chunks of one document (spec 001, DraftEditor and ChunkDraft).

An editor sees a document as it was at one moment: its chunks as they are cut now, with the
operations of its journal applied. Whatever it does is appended to the journal at once, where
nobody else has appended since; a draft is kept in nothing else.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import Any

from rag_assets.chunking.editing.folding import (
    Edited,
    Kind,
    Numbered,
    Operation,
    ParentTarget,
    Piece,
    Target,
    visible,
)
from rag_assets.chunking.editing.journal import (
    Event,
    EventKind,
    History,
    append_event,
    effective,
    moved,
    read_history,
)
from rag_assets.chunking.editing.stage import ChunkDraft, HeldDocuments, hold_document
from rag_assets.model import DraftMovedError, UsageError, drop_controls, require_text
from rag_assets.workspace import Namespace

# Of an edited chunk; places in it are found by comparing it with the print, which is quadratic.
_LONGEST_TEXT = 50_000
# Of a parent, what tells where it begins.
_OPENING = 120


class DraftEditor:
    """Edits the chunks of one document.

    Chunks are named by their key or by their order in `draft()`. A key is where its chunk is
    printed: it stays as long as the chunk is not split or merged. Every operation returns the draft
    as it is then.

    Args:
        namespace: that the document is in.
        doc_uid: of the document.
        by: who edits; stands in the journal.
        revision: what the person has seen; the newest where None.
        now: a clock; for the journal's readers alone.
        held: the documents of who opens an editor again and again; read again without.

    Raises:
        UsageError: no such document, or it is not cut into chunks yet.
        DraftMovedError: the journal is at another revision than the person has seen.
        DamagedFileError: the journal, or what was made of the document, is not what was written.
    """

    def __init__(
        self,
        namespace: Namespace,
        doc_uid: str,
        *,
        by: str,
        revision: int | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        held: HeldDocuments | None = None,
    ) -> None:
        if not require_text(by, "the author's name").strip():
            raise UsageError("say who edits: the journal names the author of every operation.")
        self.namespace, self.doc_uid = namespace, doc_uid
        self._by, self._now = by.strip(), now
        self.history: History = read_history(namespace, doc_uid)
        self.held = held.get(namespace, doc_uid) if held else hold_document(namespace, doc_uid)
        self._made = self.held.made
        self._fold()
        # Who repeats what ended a draft, since it was cut short, has seen the draft before its end.
        ended = self.history.ended_by is not None and self.history.events[-1].by == self._by
        seen = {self.history.revision, self.history.revision - ended}
        if revision is not None and revision not in seen:
            raise DraftMovedError(moved(self.history, doc_uid, revision))

    def _fold(self) -> None:
        self._edited: Edited = self.held.fold(self.history.drafted)

    def draft(self) -> ChunkDraft:
        """Return the chunks as they are now, in order, with what waits."""
        return self._draft(self.history, self._edited)

    def draft_at(self, revision: int) -> ChunkDraft:
        """Return what `draft()` returned at an earlier revision, of the chunks as they are cut now.

        Args:
            revision: from 0 to that of the history.
        """
        past = History(self.doc_uid, self.history.events[:revision])
        edited = self.held.fold(past.drafted)
        self._fold()
        return self._draft(past, edited)

    def published(self) -> ChunkDraft:
        """Return the chunks as they are published, or will be by the next build."""
        edited = self.held.fold(self.history.published)
        self._fold()
        return self._draft(self.history, edited)

    @property
    def parents(self) -> tuple[tuple[str, str], ...]:
        """Label and first words of each parent of the document."""
        cut = self._made.cut
        return tuple(
            (each.label, cut.print.slice(each.first, min(each.last, each.first + _OPENING)))
            for each in cut.parents
            if each.first < each.last
        )

    def _draft(self, history: History, edited: Edited) -> ChunkDraft:
        return ChunkDraft(
            self.doc_uid,
            history.revision,
            history.is_open,
            self.held.show(edited),
            edited.conflicts,
            self._made.document.attachments,
        )

    def create(self, reason: str = "") -> ChunkDraft:
        """Begin a draft from what is published.

        Raises:
            UsageError: there is one already.
        """
        if self.history.is_open:
            begun = next(e for e in reversed(self.history.events) if e.event == "create")
            raise UsageError(
                f"'{self.doc_uid}' has a draft already, begun by {begun.by} at {begun.at}. Go on "
                f"with it, or `rag draft edit {self.doc_uid} discard`."
            )
        return self._append("create", reason)

    def edit_text(self, chunk: int | str, text: str, reason: str = "") -> ChunkDraft:
        """Put another text instead of a chunk's; what is printed is kept beside it.

        Raises:
            UsageError: nothing is visible in it, or it is what stands there already.
            DraftMovedError: somebody else has changed the draft meanwhile; so of all operations.
        """
        piece = self._piece(chunk)
        given = drop_controls(require_text(text, "the text")).strip()
        if not visible(given):
            raise UsageError("the text is empty; `disable` takes a chunk out of every search.")
        if len(given) > _LONGEST_TEXT:
            raise UsageError(
                f"the text has {len(given)} characters; a chunk has at most {_LONGEST_TEXT}. Split "
                "the chunk first."
            )
        if given == self._text(piece):
            raise UsageError("the chunk has this text already; nothing was changed.")
        return self._do("edit_text", piece, reason, text=given)

    def split_at(self, chunk: int | str, offset: int, reason: str = "") -> ChunkDraft:
        """Make two chunks of one.

        Args:
            offset: characters of the chunk's text that come before the cut.

        Raises:
            UsageError: there is no text on one side.
        """
        piece = self._piece(chunk)
        text = self._text(piece)
        if not isinstance(offset, int) or not 0 < offset < len(text):
            raise UsageError(
                f"'offset' must be inside the chunk's {len(text)} characters, got {offset!r}."
            )
        shown = len(visible(text[:offset]))
        printed = visible(self._made.cut.print.slice(*piece.span))
        at = shown if piece.edited is None else _printed_place(visible(text), printed, shown)
        return self._do("split_at", piece, reason, shown_at=shown, printed_at=at)

    def merge_with_next(self, chunk: int | str, reason: str = "") -> ChunkDraft:
        """Make one chunk of it and the one after it.

        Raises:
            UsageError: none follows, or the two do not follow one another in print.
        """
        piece = self._piece(chunk)
        index = self._edited.pieces.index(piece) + 1
        if index == len(self._edited.pieces):
            raise UsageError("it is the last chunk and has no next one to merge with.")
        return self._do("merge_with_next", piece, reason, other=self._edited.pieces[index])

    def move_before(self, chunk: int | str, other: int | str, reason: str = "") -> ChunkDraft:
        """Put a chunk before another one of the document."""
        return self._do("move_before", self._piece(chunk), reason, other=self._piece(other))

    def move_after(self, chunk: int | str, other: int | str, reason: str = "") -> ChunkDraft:
        """Put a chunk behind another one of the document."""
        return self._do("move_after", self._piece(chunk), reason, other=self._piece(other))

    def reparent(self, chunk: int | str, parent_label: str, reason: str = "") -> ChunkDraft:
        """Show a chunk in another parent; that parent's text stays what the splitter made.

        Raises:
            UsageError: the document has no such parent.
        """
        piece = self._piece(chunk)
        labels = [parent.label for parent in self._made.cut.parents]
        if parent_label not in labels or parent_label == piece.parent:
            raise UsageError(
                f"the chunk can be shown in another parent of its document, got '{parent_label}' "
                f"(it is in {piece.parent}; parents: {', '.join(labels)})."
            )
        parent = self._made.cut.parents[labels.index(parent_label)]
        opening = (parent.first, min(parent.last, parent.first + _OPENING))
        place = self._made.cut.print.place(*opening)
        target = ParentTarget(parent_label, parent.hash, place)
        return self._do("reparent", piece, reason, parent=target)

    def enable(self, chunk: int | str, reason: str = "") -> ChunkDraft:
        """Let searches find a chunk again."""
        return self._switch("enable", chunk, reason)

    def disable(self, chunk: int | str, reason: str = "") -> ChunkDraft:
        """Take a chunk out of every search."""
        return self._switch("disable", chunk, reason)

    def _switch(self, kind: Kind, chunk: int | str, reason: str) -> ChunkDraft:
        piece = self._piece(chunk)
        if piece.is_enabled == (kind == "enable"):
            raise UsageError(f"the chunk is {kind}d already; nothing was changed.")
        return self._do(kind, piece, reason)

    def undo(self, number: int | None = None, reason: str = "") -> ChunkDraft:
        """Take an operation back, or an undoing; the last operation where none is named.

        Raises:
            UsageError: there is no such operation, or others build on it.
        """
        held = self.history.drafted
        if number is None:
            if not held:
                raise UsageError("there is no operation to undo.")
            number = held[-1].number
        listed = self.history.listed
        if number not in {event.number for event in listed}:
            known = ", ".join(str(each.number) for each in held) or "none"
            raise UsageError(f"no operation {number} to undo (operations: {known}).")
        event = self._event("undo", reason, undoes=number)
        after = self._tried(effective([*listed, event]))
        waits = {conflict.number for conflict in self._edited.conflicts}
        broken = [str(c.number) for c in after.conflicts if c.number not in waits]
        if broken:
            raise UsageError(
                f"operations {', '.join(broken)} build on operation {number}: undo them first."
            )
        return self._keep(event)

    def publish(self, reason: str = "") -> ChunkDraft:
        """Enter in the journal that the draft is published; the next build publishes it.

        Where it is entered already nothing is: the command that did may have been ended before it
        built.

        Raises:
            UsageError: there is no draft, or nothing in it.
        """
        if self.history.ended_by == "publish":
            return self.draft()
        self._require_draft()
        if self.history.drafted == self.history.published:
            raise UsageError(
                f"the draft of '{self.doc_uid}' changes nothing; `rag draft edit {self.doc_uid} "
                "discard` ends it."
            )
        return self._append("publish", reason)

    def discard(self, reason: str = "") -> ChunkDraft:
        """End the draft; what is published stays, the history keeps what was drafted."""
        if self.history.ended_by == "discard":
            return self.draft()
        self._require_draft()
        return self._append("discard", reason)

    def _require_draft(self) -> None:
        if not self.history.is_open:
            raise UsageError(
                f"'{self.doc_uid}' has no draft; `rag draft edit {self.doc_uid}` begins one."
            )

    def _do(
        self, kind: Kind, piece: Piece, reason: str, *, other: Piece | None = None, **given: Any
    ) -> ChunkDraft:
        self._require_draft()
        second = None if other is None else self._target(other)
        operation = Operation(kind, self._target(piece), second, **given)
        event = self._event("operation", reason, operation=operation)
        after = self._tried([*self.history.drafted, Numbered(event.number, operation)])
        refused = next((c for c in after.conflicts if c.number == event.number), None)
        if refused is not None:
            raise UsageError(f"'{kind}' cannot be done: {refused.reason}. Nothing was changed.")
        return self._keep(event)

    def _tried(self, operations: Sequence[Numbered]) -> Edited:
        tried = self.held.fold(operations)
        self._fold()
        return tried

    def _target(self, piece: Piece) -> Target:
        return Target(self._made.cut.print.place(*piece.span), piece.edited)

    def _text(self, piece: Piece) -> str:
        return self._made.cut.print.slice(*piece.span) if piece.edited is None else piece.edited

    def _piece(self, chunk: int | str) -> Piece:
        chunks = self.draft().chunks
        for shown, piece in zip(chunks, self._edited.pieces, strict=True):
            if chunk in {shown.order, shown.key}:
                return piece
        raise UsageError(
            f"the draft of '{self.doc_uid}' has no chunk {chunk!r}: name one by its key or by its "
            f"order from 0 to {len(chunks) - 1} (`rag draft show {self.doc_uid}` lists them)."
        )

    def _append(self, kind: EventKind, reason: str) -> ChunkDraft:
        return self._keep(self._event(kind, reason))

    def _event(
        self,
        kind: EventKind,
        reason: str,
        *,
        operation: Operation | None = None,
        undoes: int | None = None,
    ) -> Event:
        at = self._now().isoformat(timespec="seconds")
        said = require_text(reason, "the reason")
        return Event(self.history.revision + 1, kind, self._by, at, said, operation, undoes)

    def _keep(self, event: Event) -> ChunkDraft:
        self.history = append_event(self.namespace, self.history, event)
        self._fold()
        return self.draft()


def _printed_place(edited: str, printed: str, at: int) -> int:
    """Return the place in a printed text that corresponds to one in its edited form."""
    for _, i1, i2, j1, j2 in SequenceMatcher(None, edited, printed, autojunk=False).get_opcodes():
        if i1 <= at <= i2 and i1 < i2:
            return j1 + round((at - i1) / (i2 - i1) * (j2 - j1))
    return min(at, len(printed))
