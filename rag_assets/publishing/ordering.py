"""Rows in another order, however long their texts are together."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

# A column of Arrow's `string` addresses so many bytes; taking rows makes one array of it. A million
# passages of 2,100 bytes have more.
_MAX_BYTES = 2**31 - 1
# Bytes of it that are taken at once where it is longer, by the mean of its texts: so a slice stays
# below that even where its texts are sixteen times as long as the others.
_SLICE_BYTES = 2**27


def sort_rows(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the rows of a table sorted by some columns, rising, with the same schema."""
    order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in keys])
    long = [column.nbytes for column in table.columns if _is_long(column)]
    if not long:
        return table.take(order)
    wide = pa.table(
        [pc.cast(each, pa.large_string()) if _is_long(each) else each for each in table.columns],
        names=table.column_names,
    )
    rows = max(1, _SLICE_BYTES * len(table) // max(long))
    slices = [
        wide.take(order.slice(start, rows)).cast(table.schema)
        for start in range(0, len(order), rows)
    ]
    return pa.concat_tables(slices)


def _is_long(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_string(column.type)) and int(column.nbytes) > _MAX_BYTES
