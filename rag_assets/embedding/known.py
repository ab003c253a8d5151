"""What the records of a namespace already hold of the vectors that a run needs."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from rag_assets.embedding.record import embeddings_schema, read_keys, read_vectors
from rag_assets.model import DamagedFileError
from rag_assets.storage import Notify, has_layout, match_keys, read_entries
from rag_assets.workspace import Namespace

if TYPE_CHECKING:
    from pathlib import Path

    from rag_assets.embedding.record import Vectors


class KnownVectors:
    """Vectors of one run's passages that are in any record of the namespace: the cache.

    The records are looked through once a run, for all of its partitions, and only where a vector
    stands is remembered: it is read when its partition's turn comes.

    Args:
        models: fingerprints.
        needed: gives the hashes of all that the run may have to encode; asked at most once, and
            only where another record may hold some of it.
    """

    def __init__(
        self,
        namespace: Namespace,
        models: Sequence[str],
        needed: Callable[[], set[str]],
        notify: Notify,
    ) -> None:
        self._namespace, self._models = namespace, models
        self._needed, self._notify = needed, notify
        self._holding: dict[Path, set[str]] | None = None
        self._asked: set[str] = set()
        self._places: dict[str, dict[str, Path]] = {model: {} for model in models}

    def find(self, partition: str, keys: Collection[str]) -> "dict[str, Vectors]":
        """Return, by model, what is known of these inputs; a partition's own record comes first."""
        found: dict[str, Vectors] = {model: {} for model in self._models}
        if self._holding is None:
            self._holding = self._read_manifests()
        own = self._namespace.record("embeddings", partition)
        self._read(own, {model: set(keys) for model in self._holding.get(own, ())}, found)
        missing = {model: set(keys) - found[model].keys() for model in self._models}
        self._locate(missing)
        wanted: dict[Path, dict[str, set[str]]] = {}
        for model, lacking in missing.items():
            places = self._places[model]
            for key in lacking & places.keys():
                wanted.setdefault(places[key], {}).setdefault(model, set()).add(key)
        for path in sorted(wanted):
            self._read(path, wanted[path], found)
        return found

    def count_unknown(self, keys: Collection[str]) -> int:
        """Return how many vectors of these inputs, one a model, no record holds."""
        if self._holding is None:
            self._holding = self._read_manifests()
        self._locate({model: set(keys) for model in self._models})
        return sum(len(set(keys) - places.keys()) for places in self._places.values())

    def remember(self, partition: str, keys: Collection[str]) -> None:
        """Take note that the record of a partition now holds these inputs for every model."""
        own = self._namespace.record("embeddings", partition)
        for places in self._places.values():
            places.update(dict.fromkeys(keys, own))

    def _read_manifests(self) -> "dict[Path, set[str]]":
        """Return which of the models each record has vectors of."""
        holding = {}
        store, key_of = self._namespace.workspace.store, self._namespace.workspace.key_of
        records = key_of(self._namespace.records / "embeddings")
        for path in [store.place(each.key) for each in match_keys(store, f"{records}/*.parquet")]:
            try:
                entries = read_entries(path)
            except DamagedFileError as error:
                self._notify(f"{error} Its vectors are computed again.")
                continue
            # One of an older version is written anew with its partition.
            if has_layout(path, embeddings_schema()):
                held = {model for entry in entries.values() for model in entry.note["held"]}
                if held & set(self._models):
                    holding[path] = held & set(self._models)
        return holding

    def _locate(self, missing: dict[str, set[str]]) -> None:
        """Look through the records for what nobody has asked for before."""
        holding = self._holding or {}
        lacking = {model for model, keys in missing.items() if keys - self._asked}
        if not any(held & lacking for held in holding.values()):
            return
        fresh = set().union(*missing.values()) - self._asked
        if not self._asked:
            fresh |= self._needed()
        self._asked |= fresh
        for path, held in holding.items():
            for model, key in read_keys(path, held, fresh):
                self._places[model].setdefault(key, path)

    def _read(self, path: "Path", wanted: dict[str, set[str]], found: "dict[str, Vectors]") -> None:
        if not wanted:
            return
        keys = set().union(*wanted.values())
        for (_, model), vectors in read_vectors(path, None, wanted.keys(), keys).items():
            found[model].update((key, vectors[key]) for key in vectors.keys() & wanted[model])
