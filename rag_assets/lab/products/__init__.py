"""Products and sets of products: for the form of a feedback and for grouping, nothing else."""

from rag_assets.lab.products.catalogue import (
    PRODUCTS,
    Product,
    add_product,
    delete_product,
    find_product,
    list_products,
    product_names,
    read_product,
    rename_product,
    restore_product,
)
from rag_assets.lab.products.presets import (
    PRESETS,
    Preset,
    delete_preset,
    find_preset,
    list_presets,
    save_preset,
)

__all__ = [
    "PRESETS",
    "PRODUCTS",
    "Preset",
    "Product",
    "add_product",
    "delete_preset",
    "delete_product",
    "find_preset",
    "find_product",
    "list_presets",
    "list_products",
    "product_names",
    "read_product",
    "rename_product",
    "restore_product",
    "save_preset",
]
