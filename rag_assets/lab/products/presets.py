"""Presets: sets of products by a name, for the form of a feedback. They hold no values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from rag_assets.lab.products.catalogue import product_names, read_product
from rag_assets.lab.store import Draft, EntityKind, Event, Reading, Rows, Writing, new_id
from rag_assets.lab.store.tables import preset_products, presets
from rag_assets.model import UsageError

# Between the names of products in the default name of a preset.
_JOIN = " + "


@dataclass(frozen=True, slots=True)
class Preset:
    """A set of products; `id` is a UUID, `version` the number of its events."""

    id: str
    name: str
    product_ids: tuple[str, ...]
    status: Literal["active", "deleted"]
    version: int


def list_presets(reading: Reading, *, deleted: bool = False) -> list[Preset]:
    """Return the presets by name; with `deleted` also those that were deleted."""
    found = [_preset(reading, row) for row in reading.rows(presets)]
    return sorted(
        (one for one in found if deleted or one.status == "active"),
        key=lambda one: (one.name.casefold(), one.id),
    )


def find_preset(reading: Reading, named: str) -> Preset:
    """Return the active preset of a name or id.

    Raises:
        UsageError: there is none, or several have the name.
    """
    active = list_presets(reading)
    found = [one for one in active if named == one.id] or [
        one for one in active if one.name.casefold() == named.strip().casefold()
    ]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(one.id for one in found)
        raise UsageError(f"several presets are called '{named}': name one by its id ({ids}).")
    known = ", ".join(one.name for one in active) or "none yet"
    raise UsageError(f"there is no preset '{named}' (known: {known}).")


def save_preset(
    writing: Writing,
    product_ids: Sequence[str],
    name: str | None = None,
    preset_id: str | None = None,
    seen: int | None = None,
) -> Preset:
    """Make a preset, or change one.

    Args:
        product_ids: of the catalogue, each once.
        name: None for the names of the products, joined.
        preset_id: which one is changed; None for a new one.
        seen: the version that was seen.

    Raises:
        UsageError: no products, one twice, one that is not in the catalogue.
        ChangedMeanwhileError: it has changed since it was seen.
    """
    ids = list(product_ids)
    if not ids or len(set(ids)) != len(ids):
        raise UsageError("a preset is a set of products: name at least one, and each once.")
    for one in ids:
        read_product(writing, one)
    if preset_id is not None:
        writing.require_version("preset", preset_id, "preset", seen)
    chosen = " ".join((name or "").split()) or _JOIN.join(product_names(writing, ids))
    subject = preset_id or new_id()
    writing.append(Draft("preset", subject, "saved", {"name": chosen, "product_ids": ids}))
    return _read(writing, subject)


def delete_preset(writing: Writing, preset_id: str, seen: int | None = None) -> Preset:
    """Take a preset out of the lists; saving it again brings it back.

    Raises:
        UsageError, ChangedMeanwhileError: as `save_preset`.
    """
    writing.require_version("preset", preset_id, "preset", seen)
    if _read(writing, preset_id).status == "active":
        writing.append(Draft("preset", preset_id, "deleted"))
    return _read(writing, preset_id)


def _read(reading: Reading, preset_id: str) -> Preset:
    return _preset(reading, reading.rows(presets, id=preset_id)[0])


def _preset(reading: Reading, row: dict[str, Any]) -> Preset:
    members = reading.rows(preset_products, preset_id=row["id"])
    ids = tuple(member["product_id"] for member in sorted(members, key=lambda m: m["place"]))
    status = cast("Literal['active', 'deleted']", row["status"])
    return Preset(row["id"], row["name"], ids, status, row["version"])


def _state(stream: Sequence[Event]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for event in stream:
        match event.kind:
            case "saved":
                state = {**event.body, "status": "active"}
            case "deleted":
                state["status"] = "deleted"
            case other:
                raise ValueError(f"a preset knows no event '{other}'.")
    return state


def _rows(subject: str, stream: Sequence[Event]) -> Rows:
    state = _state(stream)
    members = state.pop("product_ids")
    return {
        "presets": [{"id": subject, "version": len(stream), **state}],
        "preset_products": [
            {"preset_id": subject, "place": place, "product_id": member}
            for place, member in enumerate(members)
        ],
    }


PRESETS = EntityKind("preset", _rows, _state)
