"""Write a Parquet file whole, and read it in the thread that asks.

Rows are written and read in groups, so that a file need not be in memory at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.storage.atomic import replace_file

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


# Small tables share a group up to this size.
_GROUP_BYTES = 32_000_000


def write_parquet(
    path: Path,
    schema: "pa.Schema",
    tables: Iterable["pa.Table"],
    compression: str | dict[str, str] = "snappy",
    *,
    use_dictionary: bool = True,
    group_rows: int = 0,
    closing: Callable[[], Mapping[str, str]] = dict,
) -> None:
    """Write tables one after another with the checksums of their pages, whole or not at all.

    Args:
        schema: of the tables, with the file's metadata.
        tables: taken one by one; none is held once it is written.
        compression: of all columns, or by name.
        group_rows: of each group; 0 for tables that share a group up to a size.
        closing: further metadata, asked when all tables are written.

    Raises:
        StorageError: the disk is full or refuses the write.
    """
    import pyarrow.parquet as pq

    with (
        replace_file(path) as temporary,
        pq.ParquetWriter(
            temporary,
            schema,
            compression=compression,
            use_dictionary=use_dictionary,
            write_page_checksum=True,
        ) as writer,
    ):
        for group in tables if group_rows else _grouped(schema, tables):
            writer.write_table(group, row_group_size=group_rows or None)
        said = closing()
        if said:
            writer.add_key_value_metadata(said)


def _grouped(schema: "pa.Schema", tables: Iterable["pa.Table"]) -> Iterator["pa.Table"]:
    import pyarrow as pa

    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        waiting.append(table.replace_schema_metadata(schema.metadata))
        # Counted once: the bytes of a table with nested columns take a while to add up.
        size += table.nbytes
        if size >= _GROUP_BYTES:
            yield pa.concat_tables(waiting)
            waiting.clear()
            size = 0
    if waiting:
        yield pa.concat_tables(waiting)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """Return the rows of a file, with its pages' checksums verified.

    Arrow's thread pools are not used: where the system gives them no thread, for lack of memory
    for its stack, what was handed to a pool is waited for without end.

    Args:
        columns: names, in any order; all without.

    Raises:
        FileNotFoundError: there is no such file.
        OSError, MemoryError, ValueError: as Arrow raises them, for the caller to tell apart.
        KeyError: the file has no such column.
    """
    with _opened(path, columns) as (file, names):
        return file.read(columns=names, use_threads=False)


def read_groups(path: Path, columns: Sequence[str] | None = None) -> Iterator["pa.Table"]:
    """Yield the rows of a file group by group, as `read_parquet` reads them; at least one table."""
    with _opened(path, columns) as (file, names):
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=names, use_threads=False)
        if not file.num_row_groups:
            yield file.read(columns=names, use_threads=False)


@contextmanager
def _opened(
    path: Path, columns: Sequence[str] | None
) -> Iterator[tuple["pq.ParquetFile", list[str] | None]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
        # By the schema's names: of a nested column the reader knows the leaves only.
        missing = set(columns or ()) - set(file.schema_arrow.names)
        if missing:
            raise KeyError(", ".join(sorted(missing)))
        yield file, list(columns) if columns is not None else None
