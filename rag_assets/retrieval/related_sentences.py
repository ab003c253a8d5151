"""Walks through the sentences that name two entities, by what a question asks of them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rag_assets.publishing.content_words import content_stems
from rag_assets.retrieval.entity_walk import EntityWalk, Walked

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

# So much more than one with none of them a sentence with all of a question's words draws.
_WORDS = 4


class RelatedSentences:
    """Sentences that name two entities, with their words.

    Args:
        relations: table of a catalogue.
        entities, passages: places of entities and of passages, by name and `chunk_id`.
        texts: passages as they are read, by `chunk_id`.
    """

    def __init__(
        self,
        relations: "pa.Table",
        entities: Mapping[str, int],
        passages: Mapping[str, int],
        texts: Mapping[str, str],
    ) -> None:
        import numpy as np

        named: dict[tuple[str, int, int], set[int]] = defaultdict(set)
        columns = ("chunk_id", "sentence_start", "sentence_end", "first", "second")
        rows = (relations[name].to_pylist() for name in columns)
        for chunk_id, start, end, first, second in zip(*rows, strict=True):
            named[chunk_id, start, end] |= {entities[first], entities[second]}
        self._passages = len(passages)
        self._of = np.array([passages[chunk_id] for chunk_id, _, _ in named], dtype=np.int64)
        self._words: dict[str, int] = {}
        self._said = [
            [self._words.setdefault(word, len(self._words)) for word in content_stems(sentence)]
            for sentence in (texts[chunk_id][start:end] for chunk_id, start, end in named)
        ]
        names = _matrix([sorted(each) for each in named.values()], len(entities))
        self._walk = EntityWalk(names.T.tocsr())

    def walk(self, seeds: Sequence[int], words: Collection[str]) -> Walked | None:
        """Walk from some entities; the places are passages. None where no sentence relates any.

        Args:
            seeds: places of entities.
            words: stems that a sentence should say (`content_stems`).
        """
        import numpy as np

        asked = [self._words[word] for word in words if word in self._words]
        worth = np.ones(len(self._of))
        if asked:
            wanted = np.zeros(len(self._words))
            wanted[asked] = self._rarity[asked]
            worth += _WORDS * (self._says @ wanted) / wanted.sum()
        walked = self._walk.walk(seeds, worth)
        if walked is None:
            return None
        at_passages = np.zeros(self._passages)
        np.add.at(at_passages, self._of, walked.at_places)
        return Walked(walked.at_entities, at_passages)

    @cached_property
    def _says(self) -> "csr_matrix":
        """Which word (column) each sentence says."""
        return _matrix(self._said, len(self._words))

    @cached_property
    def _rarity(self) -> "NDArray[np.float64]":
        import numpy as np

        rarity: NDArray[np.float64] = np.log1p(len(self._of) / self._says.getnnz(axis=0))
        return rarity


def _matrix(rows: Sequence[Sequence[int]], columns: int) -> "csr_matrix":
    """Return a matrix with ones in the named columns of each row."""
    import numpy as np
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *map(len, rows)])
    named = np.fromiter((column for row in rows for column in row), np.int64, ends[-1])
    return csr_matrix((np.ones(len(named)), named, ends), (len(rows), columns))
