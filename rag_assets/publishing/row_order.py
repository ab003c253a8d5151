"""Where a table keeps its rows, by document and place.

Everything that searches counts rows by document and place, so that ties, samples and cuts fall the
same way in every build. In a fresh table, which is one fragment, Lance's id of a row is that
number. A table in segments keeps rows where they were added: its publication has a file that says
which id stands where in that order.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any  # Lance has no types

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rag_assets.model import DamagedFileError
from rag_assets.publishing.schemas import CHUNKS, row_order
from rag_assets.storage import LocalStore, put

ROW_ORDER_NAME = "row_order.i64"

Rows = NDArray[np.int64]

_STORED = np.dtype("<i8")


class RowOrder:
    """Row numbers, by document and place, and Lance's ids of these rows.

    Args:
        ids: Lance's id of each row number; None where both are the same.
    """

    def __init__(self, ids: Rows | None = None) -> None:
        self._ids = ids
        if ids is not None:
            # Lance scans by rising id: the row number of each row that a scan yields.
            self._scanned: Rows = np.argsort(ids)
            self._rising: Rows = ids[self._scanned]
            self._places = np.empty_like(self._scanned)
            self._places[self._scanned] = np.arange(len(ids))

    @property
    def is_plain(self) -> bool:
        """Whether ids and row numbers are the same."""
        return self._ids is None

    def rows(self, ids: Any) -> Rows:
        """Return the row numbers of Lance's ids, in their order."""
        given = np.asarray(ids).astype(np.int64)
        if self._ids is None:
            return given
        found: Rows = self._scanned[np.searchsorted(self._rising, given)]
        return found

    def ids(self, rows: Any) -> Rows:
        """Return Lance's ids of row numbers, in their order."""
        given = np.asarray(rows, np.int64)
        return given if self._ids is None else self._ids[given]

    def take(self, dataset: Any, rows: Any, columns: Sequence[str]) -> pa.Table:
        """Return some rows of the dataset in the given order, which may name one twice."""
        given = np.asarray(rows, np.int64)
        if self._ids is None or not len(given):
            return dataset.take(given.tolist(), columns=list(columns))
        # By place Lance counts the deleted rows before each, at every call: 0.6 s among 10⁶ rows
        # where this takes 4 ms.
        ids = self._ids[given]
        named = ", ".join(map(str, np.unique(ids).tolist()))
        found = dataset.scanner(
            columns=list(columns), filter=f"_rowid IN ({named})", with_row_id=True
        ).to_table()
        held = found.column("_rowid").to_numpy().astype(np.int64)
        rising = np.argsort(held)
        chosen = rising[np.searchsorted(held[rising], ids)]
        return found.take(pa.array(chosen)).drop_columns(["_rowid"])

    def scanned_rows(self, start: int, size: int) -> Rows | slice:
        """Return the row numbers of what a scan yields at `start` and after."""
        if self._ids is None:
            return slice(start, start + size)
        return self._scanned[start : start + size]

    def arrange(self, scanned: pa.Table) -> pa.Table:
        """Return a scan of the whole table by row number."""
        return scanned if self._ids is None else scanned.take(pa.array(self._places))

    def arrange_found(self, found: pa.Table) -> pa.Table:
        """Return some rows with their `_rowid` by row number, without that column."""
        return found.take(pa.array(np.argsort(self.rows(found.column("_rowid"))))).drop_columns(
            ["_rowid"]
        )


def write_row_order(folder: Path, dataset: Any) -> None:
    """Write the order of a table in segments into its publication's folder."""
    keys = row_order(CHUNKS)
    found = dataset.scanner(columns=keys, with_row_id=True, scan_in_order=True).to_table()
    order = pc.sort_indices(found, sort_keys=[(name, "ascending") for name in keys])
    ids = found.column("_rowid").to_numpy()[order.to_numpy()]
    put(LocalStore(folder), ROW_ORDER_NAME, ids.astype(_STORED).tobytes())


def read_row_order(folder: Path, rows: int) -> RowOrder:
    """Return the order of a publication's table; the plain one where it has no such file.

    Args:
        rows: that the table has.

    Raises:
        DamagedFileError: the file belongs to another table.
    """
    found = LocalStore(folder).get(ROW_ORDER_NAME)
    if found is None:
        return RowOrder()
    if len(found.data) != rows * _STORED.itemsize:
        raise DamagedFileError(
            f"{folder / ROW_ORDER_NAME}: holds {len(found.data) // _STORED.itemsize} rows, the "
            f"table has {rows}. Delete the publication's folder and run `rag index`: it is built "
            "again from the records."
        )
    return RowOrder(np.frombuffer(found.data, _STORED).astype(np.int64))
