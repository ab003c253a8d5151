"""The catalogue of a publication that grows from the one before it."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from rag_assets.model import DamagedFileError
from rag_assets.publishing.catalogue import (
    OFFLINE,
    open_catalogue,
    quote_identifier,
    write_errors_explained,
    write_table,
)
from rag_assets.publishing.entity_schemas import schemas_of
from rag_assets.publishing.schemas import CHUNKS, PARENTS, row_order, schema_entry
from rag_assets.publishing.table_digest import digest_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Tables whose rows are those of passages: most of a catalogue. The others are written whole.
GROWING = {"parents": PARENTS, "chunks": CHUNKS}


def grow_catalogue(
    path: Path, before: Path, tables: Mapping[str, pa.Table], gone: Sequence[str]
) -> dict[str, tuple[int, str]]:
    """Write the catalogue of a publication as that of another with some rows changed.

    Args:
        path: of a file that does not exist, named by `catalogue_name`.
        before: of the catalogue to grow from, with the same schemas; only read.
        tables: as `write_catalogue` takes them, but of `parents` and `chunks` the added rows.
        gone: documents whose rows in these two go.

    Returns:
        How many rows `parents` and `chunks` have now, and their digests.

    Raises:
        DamagedFileError: a key appears twice, or the catalogue to grow from is none.
        StorageError: the disk is full or refuses a write.
    """
    import duckdb

    open_catalogue(before).close()
    try:
        with write_errors_explained(path):
            shutil.copyfile(before, path)
            with duckdb.connect(str(path), config=OFFLINE) as connection:
                connection.execute("BEGIN")
                for name, schema in schemas_of(tables).items():
                    if name in GROWING:
                        _change_rows(connection, name, schema, tables[name], gone)
                    else:
                        connection.execute(f"DROP TABLE {name}")
                        write_table(connection, name, schema, tables[name])
                connection.execute("COMMIT")
                connection.execute("CHECKPOINT")
                return {
                    name: (_count(connection, name), _digest(connection, name, schema))
                    for name, schema in GROWING.items()
                }
    except BaseException:
        path.unlink(missing_ok=True)
        path.with_name(path.name + ".wal").unlink(missing_ok=True)
        raise


def _change_rows(
    connection: "DuckDBPyConnection",
    name: str,
    schema: pa.Schema,
    added: pa.Table,
    gone: Sequence[str],
) -> None:
    connection.register("gone", pa.table({"doc_uid": pa.array(gone, pa.string())}))
    connection.execute(f"DELETE FROM {name} WHERE doc_uid IN (SELECT doc_uid FROM gone)")
    connection.unregister("gone")
    order = ", ".join(quote_identifier(column) for column in row_order(schema))
    connection.register("incoming", added.select(schema.names))
    connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM incoming ORDER BY {order}")
    connection.unregister("incoming")
    key = quote_identifier(schema_entry(schema, "key"))
    rows = connection.execute(f"SELECT count(*) - count(DISTINCT {key}) FROM {name}").fetchall()
    if rows[0][0]:
        raise DamagedFileError(
            f"table '{name}': {rows[0][0]} rows have the key of another. Nothing was published."
        )


def _count(connection: "DuckDBPyConnection", name: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0])


def _digest(connection: "DuckDBPyConnection", name: str, schema: pa.Schema) -> str:
    def read(column: str) -> pa.ChunkedArray:
        found = connection.sql(f"SELECT {quote_identifier(column)} FROM {name} ORDER BY rowid")
        return found.to_arrow_table().column(0).cast(schema.field(column).type)

    return digest_columns(schema, read)
