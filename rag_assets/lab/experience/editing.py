"""What people do to items by hand: notes of their own, corrections, soft deletion."""

from collections.abc import Mapping
from typing import Any

from rag_assets.lab.experience.items import EDITABLE, KINDS, ROLES, Item, fold_item
from rag_assets.lab.experience.stored import CITATION, find_item
from rag_assets.lab.store import Draft, Writing, new_id
from rag_assets.model import UsageError, shown_value

_DEFAULTS: dict[str, Any] = {
    "role": "global",
    "kind": "note",
    "title": "",
    "description": "",
    "extra": {},
}


def add_note(writing: Writing, values: Mapping[str, Any], reason: str = "") -> Item:
    """Write an item by hand.

    Args:
        values: `content`, and where they differ from the defaults `role` (global), `kind` (note),
            `title`, `description`, `extra`.
        reason: why, for the log.

    Raises:
        UsageError: a field is unknown or wrong, or there is no content.
    """
    whole = {**_DEFAULTS, **_checked(values)}
    if not str(whole.get("content", "")).strip():
        raise UsageError("an item needs a 'content', got none.")
    body = {**whole, "type": "manual_note", "lessons": [], "reason": reason}
    item_id = new_id()
    writing.append(Draft("item", item_id, "created", body))
    return find_item(writing, item_id)


def edit_item(
    writing: Writing,
    named: str,
    changes: Mapping[str, Any],
    seen: int | None = None,
    reason: str = "",
) -> Item:
    """Change fields of an item; what does not change writes nothing.

    Raises:
        UsageError: a field is unknown or wrong, or the item is a tombstone.
        ChangedMeanwhileError: it has changed, or was rolled back, since it was seen.
    """
    item = _open(writing, named, seen)
    wanted = {k: v for k, v in _checked(changes).items() if getattr(item, k) != v}
    if "content" in wanted and not str(wanted["content"]).strip():
        raise UsageError("an item needs a 'content', got none. `archive` takes it out of searches.")
    if wanted:
        body = {"changes": wanted, "reason": reason}
        writing.append(Draft("item", item.id, "edited", body))
    return find_item(writing, item.id)


def archive_item(writing: Writing, named: str, seen: int | None = None, reason: str = "") -> Item:
    """Delete an item softly: it is found no more, and its citation still opens.

    Raises:
        UsageError, ChangedMeanwhileError: as `edit_item`.
    """
    item = _open(writing, named, seen)
    if item.is_active:
        writing.append(Draft("item", item.id, "archived", {"reason": reason}))
    return find_item(writing, item.id)


def restore_item(writing: Writing, named: str, seen: int | None = None, reason: str = "") -> Item:
    """Take an archived item back.

    Raises:
        UsageError, ChangedMeanwhileError: as `edit_item`.
    """
    item = _open(writing, named, seen)
    if not item.is_active:
        writing.append(Draft("item", item.id, "restored", {"reason": reason}))
    return find_item(writing, item.id)


def _open(writing: Writing, named: str, seen: int | None) -> Item:
    item_id = named.removeprefix(CITATION)
    item = fold_item(writing.require_version("item", item_id, "item", seen))
    if item.rolled_back:
        moved = ", ".join(f"{CITATION}{one}" for one in item.moved_to)
        where = f" Lessons of other feedback that stood in it are in {moved} now." if moved else ""
        raise UsageError(
            f"item {item_id} was rolled back with the feedback that taught it; it only shows what "
            f"it said.{where}"
        )
    return item


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in values.items():
        if key not in EDITABLE:
            raise UsageError(
                f"an item has no field '{key}' to write (it has {', '.join(EDITABLE)})."
            )
        allowed = {"role": ROLES, "kind": KINDS}.get(key)
        if allowed is not None and value not in allowed:
            raise UsageError(f"'{key}' is one of {', '.join(allowed)}, got {shown_value(value)}.")
        wanted = dict if key == "extra" else str
        if not isinstance(value, wanted):
            raise UsageError(f"'{key}' is {wanted.__name__}, got {shown_value(value)}.")
    return dict(values)
