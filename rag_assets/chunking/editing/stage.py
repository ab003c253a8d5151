"""The stage `chunk_edits`: published operations, applied to the chunks of their documents."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import (
    BoxFinder,
    Tokenizer,
    chunks_schema,
    digested_fields,
    locate_pages,
    parents_schema,
    restore_parent,
)
from rag_assets.chunking.editing.folding import Conflict, Cut, Edited, Folder, Numbered, Piece, fold
from rag_assets.chunking.editing.journal import operations_digest
from rag_assets.chunking.editing.rows import STAGE, Passages, cut_of, edited_rows, passages_schema
from rag_assets.model import (
    PageBox,
    Parent,
    ParsedDocument,
    Progress,
    StageOutcome,
    UsageError,
    combine_digests,
    count_of,
    hash_fields,
)
from rag_assets.parsing import read_parsed
from rag_assets.storage import Computed, Entry, Notify, file_identity, read_entries, read_rows
from rag_assets.workspace import Inventory, Namespace, current_identities, require_inventory
from rag_assets.workspace.stages import PARSES, DocumentStage, is_stale, parsed_contents

if TYPE_CHECKING:
    from rag_assets.model import Attachment
# Counts as code: raise it when the same operations and chunks give other rows.
EDITING_VERSION = 2


def refresh_chunk_edits(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    tokenizer: Tokenizer,
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Apply the published operations of every document that has any to its chunks.

    Operations that wait stand in the outcome's warnings and in the note of the content's entry.
    """
    passages = Passages(namespace, inventory)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        import pyarrow as pa

        chunks = read_entries(namespace.record("chunks", partition))
        for content in stale:
            uid, operations = passages.edited[content]
            made = read_made(namespace, partition, content)
            edited = fold(made.cut, operations)
            rows = edited_rows(
                content, made.document, made.cut, edited, made.chunks, made.parents,
                namespace.settings.chunk, tokenizer,
            )  # fmt: skip
            own = [
                (*digested_fields(row), row["edited"], row["is_enabled"], row["edited_by"])
                for row in rows
            ]
            waiting = [asdict(conflict) for conflict in edited.conflicts]
            digest = combine_digests([hash_fields(*each) for each in own] + [hash_fields(waiting)])
            note = {
                "of": chunks[content].digest,
                "doc_uid": uid,
                "enabled": sum(row["is_enabled"] for row in rows),
                "applied": list(edited.applied),
                "waiting": waiting,
                "oversized": [r["order"] for r in rows if r["input_tokens"] > tokenizer.limit],
            }
            entry = Entry(_fingerprint(operations, chunks[content]), digest, len(rows), note)
            yield content, entry, pa.Table.from_pylist(rows, schema=passages_schema())

    wanted = partial(_wanted, namespace, inventory, passages)
    stage = DocumentStage(
        STAGE, passages_schema(), wanted, compute, lambda entry: len(entry.note["applied"])
    )
    outcomes = stage.refresh(namespace, inventory, partitions, notify, on_progress)
    return {
        partition: _with_waiting(passages, partition, outcome)
        for partition, outcome in outcomes.items()
    }


