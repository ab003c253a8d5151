"""The catalogue of products: what can be measured. A product that was used is never erased."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from rag_assets.lab.store import Draft, EntityKind, Event, Reading, Rows, Writing, new_id
from rag_assets.lab.store.tables import products
from rag_assets.model import UsageError

Status = Literal["active", "deleted"]


@dataclass(frozen=True, slots=True)
class Product:
    """A product of the catalogue; `id` is a UUID, `version` the number of its events."""

    id: str
    name: str
    status: Status
    version: int


def list_products(reading: Reading, *, deleted: bool = False) -> list[Product]:
    """Return the products by name; with `deleted` also those that were deleted."""
    found = [_product(row) for row in reading.rows(products)]
    return sorted(
        (one for one in found if deleted or one.status == "active"),
        key=lambda one: (one.name.casefold(), one.id),
    )


def find_product(reading: Reading, named: str) -> Product:
    """Return the active product of a name or id; letter case counts for nothing.

    Raises:
        UsageError: there is none; the text lists those that there are.
    """
    active = list_products(reading)
    for one in active:
        if named == one.id or one.name.casefold() == named.strip().casefold():
            return one
    known = ", ".join(one.name for one in active) or "none yet"
    raise UsageError(
        f"there is no product '{named}' (known: {known}). `rag lab products add NAME` adds one."
    )


def add_product(writing: Writing, name: str) -> Product:
    """Add a product.

    Raises:
        UsageError: the name is empty, or an active product has it.
    """
    product_id = new_id()
    writing.append(Draft("product", product_id, "added", {"name": _free_name(writing, name)}))
    return read_product(writing, product_id)


def rename_product(
    writing: Writing, product_id: str, name: str, seen: int | None = None
) -> Product:
    """Give a product another name; every feedback that names it shows the new one.

    Raises:
        UsageError: the name is empty or taken, or there is no such product.
        ChangedMeanwhileError: it has changed since it was seen.
    """
    writing.require_version("product", product_id, "product", seen)
    if read_product(writing, product_id).name != name.strip():
        free = _free_name(writing, name, but=product_id)
        writing.append(Draft("product", product_id, "renamed", {"name": free}))
    return read_product(writing, product_id)


def delete_product(writing: Writing, product_id: str, seen: int | None = None) -> Product:
    """Take a product out of the lists; feedback that names it keeps it and still counts.

    Raises:
        UsageError, ChangedMeanwhileError: as `rename_product`.
    """
    writing.require_version("product", product_id, "product", seen)
    if read_product(writing, product_id).status == "active":
        writing.append(Draft("product", product_id, "deleted"))
    return read_product(writing, product_id)


def restore_product(writing: Writing, product_id: str, seen: int | None = None) -> Product:
    """Take a deleted product back into the lists.

    Raises:
        UsageError, ChangedMeanwhileError: as `rename_product`.
    """
    writing.require_version("product", product_id, "product", seen)
    product = read_product(writing, product_id)
    if product.status == "deleted":
        _free_name(writing, product.name, but=product_id)
        writing.append(Draft("product", product_id, "restored"))
    return read_product(writing, product_id)


def read_product(reading: Reading, product_id: str) -> Product:
    """Return a product by its id, deleted or not.

    Raises:
        UsageError: there is none.
    """
    found = reading.rows(products, id=product_id)
    if not found:
        raise UsageError(f"there is no product of the id '{product_id}' in this laboratory.")
    return _product(found[0])


def product_names(reading: Reading, ids: Iterable[str]) -> list[str]:
    """Return the names of products, deleted ones included, in the order of `ids`."""
    names = {one.id: one.name for one in list_products(reading, deleted=True)}
    return [names[one] for one in ids]


def _free_name(reading: Reading, name: str, but: str | None = None) -> str:
    clean = " ".join(name.split())
    if not clean:
        raise UsageError("a product needs a name, got an empty one.")
    for one in list_products(reading):
        if one.id != but and one.name.casefold() == clean.casefold():
            raise UsageError(f"there is a product '{one.name}' already ({one.id}).")
    return clean


def _product(row: dict[str, Any]) -> Product:
    return Product(row["id"], row["name"], cast("Status", row["status"]), row["version"])


def _state(stream: Sequence[Event]) -> dict[str, Any]:
    state: dict[str, Any] = {"status": "active"}
    for event in stream:
        match event.kind:
            case "added" | "renamed":
                state["name"] = event.body["name"]
            case "deleted":
                state["status"] = "deleted"
            case "restored":
                state["status"] = "active"
            case other:
                raise ValueError(f"a product knows no event '{other}'.")
    return state


def _rows(subject: str, stream: Sequence[Event]) -> Rows:
    return {"products": [{"id": subject, "version": len(stream), **_state(stream)}]}


PRODUCTS = EntityKind("product", _rows, _state)
