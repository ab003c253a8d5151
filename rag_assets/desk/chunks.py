"""The editor of chunks: its pages, and what each operation does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any  # values of templates
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from rag_assets.chunking import split_sentences
from rag_assets.chunking.editing import ChunkDraft, Conflict, DraftChunk, Event, Numbered
from rag_assets.desk.rendering import PART, page, say
from rag_assets.desk.state import Desk, DeskOf, DrawnPages, FormOf, Job, text_of
from rag_assets.knowledge import DraftEditor
from rag_assets.model import DraftMovedError, PageBox, UsageError

# Of a chunk in the list, characters that are shown; of a parent in the choice of one.
_SHOWN = 96
_PARENT_SHOWN = 60
# Of a text without pages, characters before and behind the chunk that are shown with it.
_AROUND = 1500
# Of what was done, how many of the last are listed.
_MOST_DONE = 60
# More rows than any list has.
_ALL = 10**9
# What a person's choice can be done with the chunk that stands there now.
_RETAKEN = ("edit_text", "enable", "disable")


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk in the list.

    Args:
        begins: the label of its parent where it is the first of it.
    """

    key: str
    text: str
    page: int | None
    is_edited: bool
    is_enabled: bool
    begins: str


@dataclass(frozen=True, slots=True)
class Splice:
    """What another list differs by: from `first` on, `count` rows are replaced by `rows`."""

    first: int
    count: int
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Waiting:
    """An operation that waits.

    Args:
        wanted: the text that it puts; None where it puts none.
        chunk: that stands there now, where that is one.
        can_take: whether it can be done with that chunk as it is.
    """

    conflict: Conflict
    wanted: str | None
    chunk: DraftChunk | None
    can_take: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """An operation that a publication adds or takes back."""

    event: Event
    kind: str
    seen: str
    wanted: str | None


def list_rows(draft: ChunkDraft, first: int = 0, behind: int | None = None) -> list[Row]:
    """Return the rows of a draft, of all its chunks or of those from `first` to before `behind`."""
    rows = []
    for chunk, (*_, begins) in zip(
        draft.chunks[first:behind], _looks(draft)[first:behind], strict=True
    ):
        text = " ".join(chunk.text[: 2 * _SHOWN].split())[:_SHOWN]
        rows.append(Row(chunk.key, text, chunk.page, chunk.is_edited, chunk.is_enabled, begins))
    return rows


def _looks(draft: ChunkDraft) -> list[tuple[str, str, bool, str]]:
    """Return what decides what each row looks like: a key tells where its chunk is printed."""
    looks, before = [], ""
    for chunk in draft.chunks:
        begins = chunk.parent_label if chunk.parent_label != before else ""
        before = chunk.parent_label
        looks.append((chunk.key, chunk.text, chunk.is_enabled, begins))
    return looks


def splice(before: ChunkDraft | None, after: ChunkDraft) -> Splice:
    """Return what a list changed by: the rows between those that are equal at both ends.

    Args:
        before: None for one that is not known: all of it is replaced.
    """
    if before is None:
        return Splice(0, _ALL, list_rows(after))
    old, new = _looks(before), _looks(after)
    shorter = min(len(old), len(new))
    first = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    behind = next(
        (n for n in range(shorter - first) if old[-1 - n] != new[-1 - n]), shorter - first
    )
    rows = list_rows(after, first, len(new) - behind)
    return Splice(first, len(old) - first - behind, rows)


def choose(draft: ChunkDraft, key: str, order: int = 0) -> DraftChunk | None:
    """Return the chunk of a key; else that of an order, or the last; None where there is none."""
    found = next((chunk for chunk in draft.chunks if chunk.key == key), None)
    if found is None and draft.chunks:
        found = draft.chunks[min(max(order, 0), len(draft.chunks) - 1)]
    return found


def find(draft: ChunkDraft, sought: str, after: int) -> DraftChunk | None:
    """Return the chunk of a number, or the next behind `after` that holds a text, in any case."""
    if sought.isdecimal() and len(sought) < 8:
        return choose(draft, "", int(sought))
    folded = sought.casefold()
    turned = [*draft.chunks[after + 1 :], *draft.chunks[: after + 1]]
    return next((chunk for chunk in turned if folded in chunk.text.casefold()), None)