def has_stale_edits(namespace: Namespace, inventory: Inventory) -> bool:
    """Say whether `refresh_chunk_edits` would apply anything. Reads no document.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    passages = Passages(namespace, inventory)
    return any(
        is_stale(namespace, STAGE, key, _wanted(namespace, inventory, passages, key))
        for key in {namespace.partition_of(content) for content in passages.edited}
    )


def _wanted(
    namespace: Namespace, inventory: Inventory, passages: Passages, partition: str
) -> dict[str, str]:
    own = [c for c in passages.edited if namespace.partition_of(c) == partition]
    chunks = cut_contents(namespace, inventory, partition) if own else {}
    return {
        content: _fingerprint(passages.edited[content][1], chunks[content])
        for content in own
        if content in chunks
    }


def cut_contents(namespace: Namespace, inventory: Inventory, partition: str) -> dict[str, Entry]:
    """Return the entries of the chunks that are of the parse that their content has now."""
    parses = parsed_contents(namespace, inventory, partition)
    parents = read_entries(namespace.record("parents", partition))
    return {
        content: entry
        for content, entry in read_entries(namespace.record("chunks", partition)).items()
        if content in parses
        and content in parents
        and parents[content].note["of"] == parses[content].digest
        and entry.note["of"] == parents[content].digest
    }


def _fingerprint(operations: Sequence[Any], chunks: Entry) -> str:
    # The chunks' own covers parse, parents, settings and tokenizer.
    return hash_fields(
        EDITING_VERSION, chunks.fingerprint, chunks.digest, operations_digest(operations)
    )


def _with_waiting(passages: Passages, partition: str, outcome: StageOutcome) -> StageOutcome:
    entries = passages.edit_entries(partition)
    waiting = {uid: note for uid, note in _notes(entries) if note["waiting"] or note["oversized"]}
    warnings = []
    for uid, note in sorted(waiting.items()):
        if note["waiting"]:
            warnings.append(
                f"{uid}: {count_of(len(note['waiting']), 'edit')} could not be applied to the text "
                f"as it is now and wait; `rag draft show {uid}` shows both texts"
            )
        if note["oversized"]:
            warnings.append(
                f"{uid}: edited passages are longer than the models read: "
                f"{', '.join(map(str, note['oversized']))}. Split them."
            )
    count = sum(len(note["waiting"]) for note in waiting.values())
    return replace(
        outcome,
        counts={**outcome.counts, "waiting": count},
        warnings=(*outcome.warnings, *warnings),
    )


def _notes(entries: Mapping[str, Entry]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for entry in entries.values():
        yield entry.note["doc_uid"], entry.note


class Made:
    """What the stages before made of one content.

    Args:
        document: as parsed.
        parents: of it, in order.
        chunks: rows of `chunks_schema`, in order.
        cut: the same, for `fold`.
    """

    def __init__(
        self, document: ParsedDocument, parents: list[Parent], chunks: list[dict[str, Any]]
    ) -> None:
        self.document, self.parents, self.chunks = document, parents, chunks
        self.cut: Cut = cut_of(document, chunks, parents)


def read_made(namespace: Namespace, partition: str, content: str) -> Made:
    """Return what the stages before made of a content whose chunks stand in their record."""
    record = namespace.record
    # Another parser may have made the same parse since, in a file of another name.
    parse = read_entries(record(PARSES, partition))[content]
    above = read_entries(record("parents", partition))[content]
    name = (parse if parse.digest == above.note["of"] else above).note["parsed_file"]
    document, _ = read_parsed(namespace.parsed_folder(partition) / name)
    chunks = read_rows(record("chunks", partition), chunks_schema(), [content]).to_pylist()
    parents = read_rows(record("parents", partition), parents_schema(), [content]).to_pylist()
    return Made(document, [restore_parent(row) for row in parents], chunks)


_KEY = 8
# Of the states that operations led to, how many of the last are kept: undoing goes back to one.
_MOST_STATES = 64
# Documents that are held; a person has a window or two, and a large one takes some 50 MB.
_MOST_HELD = 4


@dataclass(frozen=True, slots=True)
class DraftChunk:
    """A chunk of a draft.

    Args:
        order: its position now, from 0; other operations change it.
        key: names it by what it says and where that is printed, as long as neither is changed.
        text: as it would be read; `printed` what the document prints there.
        start: offset of `printed` in the document's clean text; half-open to `end`.
        by: numbers of the operations that made it what it is; empty as it was cut.
        page: on which `printed` begins, from 1; None without pages.
    """

    order: int
    key: str
    text: str
    printed: str
    start: int
    end: int
    parent_label: str
    is_enabled: bool
    by: tuple[int, ...] = ()
    page: int | None = None

    @property
    def is_edited(self) -> bool:
        """Whether another text stands in place of the printed one."""
        return self.text != self.printed


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A document's chunks as a draft has them (spec 001).

    Args:
        document_id: its uid.
        revision: of the journal: how much had happened when it was read.
        is_open: whether there is a draft; else this is what is published.
        conflicts: operations that wait, with what was seen and what is there now.
        attachments: figures and tables of the document.
    """

    document_id: str
    revision: int
    is_open: bool
    chunks: tuple[DraftChunk, ...]
    conflicts: tuple[Conflict, ...] = ()
    attachments: "tuple[Attachment, ...]" = field(default=(), repr=False)


