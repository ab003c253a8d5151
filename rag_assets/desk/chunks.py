"""The chunk editor: the chunks of a document's draft beside the page that they are printed on.

Every form carries what its window has seen: the revision of the draft and the version of what the
document was cut to. Where either is another one by now, nothing is done and the window is told
what happened. A window that has a script is answered with the chosen chunk and with the rows by
which its list differs; without one every answer is the whole page.
"""

from dataclasses import dataclass
from typing import Any  # values of templates
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.chunk_doing import do
from rag_assets.desk.chunk_views import (
    choose,
    find,
    list_changed,
    list_done,
    list_rows,
    list_waiting,
    show_source,
    shown_parents,
    splice,
    split_places,
)
from rag_assets.desk.jobs import Job
from rag_assets.desk.rendering import PART, page, say
from rag_assets.desk.state import Desk, DeskOf, FormOf, text_of
from rag_assets.editing import ChunkDraft, DraftChunk, Event
from rag_assets.knowledge import DraftEditor
from rag_assets.model import DraftMovedError, UsageError

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