def list_waiting(editor: DraftEditor, draft: ChunkDraft) -> list[Waiting]:
    """Return what waits, with what it wants and what it could be done with."""
    if not draft.conflicts:
        return []
    operations = {each.number: each.operation for each in editor.history.drafted}
    by_text: dict[str, list[DraftChunk]] = {}
    for chunk in draft.chunks:
        by_text.setdefault(chunk.text, []).append(chunk)
    waiting = []
    for conflict in draft.conflicts:
        standing = by_text.get(conflict.now, [])
        now = standing[0] if len(standing) == 1 else None
        can_take = now is not None and conflict.kind in _RETAKEN
        waiting.append(Waiting(conflict, operations[conflict.number].text, now, can_take))
    return waiting


def list_changed(editor: DraftEditor) -> tuple[list[Changed], list[Changed]]:
    """Return the operations that a publication of the draft adds, and those it takes back."""
    history = editor.history
    drafted, published = history.drafted, history.published
    before, after = {each.number for each in published}, {each.number for each in drafted}

    def shown(operations: Sequence[Numbered], other: set[int]) -> list[Changed]:
        return [
            Changed(
                history.events[each.number - 1],
                each.operation.kind,
                each.operation.seen,
                each.operation.text,
            )
            for each in operations
            if each.number not in other
        ]

    return shown(drafted, before), shown(published, after)


def list_done(editor: DraftEditor) -> list[tuple[Event, bool, bool]]:
    """Return (event, whether it holds, whether it can be undone) of what was done last, new first.

    An undoing that holds can be undone too: what it took back is done again.
    """
    history = editor.history
    undone: set[int] = set()
    held: set[int] = set()
    for event in reversed(history.listed):
        if event.number not in undone:
            held.add(event.number)
            if event.undoes is not None:
                undone.add(event.undoes)
    latest = list(reversed(history.listed))[:_MOST_DONE]
    return [(event, event.number in held, history.is_open) for event in latest]


def split_places(chunk: DraftChunk) -> list[tuple[str, int | None]]:
    """Return the sentences of a chunk, and where it can be cut behind each."""
    spans = list(split_sentences(chunk.text))
    ends = [start for start, _ in spans[1:]]
    return [
        (chunk.text[start:end], cut) for (start, end), cut in zip(spans, [*ends, None], strict=True)
    ]


def shown_parents(editor: DraftEditor) -> list[tuple[str, str]]:
    """Return label and first words of each parent."""
    return [(label, " ".join(opening.split())[:_PARENT_SHOWN]) for label, opening in editor.parents]


def show_source(editor: DraftEditor, chunk: DraftChunk, pages: DrawnPages) -> dict[str, Any]:
    """Return the source around a chunk: `pages` with their boxes, or `before`, `printed`, `after`.

    A page is (number, what `DrawnPages.draw` says, boxes).
    """
    held = editor.held
    boxes = held.find_boxes(chunk.start, chunk.end)
    if boxes:
        name = editor.namespace.name
        return {
            "pages": [
                (number, pages.draw(name, held.content_hash, number), found)
                for number, found in _by_page(boxes)
            ]
        }
    text = held.made.document.text
    before = text[max(0, chunk.start - _AROUND) : chunk.start]
    after = text[chunk.end : chunk.end + _AROUND]
    return {
        "pages": [],
        # From a line's beginning, to a line's end, where there are such.
        "before": before if chunk.start <= _AROUND else before.partition("\n")[2] or before,
        "printed": text[chunk.start : chunk.end],
        "after": after.rpartition("\n")[0] or after,
    }


def _by_page(boxes: Sequence[PageBox]) -> Iterator[tuple[int, list[PageBox]]]:
    for number in sorted({box.page for box in boxes}):
        yield number, [box for box in boxes if box.page == number]


def do(editor: DraftEditor, form: FormData) -> DraftChunk | None:
    """Do what a form says; returns the chunk to look at then.

    Raises:
        UsageError: it cannot be done, or the form says nothing that can be.
        DraftMovedError: somebody else has changed the draft meanwhile.
    """
    kind, key = text_of(form, "do"), text_of(form, "chunk")
    before = editor.draft()
    at = choose(before, key)
    order = at.order if at else 0
    if kind == "create":
        editor.create()
    elif kind == "undo":
        named = text_of(form, "number")
        editor.undo(_number(named, "number") if named else None)
    elif kind in ("take_mine", "take_theirs"):
        _settle(
            editor, before, _number(text_of(form, "number"), "number"), is_mine=kind == "take_mine"
        )
    elif at is None or at.key != key:
        raise UsageError(
            f"there is no chunk '{key}' any more: it was changed, split or merged. Choose one of "
            "the list."
        )
    else:
        _change(editor, before, at, kind, form)
    return _seen_next(editor, key, order)


