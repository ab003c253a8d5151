import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from rag_assets.publishing.catalogue import catalogue_name, write_catalogue
from rag_assets.publishing.schemas import CHUNKS, vector_column
from rag_assets.publishing.search_table import check_search_table, write_search_table
from rag_assets.retrieval import Reader
from rag_assets.storage import MANIFEST, write_text
from rag_assets_tests.publishing.made_up_tables import DIMENSION, chunk_table, published_tables
from rag_assets_tests.retrieval.publications import MODELS, PublicationMaker


@pytest.fixture(scope="module")
def make_publication(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PublicationMaker]:
    readers: list[Reader] = []

    def make(namespace: str, rows: Sequence[Mapping[str, Any]], *dimensions: int) -> Reader:
        folder = tmp_path_factory.mktemp(namespace)
        sizes = dimensions or (DIMENSION,)
        table = chunk_table(rows, *sizes)
        write_search_table(folder, table)
        check_search_table(folder, len(rows))
        tables = published_tables(rows, namespace) | {"chunks": table.select(CHUNKS.names)}
        write_catalogue(folder / catalogue_name("first"), tables)
        manifest = {
            "counts": {},
            "publication": "first",
            "namespace": namespace,
            "created_at": 0.0,
            "embedders": [
                {
                    "kind": "hashing",
                    "model": MODELS[position],
                    "fingerprint": MODELS[position],
                    "dimension": size,
                    "column": vector_column(position),
                    "settings": {"kind": "hashing", "model": MODELS[position]},
                }
                for position, size in enumerate(sizes)
            ],
        }
        write_text(folder / MANIFEST, json.dumps(manifest))
        readers.append(Reader(folder, namespace, "first"))
        return readers[-1]

    yield make
    for reader in readers:
        reader.close()
