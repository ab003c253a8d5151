"""Columns of sparse vectors in the search table: how they are stored, and how they are searched.

A passage's score is the dot product of its weights with the question's, as the models are trained
for. Every row is compared.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rag_assets.embedding import token_weights
from rag_assets.publishing.schemas import SPARSE_VECTOR

_EQUAL = 1e-6


def sparse_array(column: pa.Array) -> pa.Array:
    """Return a record's pairs (`token_weights`) as a column of the search table.

    A chunk without a vector has an empty list.
    """
    tokens, weights = token_weights(column.flatten().to_numpy())
    sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy() // 2
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    values = pa.StructArray.from_arrays(
        [pa.array(tokens), pa.array(weights)], fields=list(SPARSE_VECTOR.value_type)
    )
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def sparse_columns(schema: pa.Schema) -> list[str]:
    """Return the names of the columns that hold sparse vectors."""
    return [field.name for field in schema if field.type.equals(SPARSE_VECTOR)]


class SparseColumn:
    """The sparse vectors of a table, in memory.

    Args:
        column: of the search table, whole.
    """

    def __init__(self, column: pa.ChunkedArray) -> None:
        from scipy.sparse import csr_array

        values = [chunk.flatten() for chunk in column.chunks]
        tokens, weights = (
            np.concatenate([np.zeros(0), *(chunk.field(name).to_numpy() for chunk in values)])
            for name in ("token", "weight")
        )
        sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
        ends = np.concatenate([[0], np.cumsum(sizes)])
        words = int(tokens.max(initial=-1)) + 1
        # Sums are made in double precision and in the order of the words, so that equal
        # publications give equal scores whichever rows are asked for.
        self._matrix: csr_array = csr_array(
            (weights.astype(np.float64), tokens.astype(np.int32), ends.astype(np.int32)),
            shape=(len(column), words),
        )

    @property
    def nbytes(self) -> int:
        """Memory that the vectors take."""
        held = self._matrix
        return int(held.data.nbytes + held.indices.nbytes + held.indptr.nbytes)

    def scores(
        self, pairs: Sequence[float], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return the dot product of each row, or of some rows in their order, with a question.

        Args:
            pairs: as `token_weights` takes them; words that no passage has weigh nothing.
        """
        tokens, weights = token_weights(np.asarray(pairs, np.float32))
        known = tokens < self._matrix.shape[1]
        question = np.zeros(self._matrix.shape[1])
        question[tokens[known]] = weights[known]
        asked: Any = self._matrix if rows is None else self._matrix[rows]
        found: NDArray[np.float64] = asked @ question
        return found

    def nearest(
        self, pairs: Sequence[float], limit: int, rows: NDArray[np.int64] | None
    ) -> dict[int, float]:
        """Return the best `limit` rows with what ties with the last, and their scores above 0.

        Args:
            rows: among which to choose; None for all.
        """
        scores = self.scores(pairs, rows)
        places = np.flatnonzero(scores > 0)
        if len(places) > limit:
            last = np.partition(scores[places], len(places) - limit)[len(places) - limit]
            # Scores that are equal once they are rounded tie as well.
            places = places[scores[places] >= last - _EQUAL]
        chosen = places if rows is None else rows[places]
        return dict(zip(chosen.tolist(), scores[places].tolist(), strict=True))
