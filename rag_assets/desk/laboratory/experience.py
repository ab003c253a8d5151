"""What was learned: items, their sources, corrections by hand and the log of them."""

from dataclasses import dataclass, replace
from typing import Annotated, Any  # values of items

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.laboratory.shared import LabOf, OpenLab, seen_of, status_of, texts_of
from rag_assets.desk.rendering import page
from rag_assets.desk.state import FormOf, text_of
from rag_assets.lab.experience import (
    KINDS,
    ROLES,
    Item,
    add_note,
    archive_item,
    edit_item,
    edit_log,
    find_item,
    list_items,
    restore_item,
)
from rag_assets.lab.recall import recall
from rag_assets.model import RagError, UsageError

router = APIRouter(prefix="/experience")
TYPES = ("reasoningbank_item", "manual_note")
STATUSES = ("active", "archived")
_LOG_ROWS = 200


@dataclass(frozen=True)
class TypedItem:
    """The form of an item as it was typed; further fields as (name, text)."""

    seen: int = 0
    role: str = "global"
    kind: str = "note"
    title: str = ""
    description: str = ""
    content: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    reason: str = ""

    def values(self) -> dict[str, Any]:
        """Return what is said, by field.

        Raises:
            UsageError: a further field has a text and no name, or occurs twice.
        """
        extra: dict[str, Any] = {}
        for name, text in self.fields:
            if not name.strip():
                if text.strip():
                    raise UsageError("a further field has a text and no name.")
                continue
            if name.strip() in extra:
                raise UsageError(f"the further field '{name.strip()}' occurs twice.")
            extra[name.strip()] = text
        plain = {key: getattr(self, key) for key in ("role", "kind", "title", "description",
                                                     "content")}  # fmt: skip
        return {**plain, "extra": extra}


@router.get("")
def list_all(
    request: Request, open_lab: LabOf, role: str = "", status: str = "active",
    made_as: Annotated[str, Query(alias="type")] = "", question: str = "",
) -> Response:  # fmt: skip
    """List items by role, status and type, or what an agent of a role would be given."""
    equal = {"role": role, "status": status, "type": made_as}
    with open_lab.lab.store.reading() as reading:
        found = list_items(reading, **{name: value for name, value in equal.items() if value})
    given, settings = None, open_lab.lab.settings.experience
    if question.strip():
        given = recall(
            open_lab.lab.store, open_lab.lab.nearness, question, role or "global",
            k_role=settings.k_role, k_global=settings.k_global,
        )  # fmt: skip
    return page(
        request, "lab/experience.html", items=list(reversed(found)), given=given, equal=equal,
        question=question, roles=ROLES, types=TYPES, statuses=STATUSES, settings=settings,
    )  # fmt: skip


@router.get("/log")
def log(request: Request, open_lab: LabOf, begin: int = 0) -> Response:
    """Show what people did to items, and what was rolled back, the newest first."""
    with open_lab.lab.store.reading() as reading:
        rows = list(reversed(edit_log(reading)))
    return page(
        request, "lab/experience_log.html", rows=rows[begin : begin + _LOG_ROWS], begin=begin,
        step=_LOG_ROWS, count=len(rows),
    )  # fmt: skip


@router.get("/new")
def new(request: Request) -> Response:
    """Show an empty form."""
    return _note_form(request, TypedItem())


@router.post("/new")
def add(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Write an item by hand."""
    typed = _typed(form)
    if text_of(form, "do") == "field":
        return _note_form(request, replace(typed, fields=(*typed.fields, ("", ""))))
    try:
        with open_lab.writing() as writing:
            item = add_note(writing, typed.values(), typed.reason)
    except RagError as error:
        return _note_form(request, typed, str(error), status_of(error))
    return RedirectResponse(f"/lab/experience/mem:{item.id}", 303)


@router.get("/{named}")
def show(request: Request, open_lab: LabOf, named: str) -> Response:
    """Show an item whole, tombstones too."""
    item = _item(open_lab, named)
    return _item_page(request, open_lab, item, _as_stored(item))


@router.post("/{named}")
def change(request: Request, open_lab: LabOf, named: str, form: FormOf) -> Response:
    """Store an edit, archive or restore; shown again where somebody was faster."""
    item = _item(open_lab, named)
    typed, do = _typed(form), text_of(form, "do")
    if do == "field":
        more = replace(typed, fields=(*typed.fields, ("", "")))
        return _item_page(request, open_lab, item, more, is_open=True)
    try:
        with open_lab.writing() as writing:
            if do == "archive":
                archive_item(writing, item.id, typed.seen, typed.reason)
            elif do == "restore":
                restore_item(writing, item.id, typed.seen, typed.reason)
            else:
                edit_item(writing, item.id, _changes(item, typed), typed.seen, typed.reason)
    except RagError as error:
        now = _item(open_lab, named)
        # Saved again it would be on purpose: it was told what it takes the place of.
        kept = replace(typed, seen=now.version) if do == "edit" else _as_stored(now)
        return _item_page(request, open_lab, now, kept, str(error), status_of(error))
    return RedirectResponse(f"/lab/experience/mem:{item.id}", 303)


def _item(open_lab: OpenLab, named: str) -> Item:
    with open_lab.lab.store.reading() as reading:
        try:
            return find_item(reading, named)
        except UsageError as error:
            raise HTTPException(404, str(error)) from error


def _typed(form: FormData) -> TypedItem:
    names = ("role", "kind", "title", "description", "content", "reason")
    pairs = zip(texts_of(form, "field"), texts_of(form, "field_text"), strict=False)
    return TypedItem(
        seen=seen_of(form), fields=tuple(pairs), **{name: text_of(form, name) for name in names}
    )


def _as_stored(item: Item) -> TypedItem:
    return TypedItem(
        item.version, item.role, item.kind, item.title, item.description, item.content,
        tuple((name, value) for name, value in item.extra.items() if isinstance(value, str)),
    )  # fmt: skip


def _changes(item: Item, typed: TypedItem) -> dict[str, Any]:
    """Return what is said; further fields that are no text are not in the form and stay."""
    values = typed.values()
    kept = {name: value for name, value in item.extra.items() if not isinstance(value, str)}
    return {**values, "extra": {**kept, **values["extra"]}}


def _note_form(
    request: Request, typed: TypedItem, trouble: str = "", status: int = 200
) -> Response:
    return page(
        request, "lab/note.html", status, typed=typed, trouble=trouble, roles=ROLES, kinds=KINDS
    )


def _item_page(
    request: Request, open_lab: OpenLab, item: Item, typed: TypedItem, trouble: str = "",
    status: int = 200, *, is_open: bool = False,
) -> Response:  # fmt: skip
    with open_lab.lab.store.reading() as reading:
        rows = edit_log(reading, item.id)
    return page(
        request, "lab/item.html", status, item=item, typed=typed, trouble=trouble, rows=rows,
        roles=ROLES, kinds=KINDS, is_open=is_open,
    )  # fmt: skip