class HeldDocument:
    """A document as it is cut.

    Args:
        content_hash: of its bytes.
        version: of what it was made from; another one where it was parsed or cut again.
        made: by the stages before.
    """

    def __init__(self, content_hash: str, version: str, made: Made) -> None:
        self.content_hash, self.version, self.made = content_hash, version, made
        self.cut = made.cut
        self._folder = Folder(made.cut)
        self._done: list[Numbered] = []
        self._conflicts: list[Conflict | None] = []
        self._states: OrderedDict[int, tuple[Piece, ...]] = OrderedDict()
        self._folded: Edited | None = None
        self._shown: tuple[Edited, tuple[DraftChunk, ...]] = (Edited(()), ())
        self._named: dict[tuple[int, int, str | None], tuple[str, str, int, int, int | None]] = {}

    def fold(self, operations: Sequence[Numbered]) -> Edited:
        """Return what `folding.fold` does, from where the last call agrees with this one on."""
        same = 0
        for done, wanted in zip(self._done, operations, strict=False):
            if done is not wanted and done != wanted:
                break
            same += 1
        kept = same if same == len(self._done) else max(
            (count for count in self._states if count <= same), default=0
        )  # fmt: skip
        if kept == len(self._done) == len(operations) and self._folded is not None:
            return self._folded
        if kept < len(self._done):
            self._folder.pieces = list(self._states[kept] if kept else self.cut.chunks)
            del self._done[kept:], self._conflicts[kept:]
            self._states = OrderedDict((n, s) for n, s in self._states.items() if n <= kept)
        for each in operations[kept:]:
            self._conflicts.append(self._folder.do(each))
            self._done.append(each)
            self._states[len(self._done)] = tuple(self._folder.pieces)
            if len(self._states) > _MOST_STATES:
                self._states.popitem(last=False)
        conflicts = tuple(conflict for conflict in self._conflicts if conflict is not None)
        waiting = {conflict.number for conflict in conflicts}
        applied = tuple(each.number for each in self._done if each.number not in waiting)
        self._folded = Edited(tuple(self._folder.pieces), conflicts, applied)
        return self._folded

    def show(self, edited: Edited) -> tuple[DraftChunk, ...]:
        """Return the chunks that operations led to, as people see them."""
        before, shown = self._shown
        if before is not edited:
            # Most pieces are where they were, and the same objects.
            same = len(shown)
            chunks = tuple(
                shown[order]
                if order < same and before.pieces[order] is piece
                else self._show(order, piece)
                for order, piece in enumerate(edited.pieces)
            )
            self._shown = (edited, chunks)
        return self._shown[1]

    def _show(self, order: int, piece: Piece) -> DraftChunk:
        known = (piece.first, piece.last, piece.edited)
        if known not in self._named:
            self._named[known] = self._name(piece)
        key, printed, start, end, page = self._named[known]
        text = printed if piece.edited is None else piece.edited
        return DraftChunk(
            order, key, text, printed, start, end, piece.parent, piece.is_enabled, piece.by, page
        )

    def _name(self, piece: Piece) -> tuple[str, str, int, int, int | None]:
        printed = self.cut.print.slice(*piece.span)
        place = self.cut.print.place(*piece.span)
        key = hash_fields(place.before, printed, place.after, place.nth)[:_KEY]
        start, end = self.cut.print.offsets(*piece.span)
        return key, printed, start, end, locate_pages(self._pages, start, end)[0]

    @cached_property
    def _pages(self) -> list[tuple[int, int]]:
        return [(page.number, page.start) for page in self.made.document.pages]

    @cached_property
    def _boxes(self) -> BoxFinder:
        return BoxFinder(self.made.document)

    def find_boxes(self, start: int, end: int) -> tuple[PageBox, ...]:
        """Return the rectangles of a span of the clean text; none without printed pages."""
        return self._boxes.find(start, end)


class HeldDocuments:
    """The documents that were edited last, read again where anything of them was made again.

    Several threads may ask; one at a time works with what it is given, and has `lock` while it
    does.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._held: OrderedDict[tuple[str, str], tuple[object, HeldDocument]] = OrderedDict()

    def get(self, namespace: Namespace, doc_uid: str) -> HeldDocument:
        """Return a document; as `hold_document`."""
        key = (namespace.name, doc_uid)
        with self.lock:
            stamp, held = self._held.get(key, (None, None))
            if held is None:
                held = hold_document(namespace, doc_uid)
            now = _stamp(namespace, held.content_hash)
            if (
                stamp != now
            ):  # looked at before it is read: what is replaced meanwhile is seen later
                held = hold_document(namespace, doc_uid, held)
            self._held[key] = (now, held)
            self._held.move_to_end(key)
            if len(self._held) > _MOST_HELD:
                self._held.popitem(last=False)
            return held


def hold_document(
    namespace: Namespace, doc_uid: str, known: HeldDocument | None = None
) -> HeldDocument:
    """Return a document as it is cut now; `known` where that is of the same version.

    Raises:
        UsageError: no such document, or it is not cut into chunks yet.
        DamagedFileError: what was made of it is not what was written.
    """
    inventory = require_inventory(namespace)
    uids = current_identities(namespace, inventory).uids
    content = next((content for content, uid in uids.items() if uid == doc_uid), None)
    if content is None:
        raise UsageError(
            f"no document '{doc_uid}' in namespace '{namespace.name}'; `rag documents` lists them."
        )
    partition = namespace.partition_of(content)
    chunks = cut_contents(namespace, inventory, partition)
    if content not in chunks:
        raise UsageError(
            f"'{doc_uid}' is not cut into chunks, or was parsed again since; `rag documents` says "
            "why, `rag ingest` cuts it."
        )
    version = hash_fields(content, chunks[content].fingerprint, chunks[content].digest)
    if known is not None and known.version == version:
        return known
    return HeldDocument(content, version, read_made(namespace, partition, content))


def _stamp(namespace: Namespace, content: str) -> object:
    """Return what is another where a file that a held document was read from was replaced."""
    partition = namespace.partition_of(content)
    records = [namespace.record(name, partition) for name in (PARSES, "parents", "chunks")]
    return [file_identity(path) for path in (namespace.inventory, namespace.journal, *records)]
