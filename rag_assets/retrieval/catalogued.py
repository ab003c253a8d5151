"""The catalogue of one publication, held open for several threads."""

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.publishing.catalogue import (
    catalogue_errors_explained,
    open_catalogue,
    read_table,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from rag_assets.retrieval.entity_graph import EntityGraph


class HeldCatalogue:
    """A catalogue that is opened when it is first read, until it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # A connection of DuckDB answers one thread at a time.
        self._reading = threading.Lock()
        self._connection: DuckDBPyConnection | None = None

    def close(self) -> None:
        """Close it; reading opens it again."""
        with self._reading:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @cached_property
    def entity_graph(self) -> "EntityGraph":
        """The entities of the publication, which must have tables of them."""
        from rag_assets.retrieval.entity_graph import EntityGraph

        entities, mentions, relations = map(self.read, ("entities", "mentions", "relations"))
        return EntityGraph(entities, mentions, relations)

    def read(self, name: str, column: str | None = None, values: Sequence[str] = ()) -> "pa.Table":
        """Return a published table, or its rows whose value in a column is one of `values`."""
        with self._reading, catalogue_errors_explained(self._path):
            if self._connection is None:
                self._connection = open_catalogue(self._path)
            return read_table(self._connection, name, column, values)