def _change(
    editor: DraftEditor, draft: ChunkDraft, chunk: DraftChunk, kind: str, form: FormData
) -> None:
    match kind:
        case "edit_text":
            editor.edit_text(chunk.key, text_of(form, "text"))
        case "split_at":
            _split(editor, chunk, form)
        case "merge_with_next":
            editor.merge_with_next(chunk.key)
        case "enable":
            editor.enable(chunk.key)
        case "disable":
            editor.disable(chunk.key)
        case "reparent":
            editor.reparent(chunk.key, text_of(form, "parent"))
        case "move_up":
            editor.move_before(chunk.key, _at(draft, chunk.order - 1))
        case "move_down":
            editor.move_after(chunk.key, _at(draft, chunk.order + 1))
        case "move_before":
            editor.move_before(chunk.key, text_of(form, "other"))
        case "move_after":
            editor.move_after(chunk.key, text_of(form, "other"))
        case "move_to":
            _move_to(editor, draft, chunk, _number(text_of(form, "order"), "order"))
        case _:
            raise UsageError(f"the chunk editor has no operation '{kind}'.")


def _split(editor: DraftEditor, chunk: DraftChunk, form: FormData) -> None:
    if "text" in form and text_of(form, "text") != chunk.text:
        raise UsageError("the text was changed and is not saved: save it first, then split it.")
    editor.split_at(chunk.key, _number(text_of(form, "offset"), "offset"))


def _move_to(editor: DraftEditor, draft: ChunkDraft, chunk: DraftChunk, order: int) -> None:
    other = _at(draft, order)
    if order < chunk.order:
        editor.move_before(chunk.key, other)
    else:
        editor.move_after(chunk.key, other)


def _at(draft: ChunkDraft, order: int) -> str:
    if not 0 <= order < len(draft.chunks):
        raise UsageError(
            f"there is no chunk {order} beside which it could be put: they are numbered 0 to "
            f"{len(draft.chunks) - 1}."
        )
    return draft.chunks[order].key


def _settle(editor: DraftEditor, draft: ChunkDraft, number: int, *, is_mine: bool) -> None:
    """Let one of two stand: what the operation wants, or what is there now."""
    waiting = next(
        (each for each in list_waiting(editor, draft) if each.conflict.number == number), None
    )
    if waiting is None:
        raise UsageError(f"operation {number} does not wait any more.")
    if is_mine:
        if waiting.chunk is None or not waiting.can_take:
            raise UsageError(
                f"operation {number} cannot be done with what is there now: do it again by hand, "
                "then keep what is there."
            )
        operation = next(n for n in editor.history.drafted if n.number == number).operation
        # First what is wanted: should that be refused, the operation still waits.
        match operation.kind:
            case "edit_text":
                editor.edit_text(waiting.chunk.key, operation.text or "")
            case "enable":
                editor.enable(waiting.chunk.key)
            case _:
                editor.disable(waiting.chunk.key)
    editor.undo(number)


def _seen_next(editor: DraftEditor, key: str, order: int) -> DraftChunk | None:
    """Return the chunk that the last operation made, else that of the key, or of its order."""
    draft, last = editor.draft(), editor.history.revision
    made = next((chunk for chunk in draft.chunks if last in chunk.by), None)
    return made or choose(draft, key, order)


