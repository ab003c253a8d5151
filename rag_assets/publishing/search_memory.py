"""What a process keeps of the search tables that it reads, so that the next search is quick.

Vectors are compared by one product over the whole column, held in memory: exact, and no slower
for a process that asks once than a scan by Lance, which reads the column as well. The product is
made in single precision and only chooses candidates; their cosines are computed again in double
precision from the stored vectors, so that equal publications give equal scores on every machine.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# Vectors of all tables together; two models at 200,000 chunks of 384 numbers take 0.6 GiB. What
# was used longest ago goes first, the column at hand never.
MEMORY_BYTES = 2 * 2**30
# Tables and, for each, filters that are remembered: a row costs 20 bytes and 1 byte.
_TABLES = 16
_MASKS = 64
_TERMS = 256

# Single precision errs by less than this in a cosine: 2^-24 for each factor and sum of unit
# vectors, with room.
_PRODUCT_ERROR = 1e-5
# Below this share of passing rows gathering them costs less than a product over all.
_SPARSE = 0.25
# And below this one reading their vectors alone costs less than reading the column.
_FEW = 0.05

Matrix = NDArray[np.float32]


class VectorColumn:
    """One model's vectors of a table, as stored.

    Args:
        matrix: rows by dimension.
    """

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        self.has_direction: NDArray[np.bool_] = norms > 0
        self._scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=self.has_direction)

    def nearest(
        self, vector: NDArray[np.float64], limit: int, rows: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """Return the rows that may be among the best `limit`, with all that tie with the last.

        Args:
            vector: of unit length.
            rows: among which to choose; None for all.
        """
        query = vector.astype(np.float32)
        if rows is None:
            scores = (self.matrix @ query) * self._scales
            rows = np.flatnonzero(self.has_direction)
            scores = scores[rows]
        else:
            rows = rows[self.has_direction[rows]]
            if len(rows) < _SPARSE * len(self.matrix):
                scores = (self.matrix[rows] @ query) * self._scales[rows]
            else:
                scores = ((self.matrix @ query) * self._scales)[rows]
        if len(rows) <= limit:
            return rows
        last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        near: NDArray[np.int64] = rows[scores >= last - _PRODUCT_ERROR]
        return near


def cosines(vectors: Matrix, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosines of rows with a unit vector in double precision; NaN for a zero row."""
    exact = vectors.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    products = np.einsum("ij,j->i", exact, vector)
    found = np.full(len(exact), np.nan)
    np.divide(products, norms, out=found, where=norms > 0)
    clipped: NDArray[np.float64] = np.clip(found, -1.0, 1.0)
    return clipped


