"""What a process keeps of the search tables that it reads, so that the next search is quick.

Vectors are compared by one product over the whole column, held in memory: exact, and no slower
for a process that asks once than a scan by Lance, which reads the column as well. The product is
made in single precision and only chooses candidates; their cosines are computed again in double
precision from the stored vectors, so that equal publications give equal scores on every machine.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any  # Any: threadpoolctl and Lance have no types

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_assets.publishing.row_order import RowOrder

if TYPE_CHECKING:
    from rag_assets.publishing.sparse_columns import SparseColumn

# Vectors of all tables together; two models at 200,000 chunks of 384 numbers take 0.6 GiB. What
# was used longest ago goes first, the column at hand never.
MEMORY_BYTES = 2 * 2**30
# Tables and, for each, filters that are remembered: a row costs 200 bytes for its id, 8 bytes a
# filter.
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

# Columns of passages, which are most of a table beside its vectors: always read for a few rows.
# The others take some 400 bytes a row together.
_LONG_COLUMNS = frozenset({"text", "edited", "search_text", "search_heading"})

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
            scores = _product(self.matrix, query) * self._scales
            rows = np.flatnonzero(self.has_direction)
            scores = scores[rows]
        else:
            rows = rows[self.has_direction[rows]]
            if len(rows) < _SPARSE * len(self.matrix):
                scores = _product(self.matrix[rows], query) * self._scales[rows]
            else:
                scores = (_product(self.matrix, query) * self._scales)[rows]
        if len(rows) <= limit:
            return rows
        last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        near: NDArray[np.int64] = rows[scores >= last - _PRODUCT_ERROR]
        return near


@lru_cache(maxsize=1)
def _blas() -> Any:
    """Return what limits the threads of NumPy's products."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _product(matrix: Matrix, vector: Matrix) -> Matrix:
    # Memory is what it waits for: two threads take as long (50,000 rows of 384: 12 ms), and the
    # second then spins for longer than the product took, where Lance wants the processor.
    with _ONE_THREAD:
        scores: Matrix = matrix @ vector
    return scores


class _OneThread:
    """One thread for each product while any is made, in however many threads that happens.

    The limit holds for the process: the first sets it, the last takes it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = _blas().limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()


_ONE_THREAD = _OneThread()


def cosines(vectors: Matrix, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosines of rows with a unit vector in double precision; NaN for a zero row."""
    exact = vectors.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    products = np.einsum("ij,j->i", exact, vector)
    found = np.full(len(exact), np.nan)
    np.divide(products, norms, out=found, where=norms > 0)
    clipped: NDArray[np.float64] = np.clip(found, -1.0, 1.0)
    return clipped


def nearest_of_batch(matrix: Matrix, questions: Matrix, limit: int) -> list[NDArray[np.int64]]:
    """Return, for each question, the rows that may be among its best `limit` of a batch.

    Args:
        matrix: rows by dimension, none of them zero.
        questions: of unit length.
    """
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    scores = _product(questions, matrix.T) / norms
    if len(matrix) <= limit:
        return [np.arange(len(matrix)) for _ in questions]
    last = np.partition(scores, len(matrix) - limit, axis=1)[:, len(matrix) - limit]
    return [
        np.flatnonzero(row >= cut - _PRODUCT_ERROR) for row, cut in zip(scores, last, strict=True)
    ]


