"""What a form of the chunk editor asks for, done with a draft."""

from starlette.datastructures import FormData

from rag_assets.desk.chunk_views import choose, list_waiting
from rag_assets.desk.state import text_of
from rag_assets.editing import ChunkDraft, DraftChunk, DraftEditor
from rag_assets.model import UsageError


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
