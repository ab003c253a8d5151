"""A person who edits chunks of published documents at random."""

import random
from contextlib import suppress
from datetime import UTC, datetime

from rag_assets.chunking.editing import DraftEditor
from rag_assets.model import UsageError
from rag_assets.workspace import Namespace, current_identities, read_inventory

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def open_editor(namespace: Namespace, uid: str, by: str = "ann") -> DraftEditor:
    """Return an editor whose clock stands."""
    return DraftEditor(namespace, uid, by=by, now=lambda: AT)


def edit_at_random(namespace: Namespace, seed: int, operations: int = 3) -> int:
    """Draft a document, and now and then publish, undo or discard; returns what was done."""
    draw = random.Random(seed)
    inventory = read_inventory(namespace)
    uids = sorted(current_identities(namespace, inventory).uids.values()) if inventory else []
    if not uids:
        return 0
    try:
        editor = open_editor(namespace, draw.choice(uids))
    except UsageError:  # not parsed, or not cut yet
        return 0
    before = editor.history.revision
    if not editor.history.is_open:
        editor.create()
    for _ in range(operations):
        with suppress(UsageError):  # refused: nothing was written
            do_at_random(editor, draw)
    with suppress(UsageError):
        if draw.random() < 0.7:
            editor.publish()
        elif draw.random() < 0.3:
            editor.discard()
    return editor.history.revision - before


def do_at_random(editor: DraftEditor, draw: random.Random) -> None:
    """Do one operation; a UsageError where it cannot be done."""
    chunks = editor.draft().chunks
    chunk, other = draw.choice(chunks), draw.choice(chunks)
    number = editor.history.revision
    match draw.choice(("edit", "edit", "split", "merge", "before", "after", "parent", "switch",
                       "undo")):  # fmt: skip
        case "edit":
            editor.edit_text(chunk.key, f"{chunk.text} (edit {number})")
        case "split":
            editor.split_at(chunk.key, len(chunk.text) // 2)
        case "merge":
            editor.merge_with_next(chunk.order)
        case "before":
            editor.move_before(chunk.order, other.order)
        case "after":
            editor.move_after(chunk.order, other.key)
        case "parent":
            editor.reparent(chunk.order, other.parent_label)
        case "switch":
            (editor.disable if chunk.is_enabled else editor.enable)(chunk.order)
        case "undo":
            editor.undo()
