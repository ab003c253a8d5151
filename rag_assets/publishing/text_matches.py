"""What one scan of a text index found, kept for the rest of the question."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class TextMatches:
    """The rows that share a word with a question, or the best of them.

    Args:
        rows: found by one scan, in any order.
        scores: of each.
        is_all: whether no other row shares a word.
    """

    def __init__(
        self, rows: NDArray[np.int64], scores: NDArray[np.float64], *, is_all: bool
    ) -> None:
        order = np.argsort(rows)
        self._rows, self._scores = rows[order], scores[order]
        self._is_all = is_all

    def best(self, limit: int, passing: NDArray[np.bool_] | None) -> dict[int, float] | None:
        """Return the best `limit` rows, ties by row; None where the scan did not reach so far.

        Args:
            limit: from 1.
            passing: whether each row of the table may be found; None where all may.
        """
        rows, scores = self._rows, self._scores
        if passing is not None:
            able = passing[rows]
            rows, scores = rows[able], scores[able]
        if len(rows) < limit and not self._is_all:
            return None
        first = np.argsort(-scores, kind="stable")[:limit]
        return dict(zip(rows[first].tolist(), scores[first].tolist(), strict=True))

    def of(self, rows: Sequence[int]) -> dict[int, float] | None:
        """Return the scores of some rows, without those that share no word; None where unknown."""
        wanted = np.unique(np.array(rows, np.int64))
        places = np.searchsorted(self._rows, wanted)
        is_found = np.append(self._rows, -1)[places] == wanted
        if not (self._is_all or is_found.all()):
            return None
        held = places[is_found]
        return dict(zip(self._rows[held].tolist(), self._scores[held].tolist(), strict=True))
