"""Read a Parquet file whole, in the thread that asks."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


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
