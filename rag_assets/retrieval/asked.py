"""Passages by questions that people ask about them: a searcher of statutes.

People describe what happened and statutes name it, so that the two share few words. For some
thousand articles questions in everyday words are known (configs/law_asked.json); a new question
that is like one of them is likely decided by the same article. That passages are found by
questions that they answer follows Nogueira and Lin, "From doc2query to docTTTTTquery" (2019).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from rag_assets.law import wording_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.embedding.taught import KnownQuestions


class AskedPassages:
    """The passages of a publication about which questions are known.

    Args:
        passages: (chunk_id, text) of all.
        known: the questions.
    """

    def __init__(self, passages: Iterable[tuple[str, str]], known: "KnownQuestions") -> None:
        import numpy as np

        wordings, self._starts = np.unique(known.wordings, return_index=True)
        place = {int(one): at for at, one in enumerate(wordings)}
        found: dict[str, list[int]] = {}
        for chunk_id, text in sorted(passages):
            own = [place[key] for key in wording_keys(text) if key in place]
            if own:
                found[chunk_id] = own
        self._vectors = known.vectors
        self._rows = {chunk_id: row for row, chunk_id in enumerate(found)}
        self._places = np.fromiter(chain.from_iterable(found.values()), np.int64)
        self._firsts = np.cumsum([0, *map(len, found.values())][:-1])

    def ask(self, vector: Sequence[float]) -> "AskedScores | None":
        """Return how like the likest known question about each passage is to one.

        Args:
            vector: of the question, of length 1, as the known ones were encoded.

        Returns:
            None where no question is known about any passage.
        """
        import numpy as np

        if not self._rows:
            return None
        alike = self._vectors @ np.asarray(vector, np.float32)
        best = np.maximum.reduceat(alike, self._starts)[self._places]
        return AskedScores(self._rows, np.maximum.reduceat(best, self._firsts))


class AskedScores:
    """Cosines of passages, by the row of each."""

    def __init__(self, rows: Mapping[str, int], cosines: "NDArray[np.float32]") -> None:
        self._rows = rows
        # The last bits depend on the processor.
        self._cosines = cosines.astype(float).round(6)

    def ranked(self) -> Iterator[tuple[str, float]]:
        """Yield (chunk_id, cosine), best first, ties by id."""
        ids = list(self._rows)
        for row in (-self._cosines).argsort(kind="stable").tolist():
            yield ids[row], float(self._cosines[row])

    def of(self, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosines of some passages; those without known questions are left out."""
        return {
            one: float(self._cosines[self._rows[one]]) for one in chunk_ids if one in self._rows
        }
