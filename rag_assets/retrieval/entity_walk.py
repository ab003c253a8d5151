"""A random walk between entities and the places that name them: personalised PageRank."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

# Chosen with `_ROOT` and `GRAPH_SHARE` on questions whose answer stands in two to four passages
# (docs/evaluation.md).
_RESTART = 0.3
# After so many steps 0.7 ** 24, one part in five thousand, is still to be shared out.
_STEPS = 24


@dataclass(frozen=True, slots=True)
class Walked:
    """How often a walker stands at each entity and at each place; both sum to 1."""

    at_entities: "NDArray[np.float64]"
    at_places: "NDArray[np.float64]"


class EntityWalk:
    """Entities, and places that name them.

    Args:
        counts: how often each entity (row) is named in each place (column); each place names one.
    """

    def __init__(self, counts: "csr_matrix") -> None:
        self.counts = counts

    def walk(self, seeds: Sequence[int]) -> Walked | None:
        """Walk from some entities; None where no place names any of them.

        Args:
            seeds: rows; rare ones are begun at more often.
        """
        import numpy as np

        start = np.zeros(self.counts.shape[0])
        start[list(seeds)] = self._rarity[list(seeds)]
        if not start.any():
            return None
        start /= start.sum()
        # Where no place names an entity, nobody comes there.
        out = np.where(self._totals == 0, 1, self._totals)
        at_entities = start
        for _ in range(_STEPS):
            at_places = self._to_places @ (at_entities / out)
            at_entities = _RESTART * start + (1 - _RESTART) * (self._to_entities @ at_places)
        return Walked(at_entities, self._to_places @ (at_entities / out))

    def named_at(self, place: int) -> Iterator[tuple[int, float]]:
        """Yield the entities of a place, each with how often a walker goes there from it."""
        named = self._to_places[place]
        totals = self._totals
        for entity, count in zip(named.indices.tolist(), named.data.tolist(), strict=True):
            yield entity, count / totals[entity]

    @cached_property
    def _totals(self) -> "NDArray[np.float64]":
        import numpy as np

        return np.asarray(self.counts.sum(axis=1)).ravel()

    @cached_property
    def _rarity(self) -> "NDArray[np.float64]":
        """How much it says that a place names an entity; 0 of one that none names."""
        import numpy as np

        named = np.diff(self.counts.indptr)
        each = np.log1p(self.counts.shape[1] / np.maximum(named, 1))
        rarity: NDArray[np.float64] = np.where(named > 0, each, 0.0)
        return rarity

    @cached_property
    def _to_places(self) -> "csr_matrix":
        return self.counts.T.tocsr()

    @cached_property
    def _to_entities(self) -> "csr_matrix":
        """Where a walker goes from each place: columns sum to 1; rare entities draw more."""
        import numpy as np
        from scipy.sparse import diags

        drawn = self.counts.T.multiply(self._rarity).tocsr()
        totals = np.asarray(drawn.sum(axis=1)).ravel()
        return (diags(1 / totals) @ drawn).T.tocsr()