def _number(text: str, what: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise UsageError(f"'{what}' must be a number, got '{text}'.")
    return int(text)


router = APIRouter(prefix="/library/{namespace}/{doc_uid}/chunks")
# Of a version, what a window carries.
_SHOWN_VERSION = 8


@dataclass(frozen=True, slots=True)
class Seen:
    """What a window has seen: `revision.version`; nothing, or not that, is what it has not."""

    revision: int | None
    version: str

    @classmethod
    def read(cls, text: str) -> "Seen":
        """Return what a form or an address says."""
        revision, _, version = text.partition(".")
        known = revision.isdecimal() and len(revision) < 9
        return cls(int(revision) if known else None, version)


@router.get("")
def show(
    request: Request,
    desk: DeskOf,
    namespace: str,
    doc_uid: str,
    chunk: str = "",
    find: str = "",
    seen: str = "",
) -> Response:
    """Show the chunks of a document, one of them chosen by its key, its number or its text."""
    with desk.documents.lock:
        editor = _open(desk, namespace, doc_uid)
        draft = editor.draft()
        chosen, trouble = choose(draft, chunk), ""
        if find.strip():
            found = _found(draft, find.strip(), chosen)
            trouble = "" if found else say(request, "No chunk holds this text.")
            chosen = found or chosen
        return _view(request, desk, editor, chosen, Seen.read(seen), trouble=trouble, sought=find)


@router.post("")
def change(request: Request, desk: DeskOf, namespace: str, doc_uid: str, form: FormOf) -> Response:
    """Do an operation of the draft, and show what came of it."""
    seen, key = Seen.read(text_of(form, "seen")), text_of(form, "chunk")
    with desk.documents.lock:
        try:
            editor = _open(desk, namespace, doc_uid)
            _require_seen(editor, seen)
            chosen = do(editor, form)
        except DraftMovedError:
            editor = _open(desk, namespace, doc_uid)
            return _moved(request, desk, editor, seen, key, text_of(form, "text"))
        except UsageError as error:
            if request.headers.get(PART):
                raise
            chosen = choose(editor.draft(), key)
            typed = text_of(form, "text") or None
            return _view(
                request, desk, editor, chosen, Seen(None, ""), 400, trouble=str(error), typed=typed
            )
        if request.headers.get(PART):
            return _view(request, desk, editor, chosen, seen, is_own=True)
    chosen_key = chosen.key if chosen else ""
    return RedirectResponse(f"{_address(namespace, doc_uid)}?chunk={chosen_key}", 303)


@router.get("/{ending}")
def ask_to_end(
    request: Request, desk: DeskOf, namespace: str, doc_uid: str, ending: str
) -> Response:
    """Show what publishing or discarding the draft will change."""
    with desk.documents.lock:
        return _ending(request, _open(desk, namespace, doc_uid), ending, "")


@router.post("/{ending}")
def end(
    request: Request, desk: DeskOf, namespace: str, doc_uid: str, ending: str, form: FormOf
) -> Response:
    """Publish the draft and build what it concerns, or discard it."""
    seen, reason = Seen.read(text_of(form, "seen")), text_of(form, "reason")
    address = _address(namespace, doc_uid)
    with desk.documents.lock:
        try:
            editor = _open(desk, namespace, doc_uid)
            _require_seen(editor, seen)
            if ending == "discard":
                editor.discard(reason)
                return RedirectResponse(address, 303)
            _require_ending(ending)
            editor.publish(reason)
        except DraftMovedError as error:
            return _ending(request, _open(desk, namespace, doc_uid), ending, str(error), 409)

    def build(job: Job) -> str:
        def tell(what: str, done: int, of: int) -> None:
            job.tell(f"{what} {done}/{of}" if of else what)

        editor.build(on_progress=tell)
        return address

    job = desk.jobs.start(f"{say(request, 'Publish')}: {doc_uid}", build)
    return RedirectResponse(f"/work/{job.key}", 303)


def _open(desk: Desk, namespace: str, doc_uid: str) -> DraftEditor:
    return DraftEditor(
        desk.workspace.namespace(namespace),
        doc_uid,
        by=desk.person,
        now=desk.now,
        held=desk.documents,
    )


def _address(namespace: str, doc_uid: str) -> str:
    return f"/library/{quote(namespace, safe='')}/{quote(doc_uid, safe='')}/chunks"


def _version(editor: DraftEditor) -> str:
    return editor.held.version[:_SHOWN_VERSION]


def _require_seen(editor: DraftEditor, seen: Seen) -> None:
    if (seen.revision, seen.version) != (editor.history.revision, _version(editor)):
        raise DraftMovedError(
            f"the chunks of '{editor.doc_uid}' are others than this page has shown. Nothing was "
            "changed: look at them again and repeat what still fits."
        )


def _found(draft: ChunkDraft, sought: str, chosen: DraftChunk | None) -> DraftChunk | None:
    return find(draft, sought, chosen.order if chosen else -1)


def _moved(
    request: Request, desk: Desk, editor: DraftEditor, seen: Seen, key: str, typed: str
) -> Response:
    """Tell a window what changed since it was shown, its text beside the chunk as it is now."""
    now, was = editor.draft(), None
    if seen.revision is not None and seen.revision <= editor.history.revision:
        was = next((c for c in editor.draft_at(seen.revision).chunks if c.key == key), None)
    chosen = choose(now, key, was.order if was else 0)
    if was is not None and chosen is not None and chosen.key != key:
        # Its text was changed, or it was cut otherwise: what is printed there now.
        chosen = next((c for c in now.chunks if c.start <= was.start < c.end), chosen)
    is_part = bool(request.headers.get(PART))
    return _view(
        request, desk, editor, chosen, seen, 200 if is_part else 409, typed=typed or None,
        is_refused=True,
    )  # fmt: skip


def _view(
    request: Request,
    desk: Desk,
    editor: DraftEditor,
    chosen: DraftChunk | None,
    seen: Seen,
    status: int = 200,
    *,
    trouble: str = "",
    typed: str | None = None,
    sought: str = "",
    is_own: bool = False,
    is_refused: bool = False,
) -> Response:
    """Show the page, or the part of it that is asked for.

    Args:
        typed: the text that a person typed and that is not saved.
        sought: the number or text that was looked for.
        is_own: whether what changed since `seen` was done by this window.
        is_refused: whether something was asked for that was not done.
    """
    draft, part = editor.draft(), request.headers.get(PART, "")
    address = _address(editor.namespace.name, editor.doc_uid)
    spliced = None
    events: tuple[Event, ...] = ()
    is_recut = seen.version not in ("", _version(editor))
    if seen.revision is not None and seen.revision <= draft.revision:
        events = () if is_own else editor.history.events[seen.revision :]
        before = editor.draft_at(seen.revision)
        # Where a draft begins or ends, rows can be moved that could not, or the reverse.
        has_list = before.is_open == draft.is_open and not is_recut
        if part and not (has_list and seen.revision == draft.revision):
            spliced = splice(before if has_list else None, draft)
    order = chosen.order if chosen else 0
    around = draft.chunks[order - 1 : order] if order else (), draft.chunks[order + 1 : order + 2]
    return page(
        request,
        "chunks.html",
        status,
        namespace=editor.namespace.name,
        doc_uid=editor.doc_uid,
        content_hash=editor.held.content_hash,
        title=editor.held.made.document.title or editor.doc_uid,
        base=address,
        here=f"{address}?{urlencode({'chunk': chosen.key})}" if chosen else address,
        seen=f"{draft.revision}.{_version(editor)}",
        draft=draft,
        rows=[] if part else list_rows(draft),
        spliced=spliced,
        is_recut=is_recut,
        events=events,
        is_refused=is_refused,
        trouble=trouble,
        typed=typed,
        sought=sought,
        chosen=chosen,
        before=around[0][0] if around[0] else None,
        after=around[1][0] if around[1] else None,
        waiting=list_waiting(editor, draft),
        done=list_done(editor),
        parents=[] if part else shown_parents(editor),
        has_parents=len(editor.held.made.parents) > 1,
        places=split_places(chosen) if chosen else [],
        source=lambda: show_source(editor, chosen, desk.pages) if chosen else None,
    )


def _require_ending(ending: str) -> None:
    if ending not in ("publish", "discard"):
        raise UsageError(f"a draft is published or discarded; '{ending}' is neither.")


def _ending(
    request: Request, editor: DraftEditor, ending: str, trouble: str, status: int = 200
) -> Response:
    _require_ending(ending)
    added, taken_back = list_changed(editor)
    before, draft = editor.published(), editor.draft()
    return page(
        request,
        "chunks_ending.html",
        status,
        title=editor.held.made.document.title or editor.doc_uid,
        base=_address(editor.namespace.name, editor.doc_uid),
        seen=f"{draft.revision}.{_version(editor)}",
        ending=ending,
        is_open=draft.is_open,
        added=added,
        taken_back=taken_back,
        before=_counts(before),
        after=_counts(draft),
        waiting=[conflict.number for conflict in draft.conflicts],
        trouble=trouble,
    )


def _counts(draft: ChunkDraft) -> dict[str, Any]:
    return {
        "chunks": len(draft.chunks),
        "edited": sum(chunk.is_edited for chunk in draft.chunks),
        "disabled": sum(not chunk.is_enabled for chunk in draft.chunks),
    }
