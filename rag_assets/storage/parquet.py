"""Write a Parquet file whole, and read it in the thread that asks."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.storage.atomic import replace_file

if TYPE_CHECKING:
    import pyarrow as pa


def write_parquet(
    path: Path,
    table: "pa.Table",
    compression: str | dict[str, str] = "snappy",
    *,
    use_dictionary: bool = True,
) -> None:
    """Write a table with the checksums of its pages, whole or not at all.

    Args:
        compression: of all columns, or by name.

    Raises:
        StorageError: the disk is full or refuses the write.
    """
    import pyarrow.parquet as pq

    with replace_file(path) as temporary:
        pq.write_table(
            table,
            temporary,
            compression=compression,
            use_dictionary=use_dictionary,
            write_page_checksum=True,
        )


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
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
        # By the schema's names: of a nested column the reader knows the leaves only.
        missing = set(columns or ()) - set(file.schema_arrow.names)
        if missing:
            raise KeyError(", ".join(sorted(missing)))
        return file.read(columns=list(columns) if columns is not None else None, use_threads=False)
