"""The digest over the content of a published table."""

import hashlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.model import DamagedFileError
from rag_assets.publishing.schemas import CONTENT, PROVENANCE, schema_entry


def content_columns(schema: pa.Schema) -> list[str]:
    """Return the names of the columns that digests cover, in the schema's order.

    Raises:
        ValueError: a field is marked neither content nor provenance.
    """
    names = []
    for field in schema:
        role = (field.metadata or {}).get(b"role", b"").decode()
        if role not in {CONTENT, PROVENANCE}:
            raise ValueError(
                f"column '{field.name}' must be marked content or provenance in its metadata "
                f"(b'role'), got {role!r}; build the table with a schema of this module."
            )
        if role == CONTENT:
            names.append(field.name)
    return names


def digest_table(table: pa.Table) -> str:
    """Return the SHA-256 over the content columns of a published table's rows, sorted by key.

    Neither the order of the rows nor how Arrow has cut them into pieces matters; null, empty text
    and empty list differ.

    Args:
        table: with a schema of this module (field roles and the key stand in its metadata).

    Raises:
        DamagedFileError: a key appears twice, so that the order of rows is not determined.
        ValueError: a field has no role.
    """
    return digest_columns(table.schema, table.column)


def digest_columns(schema: pa.Schema, read: Callable[[str], pa.ChunkedArray]) -> str:
    """Return what `digest_table` does of a table that is read column by column.

    Args:
        schema: of this module.
        read: gives a whole column by its name, rows in the same order each time.

    Raises:
        DamagedFileError, ValueError: as `digest_table`.
    """
    names = content_columns(schema)
    key = schema_entry(schema, "key")
    keys = read(key)
    if len(keys.unique()) != len(keys) or keys.null_count:
        raise DamagedFileError(
            f"table '{schema_entry(schema, 'table')}': '{key}' must be unique and never null; the "
            "rows that were joined for publication are wrong. Please report it with the output of "
            "`rag status`."
        )
    order = pc.sort_indices(keys)
    total = hashlib.sha256()
    for name in names:
        column = _addressable(read(name)).take(order)
        told = schema.field(name).type
        total.update(f"{name}\n{told}\n{len(column)}\n".encode())
        _digest_column(total, pa.concat_arrays(column.chunks) if column.num_chunks else None)
    return total.hexdigest()


def _addressable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts with offsets that reach beyond 2 GiB, which a million passages may have."""
    return column.cast(pa.large_string()) if pa.types.is_string(column.type) else column


def _digest_column(total: Any, column: Any) -> None:
    if column is None:
        return
    total.update(_numbers(pc.is_null(column)))
    if pa.types.is_list(column.type):
        total.update(_numbers(pc.fill_null(pc.list_value_length(column), 0)))
        _digest_column(total, pc.list_flatten(column))
    elif pa.types.is_struct(column.type):
        for values in column.flatten():
            _digest_column(total, values)
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        filled = pc.fill_null(column, "").cast(pa.large_binary())
        lengths = pc.binary_length(filled)
        total.update(_numbers(lengths))
        total.update(_bytes_of(filled, pc.sum(lengths).as_py() or 0))
    elif pa.types.is_date32(column.type):
        _digest_column(total, column.cast(pa.int32()))
    else:
        filled = pc.fill_null(column, pa.scalar(0).cast(column.type))
        total.update(_numbers(filled))


def _bytes_of(column: Any, length: int) -> memoryview:
    """Return the values of a large binary array one after another, without a copy."""
    _, offsets, values = column.buffers()
    if not length:
        return memoryview(b"")
    start = pa.Int64Array.from_buffers(pa.int64(), 1, [None, offsets], offset=column.offset)
    first = start[0].as_py()
    return memoryview(values)[first : first + length]


def _numbers(column: Any) -> bytes:
    """Return numbers or truth values as bytes that do not depend on the machine's byte order."""
    kind = "<f8" if pa.types.is_floating(column.type) else "<i8"
    return bytes(column.to_numpy(zero_copy_only=False).astype(kind).tobytes())