class TableMemory:
    """What is remembered of one table: ids, vectors, and which rows pass a filter.

    Args:
        dataset: the Lance dataset; its rows are never changed.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._lock = threading.RLock()
        self._ids: pa.Array | None = None
        self._columns: OrderedDict[str, VectorColumn] = OrderedDict()
        self._masks: OrderedDict[str, NDArray[np.int64]] = OrderedDict()
        self._terms: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._languages: OrderedDict[str | None, dict[str, NDArray[np.int64]]] = OrderedDict()

    def chunk_ids(self) -> pa.Array:
        """Return the id of each row."""
        with self._lock:
            if self._ids is None:
                found = self._dataset.scanner(columns=["chunk_id"], scan_in_order=True).to_table()
                self._ids = pa.array(found.column("chunk_id").combine_chunks())
            return self._ids

    def rows_of(self, chunk_ids: Sequence[str]) -> dict[str, int]:
        """Return the row of each id that the table holds."""
        wanted = list(dict.fromkeys(chunk_ids))
        found = pc.index_in(pa.array(wanted, pa.string()), value_set=self.chunk_ids()).to_pylist()
        return {key: row for key, row in zip(wanted, found, strict=True) if row is not None}

    def passing(self, where: str) -> NDArray[np.int64]:
        """Return the rows that meet a condition, in order."""
        with self._lock:
            if where not in self._masks:
                found = self._dataset.scanner(columns=[], with_row_id=True, filter=where).to_table()
                rows = np.sort(found.column("_rowid").to_numpy()).astype(np.int64)
                self._masks[where] = rows
                while len(self._masks) > _MASKS:
                    self._masks.popitem(last=False)
            self._masks.move_to_end(where)
            return self._masks[where]

    def rows_by_language(self, where: str | None) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each passage language that meet a condition, in order."""
        with self._lock:
            if None not in self._languages:
                self._languages[None] = _rows_by_value(self._dataset, "passage_language")
            if where not in self._languages:
                passing = self.passing(where or "true")
                self._languages[where] = {
                    name: np.intersect1d(rows, passing, assume_unique=True)
                    for name, rows in self._languages[None].items()
                }
                while len(self._languages) > _MASKS:
                    self._languages.popitem(last=False)
            self._languages.move_to_end(None)
            self._languages.move_to_end(where)
            return self._languages[where]

    def rows_with_term(self, term: str, find: Callable[[str], tuple[int, ...]]) -> tuple[int, ...]:
        """Return what `find` says of a term, asking it once."""
        with self._lock:
            if term not in self._terms:
                self._terms[term] = find(term)
                while len(self._terms) > _TERMS:
                    self._terms.popitem(last=False)
            return self._terms[term]

    def column(self, name: str) -> VectorColumn:
        """Return a vector column, read whole at first use."""
        with self._lock:
            if name not in self._columns:
                self._columns[name] = VectorColumn(_read_matrix(self._dataset, name))
            return self._columns[name]

    def vectors(self, name: str, rows: NDArray[np.int64]) -> Matrix:
        """Return the stored vectors of some rows, in their order."""
        with self._lock:
            held = self._columns.get(name)
        if held is not None:
            return held.matrix[rows]
        found = self._dataset.take(rows.tolist(), columns=[name])
        return _as_matrix(found.column(name))

    def nearest(
        self,
        name: str,
        vector: NDArray[np.float64],
        limit: int,
        passing: NDArray[np.int64] | None,
    ) -> NDArray[np.int64]:
        """Return rows that hold the best `limit` of a column and what ties with the last.

        Args:
            vector: of unit length.
            passing: rows among which to choose; None for all.
        """
        with self._lock:
            is_held = name in self._columns
        if passing is not None and not is_held and len(passing) < _FEW * self._dataset.count_rows():
            return passing
        return self.column(name).nearest(vector, limit, passing)

    @property
    def vector_bytes(self) -> int:
        """Memory that the vectors take."""
        with self._lock:
            return sum(column.matrix.nbytes for column in self._columns.values())

    def forget_vectors(self) -> None:
        """Let the vectors go; they are read again when they are asked for."""
        with self._lock:
            self._columns.clear()


def _rows_by_value(dataset: Any, name: str) -> dict[str, NDArray[np.int64]]:
    found = dataset.scanner(columns=[name], scan_in_order=True).to_table().column(name)
    codes = pa.chunked_array(found.chunks, pa.string()).combine_chunks().dictionary_encode()
    if isinstance(codes, pa.ChunkedArray):
        codes = codes.combine_chunks()
    held = codes.indices.to_numpy(zero_copy_only=False)
    return {
        value: np.flatnonzero(held == code).astype(np.int64)
        for code, value in enumerate(codes.dictionary.to_pylist())
    }


def _read_matrix(dataset: Any, name: str) -> Matrix:
    dimension = dataset.schema.field(name).type.list_size
    matrix: Matrix = np.empty((dataset.count_rows(), dimension), np.float32)
    start = 0
    for batch in dataset.scanner(columns=[name], scan_in_order=True).to_batches():
        matrix[start : start + batch.num_rows] = _as_matrix(batch.column(name))
        start += batch.num_rows
    return matrix


def _as_matrix(column: Any) -> Matrix:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    values = array.flatten().to_numpy(zero_copy_only=False)
    matrix: Matrix = values.reshape(len(array), array.type.list_size)
    return matrix


class _Shared:
    """The memories of this process, by table."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memories: OrderedDict[tuple[str, int, int], TableMemory] = OrderedDict()

    def get(self, path: Path, make: Callable[[], TableMemory]) -> TableMemory:
        # A table written anew at the same path is another one.
        status = (path / "_versions").stat()
        key = (str(path), status.st_ino, status.st_mtime_ns)
        with self._lock:
            if key not in self._memories:
                self._memories[key] = make()
            self._memories.move_to_end(key)
            while len(self._memories) > _TABLES:
                self._memories.popitem(last=False)
            others = list(self._memories.values())[:-1]
            for memory in others:
                if sum(each.vector_bytes for each in self._memories.values()) <= MEMORY_BYTES:
                    break
                memory.forget_vectors()
            return self._memories[key]


_SHARED = _Shared()


def shared_memory(path: Path, make: Callable[[], TableMemory]) -> TableMemory:
    """Return this process's memory of the table at `path`, made at first use."""
    return _SHARED.get(path, make)
