"""Products and sets of products: for the form of a feedback and for grouping, nothing else.

A product or preset that was used is never erased.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_assets.lab.differences import lab_words
from rag_assets.lab.store import Reading, Writing, new_id
from rag_assets.model import UsageError

Status = Literal["active", "deleted"]
# Between the names of products in the default name of a preset.
_JOIN = " + "


@dataclass(frozen=True, slots=True)
class Product:
    """A product of the catalogue; `id` is a UUID, `version` the number of its changes."""

    id: str
    version: int
    name: str
    status: Status


@dataclass(frozen=True, slots=True)
class Preset:
    """A set of products; `id` is a UUID, `version` the number of its changes."""

    id: str
    version: int
    name: str
    product_ids: tuple[str, ...]
    status: Status


def list_products(reading: Reading, *, deleted: bool = False) -> list[Product]:
    """Return the products by name; with `deleted` also those that were deleted."""
    found = [Product(**row) for row in reading.rows("products")]
    return sorted(
        (one for one in found if deleted or one.status == "active"),
        key=lambda one: (one.name.casefold(), one.id),
    )


def product_key(name: str) -> str:
    """Return what the names of one product have in common: C2H4, C₂H₄, ethylene, 乙烯."""
    plain = unicodedata.normalize("NFKC", name).strip().casefold()
    return lab_words().substances.get(plain, plain).casefold()


def find_product(reading: Reading, named: str) -> Product:
    """Return the active product of an id, of a name as it is written, or of another name of it.

    Raises:
        UsageError: there is none; the text lists those that there are.
    """
    active, plain = list_products(reading), named.strip().casefold()
    written = [one for one in active if named == one.id or one.name.casefold() == plain]
    for one in written or active:
        if written or product_key(one.name) == product_key(named):
            return one
    known = ", ".join(one.name for one in active) or "none yet"
    raise UsageError(f"there is no product '{named}' (known: {known}). `rag lab edit` adds one.")


def read_product(reading: Reading, product_id: str) -> Product:
    """Return a product by its id, deleted or not.

    Raises:
        UsageError: there is none.
    """
    found = reading.rows("products", id=product_id)
    if not found:
        raise UsageError(f"there is no product of the id '{product_id}' in this laboratory.")
    return Product(**found[0])


def product_names(reading: Reading, ids: Iterable[str]) -> list[str]:
    """Return the names of products, deleted ones included, in the order of `ids`."""
    names = {one.id: one.name for one in list_products(reading, deleted=True)}
    return [names[one] for one in ids]


def add_product(writing: Writing, name: str) -> Product:
    """Add a product.

    Raises:
        UsageError: the name is empty, or an active product has it or another name of it.
    """
    return _save_product(writing, new_id(), "added", _free_name(writing, name), "active")


def rename_product(
    writing: Writing, product_id: str, name: str, seen: int | None = None
) -> Product:
    """Give a product another name; every feedback that names it shows the new one.

    Raises:
        UsageError: the name is empty or taken, or there is no such product.
        ChangedMeanwhileError: it has changed since it was seen.
    """
    product = _seen_product(writing, product_id, seen)
    if product.name == name.strip():
        return product
    free = _free_name(writing, name, but=product_id)
    return _save_product(writing, product_id, "renamed", free, product.status)


def delete_product(writing: Writing, product_id: str, seen: int | None = None) -> Product:
    """Take a product out of the lists; feedback that names it keeps it and still counts.

    Raises:
        UsageError, ChangedMeanwhileError: as `rename_product`.
    """
    product = _seen_product(writing, product_id, seen)
    if product.status == "deleted":
        return product
    return _save_product(writing, product_id, "deleted", product.name, "deleted")


def restore_product(writing: Writing, product_id: str, seen: int | None = None) -> Product:
    """Restore a deleted product to the lists.

    Raises:
        UsageError, ChangedMeanwhileError: as `rename_product`.
    """
    product = _seen_product(writing, product_id, seen)
    if product.status == "active":
        return product
    _free_name(writing, product.name, but=product_id)
    return _save_product(writing, product_id, "restored", product.name, "active")


def _seen_product(writing: Writing, product_id: str, seen: int | None) -> Product:
    writing.require_version("product", product_id, "product", seen)
    return read_product(writing, product_id)


def _save_product(
    writing: Writing, product_id: str, action: str, name: str, status: Status
) -> Product:
    writing.save("product", product_id, action, {"id": product_id, "name": name, "status": status})
    return read_product(writing, product_id)


def _free_name(reading: Reading, name: str, but: str | None = None) -> str:
    clean = " ".join(name.split())
    if not clean:
        raise UsageError("a product needs a name, got an empty one.")
    for one in list_products(reading):
        if one.id != but and product_key(one.name) == product_key(clean):
            raise UsageError(f"there is a product '{one.name}' already ({one.id}).")
    return clean


def list_presets(reading: Reading, *, deleted: bool = False) -> list[Preset]:
    """Return the presets by name; with `deleted` also those that were deleted."""
    rows = reading.rows("presets")
    found = [Preset(**{**row, "product_ids": tuple(row["product_ids"])}) for row in rows]
    return sorted(
        (one for one in found if deleted or one.status == "active"),
        key=lambda one: (one.name.casefold(), one.id),
    )


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
    return _save_preset(writing, preset_id or new_id(), "saved", chosen, ids, "active")


def delete_preset(writing: Writing, preset_id: str, seen: int | None = None) -> Preset:
    """Take a preset out of the lists; saving it again brings it back.

    Raises:
        UsageError, ChangedMeanwhileError: as `save_preset`.
    """
    writing.require_version("preset", preset_id, "preset", seen)
    (old,) = (one for one in list_presets(writing, deleted=True) if one.id == preset_id)
    if old.status == "deleted":
        return old
    return _save_preset(writing, preset_id, "deleted", old.name, old.product_ids, "deleted")


def _save_preset(
    writing: Writing, preset_id: str, action: str, name: str, ids: Sequence[str], status: Status
) -> Preset:
    row = {"id": preset_id, "name": name, "product_ids": list(ids), "status": status}
    writing.save("preset", preset_id, action, row)
    return next(one for one in list_presets(writing, deleted=True) if one.id == preset_id)