class TableMemory:
    """What is remembered of one table: ids, columns, vectors, and which rows pass a filter.

    Rows are counted by document and place.

    Args:
        dataset: the Lance dataset; its rows are never changed.
        order: where it keeps them.
    """

    def __init__(self, dataset: Any, order: RowOrder) -> None:
        self._dataset = dataset
        self.order = order
        self._lock = threading.RLock()
        self._ids: pa.Array | None = None
        self._places: dict[str, int] = {}
        self._plain: dict[str, pa.Array | None] = {}
        self._columns: OrderedDict[str, VectorColumn] = OrderedDict()
        self._sparse: dict[str, SparseColumn] = {}
        self._masks: OrderedDict[str, NDArray[np.int64]] = OrderedDict()
        self._terms: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._languages: OrderedDict[str | None, dict[str, NDArray[np.int64]]] = OrderedDict()

    def chunk_ids(self) -> pa.Array:
        """Return the id of each row."""
        with self._lock:
            if self._ids is None:
                self._ids = _whole(self._read(["chunk_id"]).column("chunk_id"))
            return self._ids

    def rows_of(self, chunk_ids: Sequence[str]) -> dict[str, int]:
        """Return the row of each id that the table holds."""
        with self._lock:
            if not self._places:
                ids = self.chunk_ids().to_pylist()
                self._places = {key: row for row, key in enumerate(ids)}
            places = self._places
        return {key: places[key] for key in chunk_ids if key in places}

    def rows(self, rows: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Return some rows in the given order.

        Reading a few rows of a column costs nearly as much as reading it whole. So what is asked
        for the second time is read whole and kept, but for the columns of passages: a process
        that asks one question reads little, one that asks many does not read again.
        """
        chosen = pa.array(rows, pa.int64())
        with self._lock:
            found: dict[str, Any] = {
                name: held.take(chosen)
                for name in columns
                if name not in _LONG_COLUMNS and (held := self._plain_column(name)) is not None
            }
        missing = [name for name in columns if name not in found]
        if missing:
            taken = self.order.take(self._dataset, rows, missing)
            found |= {name: taken.column(name) for name in missing}
        return pa.table({name: found[name] for name in columns})

    def _plain_column(self, name: str) -> "pa.Array | None":
        """Return a whole column, None when it is asked for the first time."""
        if name not in self._plain:
            self._plain[name] = None
        elif self._plain[name] is None:
            first = [key for key, held in self._plain.items() if held is None]
            table = self._read(first)
            self._plain |= {key: _whole(table.column(key)) for key in first}
        return self._plain[name]

    def passing(self, where: str) -> NDArray[np.int64]:
        """Return the rows that meet a condition, in order."""
        with self._lock:
            if where not in self._masks:
                found = self._dataset.scanner(columns=[], with_row_id=True, filter=where).to_table()
                rows = np.sort(self.order.rows(found.column("_rowid")))
                self._masks[where] = rows
                while len(self._masks) > _MASKS:
                    self._masks.popitem(last=False)
            self._masks.move_to_end(where)
            return self._masks[where]

    def rows_by_language(self, where: str | None) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each passage language that meet a condition, in order."""
        with self._lock:
            if None not in self._languages:
                held = self._read(["passage_language"]).column("passage_language")
                self._languages[None] = _rows_by_value(held)
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
                self._columns[name] = VectorColumn(_read_matrix(self._dataset, name, self.order))
            return self._columns[name]

    def sparse_column(self, name: str) -> "SparseColumn":
        """Return a column of sparse vectors, read whole at first use."""
        from rag_assets.publishing.sparse_columns import SparseColumn

        with self._lock:
            if name not in self._sparse:
                self._sparse[name] = SparseColumn(self._read([name]).column(name))
            return self._sparse[name]

    def vectors(self, name: str, rows: NDArray[np.int64]) -> Matrix:
        """Return the stored vectors of some rows, in their order."""
        with self._lock:
            held = self._columns.get(name)
        if held is not None:
            return held.matrix[rows]
        found = self.order.take(self._dataset, rows, [name])
        return as_matrix(found.column(name))

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

    def _read(self, columns: Sequence[str]) -> pa.Table:
        """Return whole columns."""
        scan = self._dataset.scanner(columns=list(columns), scan_in_order=True)
        return self.order.arrange(scan.to_table())

    @property
    def column_bytes(self) -> int:
        """Memory that vectors and other columns take."""
        with self._lock:
            vectors = sum(column.matrix.nbytes for column in self._columns.values())
            vectors += sum(column.nbytes for column in self._sparse.values())
            plain: int = sum(held.nbytes for held in self._plain.values() if held is not None)
            return vectors + plain

    def forget_columns(self) -> None:
        """Let vectors and other columns go; they are read again when they are asked for."""
        with self._lock:
            self._columns.clear()
            self._sparse.clear()
            self._plain.clear()


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    if not column.num_chunks:
        return pa.array([], column.type)
    return pa.concat_arrays(column.chunks)


def _rows_by_value(column: pa.ChunkedArray) -> dict[str, NDArray[np.int64]]:
    codes = _whole(column).dictionary_encode()
    held = codes.indices.to_numpy(zero_copy_only=False)
    return {
        value: np.flatnonzero(held == code).astype(np.int64)
        for code, value in enumerate(codes.dictionary.to_pylist())
    }


def _read_matrix(dataset: Any, name: str, order: RowOrder) -> Matrix:
    dimension = dataset.schema.field(name).type.list_size
    matrix: Matrix = np.empty((dataset.count_rows(), dimension), np.float32)
    start = 0
    for batch in dataset.scanner(columns=[name], scan_in_order=True).to_batches():
        matrix[order.scanned_rows(start, batch.num_rows)] = as_matrix(batch.column(name))
        start += batch.num_rows
    return matrix


def as_matrix(column: Any) -> Matrix:
    """Return a column of vectors as rows by dimension."""
    array = _whole(column) if isinstance(column, pa.ChunkedArray) else column
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
                if sum(each.column_bytes for each in self._memories.values()) <= MEMORY_BYTES:
                    break
                memory.forget_columns()
            return self._memories[key]


_SHARED = _Shared()


def shared_memory(path: Path, make: Callable[[], TableMemory]) -> TableMemory:
    """Return this process's memory of the table at `path`, made at first use."""
    return _SHARED.get(path, make)
