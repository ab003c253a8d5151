"""A random walk between entities and the places that name them: personalised PageRank."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import split_sentences
from rag_assets.model import HAN_RANGES
from rag_assets.publishing.graph import LEAST_IN_ANY_CASE, normalise

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

# Chosen with `_ROOT` and the graph's share on questions whose answer stands in two to four passages
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


# Search by entities: from what a question names to what stands beside it, by a random walk.
#
# Personalised PageRank (Haveliwala, WWW 2002) over entities and the passages that name them: a
# walker begins at an entity of the question, goes to a passage that names it, on to another entity
# there, and returns to the question at every step with some probability. Passages are ranked by how
# often he stands there. HippoRAG (NeurIPS 2024) does so over triples of a language model.
#
# Walks through the sentences that name two entities, weighed by the question's words, were measured
# beside it and found nothing more (docs/evaluation.md).


# How near a passage is, is a root of how often he stands there: after one more entity that is some
# hundredth, which would count as nothing beside the first passages.
_ROOT = 0.25
_DECIMALS = 9
_WORD = re.compile(rf"[{HAN_RANGES}]|[^\W_]+(?:[-‐‑–'’.][^\W_]+)*")
_IS_NAME = re.compile(rf"[A-Z\d{HAN_RANGES}]")
_LONGEST_NAME = 14  # words; of Chinese, characters


class EntityGraph:
    """The entities of one publication.

    Args:
        entities, mentions, relations: tables of its catalogue.
    """

    def __init__(self, entities: "pa.Table", mentions: "pa.Table", relations: "pa.Table") -> None:
        import pyarrow.compute as pc

        self._entities: list[str] = entities["entity"].to_pylist()
        self._names: list[str] = entities["name"].to_pylist()
        self._place = {entity: place for place, entity in enumerate(self._entities)}
        self._by_form: dict[str, list[int]] = {}
        # What is a name only by its capitals is none in small letters.
        self._are_terms = [set(rules) != {"name"} for rules in entities["rules"].to_pylist()]
        self._are_listed = ["listed" in rules for rules in entities["rules"].to_pylist()]
        for place, forms in enumerate(entities["forms"].to_pylist()):
            for form in forms:
                self._by_form.setdefault(form, []).append(place)
        chunks = mentions["chunk_id"].unique()
        self.chunk_ids: list[str] = chunks.to_pylist()
        self._chunk_place = {chunk: place for place, chunk in enumerate(self.chunk_ids)}
        self._rows = pc.index_in(mentions["entity"], value_set=entities["entity"].combine_chunks())
        self._columns = pc.index_in(mentions["chunk_id"], value_set=chunks)
        self._mentions, self._relations = mentions, relations
        # Hits of one question are explained one by one.
        self._named = lru_cache(maxsize=8)(self._read_names)
        self._found = lru_cache(maxsize=8)(self._find)

    @property
    def mentions(self) -> list[tuple[str, str]]:
        """Rule and `chunk_id` of each mention."""
        columns = (self._mentions[name].to_pylist() for name in ("rule", "chunk_id"))
        return list(zip(*columns, strict=True))

    def names_in(self, question: str) -> Mapping[str, str]:
        """Return the entities that a question names, with their usual names.

        The longest spellings that are known count. Words in small letters name nothing, since a
        company may be called as a fruit, but for several that are a term (a long form, a quotation)
        and for what `graph.names` lists. The capital that a sentence begins with makes no name.
        """
        return self._named(question)

    def _read_names(self, question: str) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for places in self._named_places(question):
            found |= {self._entities[place]: self._names[place] for place in places}
        return found

    def _named_places(self, question: str) -> Iterator[list[int]]:
        words = [word.span() for word in _WORD.finditer(question)]
        openings = {start for start, _ in split_sentences(question)}
        first = 0
        while first < len(words):
            start = words[first][0]
            for last in range(min(first + _LONGEST_NAME, len(words)) - 1, first - 1, -1):
                end = words[last][1]
                form = normalise(question[start:end])
                places = self._by_form.get(form, [])
                if not _IS_NAME.search(question, start + (start in openings), end):
                    named = self._are_terms if last > first else self._are_listed
                    places = [p for p in places if named[p] and len(form) >= LEAST_IN_ANY_CASE]
                if places:
                    yield places
                    first = last
                    break
            first += 1

    def scores(self, question: str) -> Mapping[str, float]:
        """Return how near each passage is to the entities of a question; above 0, at most 1.

        Empty where the question names nothing that is known. The nearest has 1.
        """
        found = self._found(question)
        if found is None:
            return {}
        nearness = (found.at_places / found.at_places.max()).round(_DECIMALS) ** _ROOT
        return {
            self.chunk_ids[place]: score
            for place, score in enumerate(nearness.round(_DECIMALS).tolist())
            if score > 0
        }

    def explain(self, question: str, chunk_id: str) -> dict[str, Any]:
        """Return through what a question leads to a passage; empty where through nothing.

        Returns:
            `entities`: one that question and passage name, or one of the question and one of the
            passage that stand together; `sentences`: of this passage that name it, or of the
            library that name both.
        """
        named = self.names_in(question)
        column = self._chunk_place.get(chunk_id)
        found = self._found(question)
        if column is None or found is None or found.at_places[column] == 0:
            return {}
        through = {
            place: round(found.at_entities[place] * share, _DECIMALS)
            for place, share in self._passages.named_at(column)
        }
        place = min(through, key=lambda each: (-through[each], each))
        return self._told(named, chunk_id, place) if through[place] > 0 else {}

    def _told(self, named: Mapping[str, str], chunk_id: str, place: int) -> dict[str, Any]:
        entity = self._entities[place]
        if entity in named:
            return {"entities": [named[entity]], "sentences": self._named_in[chunk_id, entity]}
        linked = {seed: self._together[min(seed, entity), max(seed, entity)] for seed in named}
        seed = min(linked, key=lambda each: (-linked[each], each))
        return {"entities": [named[seed], self._names[place]], "sentences": linked[seed]}

    def _find(self, question: str) -> Walked | None:
        """Return what the walk from the names of a question finds; None without a start."""
        named = self.names_in(question)
        if not named:
            return None
        return self._passages.walk([self._place[entity] for entity in sorted(named)])

    @cached_property
    def _named_in(self) -> Counter[tuple[str, str]]:
        """In how many sentences of a passage an entity is named."""
        names = ("chunk_id", "entity", "sentence_start")
        rows = set(zip(*(self._mentions[name].to_pylist() for name in names), strict=True))
        return Counter((chunk_id, entity) for chunk_id, entity, _ in rows)

    @cached_property
    def _together(self) -> Counter[tuple[str, str]]:
        """In how many sentences two entities stand together."""
        pairs = (self._relations[name].to_pylist() for name in ("first", "second"))
        return Counter(zip(*pairs, strict=True))

    @cached_property
    def _passages(self) -> EntityWalk:
        """How often each entity is named in each passage, dampened."""
        import numpy as np
        from scipy.sparse import csr_matrix

        shape = (len(self._entities), len(self.chunk_ids))
        ones = np.ones(len(self._mentions))
        counts = csr_matrix((ones, (self._rows.to_numpy(), self._columns.to_numpy())), shape)
        counts.sum_duplicates()
        counts.data = 1 + np.log(counts.data)
        return EntityWalk(counts)
