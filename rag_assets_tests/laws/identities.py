"""What the tests on identity look at: three texts, and who the documents are."""

from typing import Any

from rag_assets.embedding import model_fingerprints
from rag_assets.publishing import DocumentLine, list_documents
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue
from rag_assets.storage import current_folder
from rag_assets.workspace import (
    Namespace,
    take_inventory,
)
from rag_assets_tests.laws.driver import (
    silent,
    uids_of,
)

ROOFS = "# Roofs\n\nCool roofs reflect sunlight and stay cooler than dark ones.\n"
LEAF = "# 叶片\n\n二氧化碳浓度升高使植物叶片的气孔导度下降。\n"
WALLS = "# Walls\n\nNight ventilation flushes the warmth of the day out of heavy walls.\n"


def stock(namespace: Namespace) -> dict[str, str]:
    """Take the inventory and return path below raw/ → uid."""
    take_inventory(namespace, notify=silent)
    return uids_of(namespace)


def documents(namespace: Namespace) -> list[DocumentLine]:
    return list_documents(namespace, model_fingerprints(namespace.settings.embed))


def published(namespace: Namespace, columns: str, table: str = "documents") -> list[Any]:
    folder = current_folder(namespace.publications, namespace.name)
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY ALL").fetchall()
