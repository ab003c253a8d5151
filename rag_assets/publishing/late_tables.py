"""Tables of DuckDB whose rows are read when somebody asks for them: vectors above all."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from rag_assets.publishing.schemas import SPARSE_VECTOR

Scan = Callable[[list[str] | None, Any], ds.Scanner]
"""Columns (None for all) and a condition → what reads those rows."""


class LateTable(ds.Dataset):  # type: ignore[misc]  # pyarrow has no types
    """A table of known columns that is read by each statement that names it.

    `DuckDBPyConnection.register` takes it as a table of Arrow: DuckDB asks it for the columns and
    rows that a statement needs, also when the connection itself may read no file any more.
    """

    def __init__(self, schema: pa.Schema, scan: Scan) -> None:
        self._columns, self._scan = schema, scan

    @property
    def schema(self) -> pa.Schema:
        """The columns; nothing is read to know them."""
        return self._columns

    def scanner(
        self,
        columns: list[str] | None = None,
        filter: Any = None,  # noqa: A002 - pyarrow's name
        **_: Any,
    ) -> ds.Scanner:
        """Read it; called by DuckDB, with the names that pyarrow gives."""
        return self._scan(columns, filter)


def late_rows(schema: pa.Schema, make: Callable[[], pa.Table]) -> LateTable:
    """Return a table whose rows `make` makes, anew for each statement."""
    return LateTable(
        schema, lambda columns, chosen: ds.dataset(make()).scanner(columns=columns, filter=chosen)
    )


def published_vectors(folder: Path, manifest: Mapping[str, Any]) -> LateTable:
    """Return a publication's `chunk_key`, `vector` and `sparse_vector`, one row a chunk.

    Of several models of a kind the first one's; where there is none of a kind, there is no column.
    """
    dimensions = {model["column"]: model["dimension"] for model in manifest["embedders"]}
    schema = pa.schema([("chunk_key", pa.string())])
    if "vector" in dimensions:
        schema = schema.append(pa.field("vector", pa.list_(pa.float32(), dimensions["vector"])))
    if "sparse_vector" in dimensions:
        schema = schema.append(pa.field("sparse_vector", SPARSE_VECTOR))

    def scan(columns: list[str] | None, chosen: Any) -> ds.Scanner:
        import lance

        from rag_assets.publishing.search_reading import TABLE_NAME, new_session

        dataset = lance.dataset(str(folder / TABLE_NAME), session=new_session())
        return dataset.scanner(columns=columns or schema.names, filter=chosen)

    return LateTable(schema, scan)
