"""The record of the stage `embeddings`: a row for each chunk and model."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import model_input
from rag_assets.chunking.editing import Passages
from rag_assets.embedding.embedder import UNREADABLE_SHARE, can_read
from rag_assets.embedding.models import EmbeddingModel, model_fingerprint
from rag_assets.embedding.sentence_model import WINDOW_TEXTS
from rag_assets.model import (
    ConfigurationError,
    DamagedFileError,
    OutOfMemoryError,
    Progress,
    StageOutcome,
    combine_digests,
    hash_fields,
    hash_text,
)
from rag_assets.storage import (
    Computed,
    Entry,
    Notify,
    has_layout,
    hold_lock,
    match_keys,
    read_entries,
    read_rows,
    rows_of,
    stale_contents,
    write_record,
)
from rag_assets.storage.execution import Execution, Limits, LocalExecution, OnPart
from rag_assets.workspace import Inventory, Namespace
from rag_assets.workspace.stages import (
    DocumentStage,
    claim_lock,
    fingerprints_over,
    is_stale,
    stage_lock,
)

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32] | None]


def embeddings_schema() -> "pa.Schema":
    """Return the schema of the record: one row a chunk and model.

    `model` is the model's fingerprint. `vector` has length 1, or holds the pairs of a sparse
    encoder (`token_weights`); null where the model cannot read the passage.
    """
    import pyarrow as pa

    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("model", pa.string()),
            ("input_hash", pa.string()),
            ("vector", pa.list_(pa.float32())),
        ]
    )


def record_rows(
    content: str,
    ordered: Sequence[tuple[int, str]],
    vectors: "Mapping[str, Vectors]",
    spare: "Mapping[str, Vectors]",
) -> "tuple[pa.Table, dict[str, Any]]":
    """Return a content's rows and the note of its entry."""
    import pyarrow as pa

    orders: list[int] = []
    models: list[str] = []
    keys: list[str] = []
    values: list[NDArray[np.float32] | None] = []
    unreadable = {}
    for model, known in (*sorted(vectors.items()), *sorted(spare.items())):
        held = [(order, key) for order, key in ordered if key in known]
        orders += [order for order, _ in held]
        keys += [key for _, key in held]
        models += [model] * len(held)
        values += [known[key] for _, key in held]
        if model in vectors:
            unreadable[model] = sum(known[key] is None for _, key in held)
    table = pa.table(
        {
            "content_hash": pa.array([content] * len(orders), pa.string()),
            "order": pa.array(orders, pa.int32()),
            "model": pa.array(models, pa.string()),
            "input_hash": pa.array(keys, pa.string()),
            "vector": _vector_array(values),
        },
        schema=embeddings_schema(),
    )
    note = {
        "models": sorted(vectors),
        "held": sorted(set(models)),
        "unreadable": unreadable,
        "chunks": len(ordered),
    }
    return table, note


def _vector_array(vectors: "Sequence[NDArray[np.float32] | None]") -> "pa.Array":
    import numpy as np
    import pyarrow as pa

    offsets: list[int | None] = []
    end = 0
    for vector in vectors:
        offsets.append(None if vector is None else end)
        end += 0 if vector is None else len(vector)
    present = [vector for vector in vectors if vector is not None]
    flat = np.concatenate(present) if present else np.zeros(0, np.float32)
    return pa.ListArray.from_arrays(
        pa.array([*offsets, end], pa.int32()), pa.array(flat.astype(np.float32, copy=False))
    )


def read_keys(
    path: "Path", models: Collection[str], keys: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the (model, input) pairs of these models and inputs that a record holds."""
    rows = read_rows(path, embeddings_schema(), None, ["model", "input_hash"])
    rows = rows.filter(_chosen(rows, models, keys))
    yield from zip(rows["model"].to_pylist(), rows["input_hash"].to_pylist(), strict=True)


def _chosen(
    rows: "pa.Table", models: Collection[str], keys: Collection[str] | None
) -> "pa.ChunkedArray":
    import pyarrow as pa
    import pyarrow.compute as pc

    mask = pc.is_in(rows["model"], value_set=pa.array(sorted(models), pa.string()))
    if keys is None:
        return mask
    wanted = pa.array(sorted(keys), pa.string())
    return pc.and_(mask, pc.is_in(rows["input_hash"], value_set=wanted))


def read_vectors(
    path: "Path",
    contents: Collection[str] | None,
    models: Collection[str],
    keys: Collection[str] | None,
) -> "dict[tuple[str, str], Vectors]":
    """Return by (content, model) what a record holds of these contents, models and inputs.

    Args:
        contents: None for all.
        keys: hashes of inputs; None for all.
    """
    import pyarrow.compute as pc

    found: dict[tuple[str, str], Vectors] = {}
    rows = read_rows(path, embeddings_schema(), contents)
    rows = rows.filter(_chosen(rows, models, keys)).combine_chunks()
    flat = rows["vector"].combine_chunks().flatten().to_numpy()
    sizes = pc.fill_null(pc.list_value_length(rows["vector"]), -1).to_pylist()
    start = 0
    for content, model, key, size in zip(
        *(rows[name].to_pylist() for name in ("content_hash", "model", "input_hash")),
        sizes,
        strict=True,
    ):
        vector = None if size < 0 else flat[start : start + size]
        start += max(size, 0)
        found.setdefault((content, model), {})[key] = vector
    return found


# What the records of a namespace already hold of the vectors that a run needs.


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


# Encoding as a kind of work: texts in, numbers out; the model is loaded where a job is done.


# What a model sorts by length at a time: a job that ends there costs no batch more.
JOB_TEXTS = WINDOW_TEXTS
# Below that a second worker costs more than it saves: a round trip for a few texts.
LEAST_TEXTS = 16
# What a worker of several does at a time, and what is done again where it dies.
SHARE_TEXTS = 512


@dataclass(frozen=True, slots=True)
class EncodeJob:
    """Passages for one model.

    Args:
        number: of the job among those that are given together.
        texts: what the model is given, before its own prompt.
        model: its settings, and the fingerprint that it must have where the job is done.
    """

    number: int
    texts: tuple[str, ...]
    model: EmbeddingModel


@dataclass(frozen=True, slots=True, eq=False)
class EncodeResult:
    """The numbers of each text of a job.

    Args:
        number: of the job.
        flat: float32, those of all texts one after the other.
        sizes: how many each text has: its vector's length, or the pairs of a sparse encoder.
    """

    number: int
    flat: "NDArray[np.float32]"
    sizes: tuple[int, ...]

    def vectors(self) -> "Iterator[NDArray[np.float32]]":
        """Yield the numbers of each text, as views."""
        import numpy as np

        for start, end in pairwise((0, *np.cumsum(self.sizes).tolist())):
            yield self.flat[start:end]

    def __eq__(self, other: object) -> bool:
        """Compare by value, bit by bit."""
        if not isinstance(other, EncodeResult):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        """Return the hash of the value."""
        return hash(self._key())

    def _key(self) -> tuple[int, tuple[int, ...], bytes]:
        return self.number, self.sizes, self.flat.tobytes()


@dataclass(frozen=True, slots=True)
class EncodeKind:
    """Encoding: one job at a time, since a model takes every core; its service limits the rest."""

    name: str = "encode"

    @property
    def limits(self) -> Limits:
        """None: a job is as long as its texts."""
        return Limits()

    def open_worker(self) -> "_Encoder":
        """Return a worker that loads the model of its first job."""
        return _Encoder()

    def claim(self, job: EncodeJob) -> None:
        """No job: what it gives is found by others only when its partition is written."""

    def give_up(self, job: EncodeJob, trouble: str) -> EncodeResult:
        """End the run, as it ends where a model takes this process's own memory.

        Raises:
            OutOfMemoryError: always.
        """
        raise OutOfMemoryError(
            f"embed.models: the workers died while they encoded with {job.model.name!r}, most "
            f"likely since the machine had no memory left ({trouble}). Give the machines more "
            "memory or fewer workers and run again: partitions that are done stay done."
        )


class _Encoder:
    """Encodes in this process, by the models that are loaded once in it."""

    def do(self, job: EncodeJob, on_part: OnPart[EncodeJob] | None) -> EncodeResult:
        """Return the numbers of a job's texts.

        Raises:
            ConfigurationError: the model is not here, or is another one than was meant.
        """
        import numpy as np

        model = job.model
        found = model_fingerprint(model.settings)
        if found != model.fingerprint:
            raise ConfigurationError(
                f"embed.models: the files of {model.name!r} are not those that the run began "
                f"with (fingerprint {found[:12]}, not {model.fingerprint[:12]}). Let every machine "
                "have the same files, and run again."
            )
        encoded = model.passage_encoder().encode_passages(
            job.texts, (lambda done, _: on_part(job, done)) if on_part else None
        )
        vectors = list(encoded)
        flat = np.concatenate(vectors) if vectors else np.zeros(0, np.float32)
        return EncodeResult(job.number, flat, tuple(map(len, vectors)))

    def stop(self) -> None:
        """Nothing that another thread could end."""

    def close(self) -> None:
        """The models stay loaded, for the next one in this process."""


def encode_texts(
    model: EmbeddingModel,
    texts: Sequence[str],
    execution: Execution,
    notify: Notify,
    on_progress: "Callable[[int, int], None] | None" = None,
) -> "list[NDArray[np.float32]]":
    """Return what a model makes of each text, in the order of the texts.

    Args:
        on_progress: told (texts done, texts in all).
    """
    kind = EncodeKind()
    places = _shares(len(texts), execution.at_once(kind))
    jobs = [
        EncodeJob(number, tuple(texts[place] for place in share), model)
        for number, share in enumerate(places)
    ]
    parts = [0] * len(jobs)

    def on_part(job: EncodeJob, part: int) -> None:
        parts[job.number] = part
        if on_progress:
            on_progress(sum(parts), len(texts))

    found: dict[int, NDArray[np.float32]] = {}
    for result in execution.map(kind, jobs, notify, on_part=on_part if on_progress else None):
        parts[result.number] = len(result.sizes)
        found.update(zip(places[result.number], result.vectors(), strict=True))
    return [found[place] for place in range(len(texts))]


def _shares(texts: int, at_once: int) -> list[range]:
    """Return the places of the texts of each job.

    One worker has window after window of texts that come sorted by length. Several have every
    n-th text each: as many short ones as long ones.
    """
    if at_once == 1:
        return [range(first, min(first + JOB_TEXTS, texts)) for first in range(0, texts, JOB_TEXTS)]
    count = max(1, min(max(at_once, ceil(texts / SHARE_TEXTS)), texts // LEAST_TEXTS))
    return [range(first, texts, count) for first in range(count)]


# The vectors of a partition: looked up where any record has them, else encoded.


@dataclass(frozen=True, slots=True)
class Tally:
    """Vectors of one partition by the name of their model."""

    encoded: "Counter[str]" = field(default_factory=Counter)
    looked_up: "Counter[str]" = field(default_factory=Counter)


class Work:
    """Tells how many passages of all that a run encodes have their vectors.

    Args:
        models: each of them looks at every passage.
    """

    def __init__(self, on_progress: Progress | None, models: int) -> None:
        self._on_progress = on_progress
        self._models = models
        self._done = 0.0
        self.total = 0

    def part(self, chunks: int) -> "Callable[[int, int], None] | None":
        """Return what tells how far one model is with some chunks."""
        if self._on_progress is None:
            return None
        return lambda done, total: self._tell(self._done + chunks * done / total)

    def finish(self, chunks: int) -> None:
        """Count chunks that a model has looked at."""
        self._done += chunks
        self._tell(self._done)

    def _tell(self, done: float) -> None:
        if self._on_progress and self.total:
            self._on_progress(
                "encoding passages", min(int(done / self._models), self.total), self.total
            )


class GatheredVectors:
    """What one partition's record is going to hold, by model.

    Args:
        known: what the records of the namespace hold.
        execution: where the rest is encoded.
        work: told how far that is.
    """

    def __init__(
        self,
        models: Sequence[EmbeddingModel],
        known: KnownVectors,
        execution: Execution,
        work: Work,
        notify: Notify,
    ) -> None:
        self.tallies: dict[str, Tally] = {}
        self._models, self._known, self._execution = models, known, execution
        self._work, self._notify = work, notify
        self._vectors: dict[str, Vectors] = {}
        self.forget()

    def forget(self) -> None:
        """Begin another partition."""
        self._vectors = {model.fingerprint: {} for model in self._models}

    def gather(
        self, partition: str, inputs: Mapping[str, str], chunks: int
    ) -> "Mapping[str, Vectors]":
        """Return, by model, the vectors of some inputs, and of those gathered before.

        Args:
            inputs: what a model is given, by its hash.
            chunks: that have these inputs.
        """
        lacking = {model: inputs.keys() - held.keys() for model, held in self._vectors.items()}
        if not any(lacking.values()):
            return self._vectors
        known = self._known.find(partition, set[str]().union(*lacking.values()))
        tally = self.tallies.setdefault(partition, Tally())
        for model in self._models:
            held, found = self._vectors[model.fingerprint], known[model.fingerprint]
            tally.looked_up[model.name] += _count_vectors(found)
            missing = lacking[model.fingerprint] - found.keys()
            said = self._work.part(chunks)
            fresh = _encode(model, inputs, missing, self._execution, said, self._notify)
            tally.encoded[model.name] += _count_vectors(fresh)
            held.update(found)
            held.update(fresh)
            self._work.finish(chunks)
        return self._vectors


def _count_vectors(vectors: "Vectors") -> int:
    return sum(vector is not None for vector in vectors.values())


def _encode(
    model: EmbeddingModel,
    inputs: Mapping[str, str],
    missing: Collection[str],
    execution: Execution,
    on_progress: "Callable[[int, int], None] | None",
    notify: Notify,
) -> "Vectors":
    """Return what a model makes of the inputs named in `missing`.

    A passage that a service refuses has no vector of it, like one that a model cannot read.
    """
    found: Vectors = {}
    if not missing:
        return found
    tokenizer = model.tokenizer()
    readable = []
    for key in sorted(missing, key=lambda key: (len(inputs[key]), key)):
        if can_read(tokenizer, inputs[key]):
            readable.append(key)
        else:
            found[key] = None
    if readable:
        texts = [inputs[key] for key in readable]
        encoded = encode_texts(model, texts, execution, notify, on_progress)
        found.update(
            (key, vector if vector.any() else None)
            for key, vector in zip(readable, encoded, strict=True)
        )
        empty = [inputs[key] for key in readable if found[key] is None]
        if empty:
            notify(
                f"{len(empty)} passages have no vector of {model.name}: it refused them, or found "
                "no word that it knows. They are found by their words and by other models. The "
                f"first begins: {empty[0][:60]!r}"
            )
    return found


# The stage `embeddings`: for every chunk a vector of each model. The records are the cache.
#
# A record has a row for each chunk and model. Vectors of models that are no longer configured stay
# beside the others as long as their passages do, so that a model that is taken back costs nothing;
# `prune_vectors` removes them. They are no part of a content's digest.


# Counts as code: raise it when the string given to a model changes for the same chunk.
EMBEDDING_VERSION = 3

# What `chunk_input` reads of a chunk.
CHUNK_INPUTS = ("text", "context", "prepared", "question")


def chunk_input(row: Mapping[str, Any]) -> str:
    """Return the string that a model is given for a row of `chunks`, before its own prompt.

    Args:
        row: with the columns `CHUNK_INPUTS`.
    """
    replaced = row["prepared"] if row["question"] is None else row["question"]
    return model_input(row["text"], row["context"], replaced)


def refresh_embeddings(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    models: Sequence[EmbeddingModel],
    notify: Notify,
    *,
    on_progress: Progress | None = None,
    execution: Execution | None = None,
) -> dict[str, StageOutcome]:
    """Give every chunk a vector of each model, looking it up before encoding it.

    A model is loaded only when there is something to encode with it. It gives no vector to a
    passage that it cannot read (`can_read`). A partition's lock is held while its record is
    written, not while its passages are encoded.

    Args:
        models: in any order; a vector made by another model is never used.
        execution: where passages are encoded; this machine where nothing else is said.
    """
    configured = sorted(model.fingerprint for model in models)
    rule = _rule(configured)
    passages = Passages(namespace, inventory)

    @contextmanager
    def prepared(partition: str) -> Iterator[None]:
        """Have the vectors before the record's lock is taken; another run's are waited for."""
        with ExitStack() as stack:
            stack.callback(gathered.forget)
            if seen_stale(partition):
                lock = claim_lock(namespace, "embeddings", partition)
                stack.enter_context(hold_lock(lock, f"embeddings {partition}", notify))
                stale = _stale(namespace, partition, wanted(partition))
                given = [text for _, _, text in _inputs(passages, partition, stale)]
                gathered.gather(partition, {hash_text(text): text for text in given}, len(given))
            yield

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        # Read again under the lock: what was prepared counts where it is still wanted.
        upstream = passages.entries(partition)
        inputs: dict[str, str] = {}
        keys: dict[str, list[tuple[int, str]]] = {content: [] for content in stale}
        for content, order, given in _inputs(passages, partition, stale):
            key = hash_text(given)
            inputs[key] = given
            keys[content].append((order, key))
        vectors = gathered.gather(partition, inputs, sum(map(len, keys.values())))
        spare = _spare_vectors(namespace.record("embeddings", partition), stale, configured)
        for content, ordered in keys.items():
            of = upstream[content].digest
            rows, note = record_rows(content, ordered, vectors, spare.get(content, {}))
            digest = combine_digests(
                part for model in configured for part in (model, *(key for _, key in ordered))
            )
            entry = Entry(hash_fields(rule, of), digest, len(rows), {"of": of, **note})
            yield content, entry, rows
        known.remember(partition, inputs.keys())

    @cache
    def wanted(partition: str) -> dict[str, str]:
        entries = passages.entries(partition)
        return fingerprints_over(namespace, inventory, partition, entries, rule)

    @cache
    def seen_stale(partition: str) -> list[str]:
        """Look once a run; where there is something, `prepared` looks again."""
        return _stale(namespace, partition, wanted(partition))

    def needed() -> set[str]:
        return {
            hash_text(given)
            for partition in partitions
            for _, _, given in _inputs(passages, partition, seen_stale(partition))
        }

    known = KnownVectors(namespace, configured, needed, notify)
    work = Work(on_progress, len(models))
    gathered = GatheredVectors(models, known, execution or LocalExecution(), work, notify)
    stage = DocumentStage(
        "embeddings",
        embeddings_schema(),
        wanted,
        compute,
        lambda entry: int(entry.note["chunks"]),
        prepared,
    )
    if on_progress:
        work.total = sum(_count_chunks(passages, key, seen_stale(key)) for key in partitions)
    outcomes = stage.refresh(namespace, inventory, partitions, notify, None)
    return {
        partition: replace(
            outcome,
            counts={
                **outcome.counts,
                **_model_counts(
                    models,
                    gathered.tallies.get(partition, Tally()),
                    _unreadable(namespace, partition, wanted(partition)),
                ),
            },
        )
        for partition, outcome in outcomes.items()
    }


def has_stale_vectors(
    namespace: Namespace, inventory: Inventory, fingerprints: Collection[str]
) -> bool:
    """Say whether `refresh_embeddings` would look at anything. Reads no passage.

    Args:
        fingerprints: of the configured models, in any order.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    rule, passages = _rule(sorted(fingerprints)), Passages(namespace, inventory)
    for partition in namespace.partition_keys:
        entries = passages.entries(partition)
        wanted = fingerprints_over(namespace, inventory, partition, entries, rule)
        if is_stale(namespace, "embeddings", partition, wanted):
            return True
    return False


def count_unknown_vectors(
    namespace: Namespace, passages: Passages, contents: Collection[str], models: Sequence[str]
) -> int:
    """Return how many vectors of some contents no record of the namespace holds.

    Args:
        models: fingerprints.
    """
    by_partition: dict[str, list[str]] = {}
    for content in contents:
        by_partition.setdefault(namespace.partition_of(content), []).append(content)
    keys = {
        hash_text(given)
        for partition, of_it in by_partition.items()
        for _, _, given in _inputs(passages, partition, of_it)
    }
    # What damaged records held is told by whoever refreshes them.
    return KnownVectors(namespace, models, lambda: keys, lambda _: None).count_unknown(keys)


def _rule(configured: Sequence[str]) -> str:
    return hash_fields(EMBEDDING_VERSION, UNREADABLE_SHARE, list(configured))


def _model_counts(
    models: Sequence[EmbeddingModel], tally: Tally, unreadable: Mapping[str, int]
) -> dict[str, int]:
    """Return what a person is told of each model: this run's vectors, and whom it gives none."""
    counts = {}
    for model in models:
        counts[f"encoded by {model.name}"] = tally.encoded[model.name]
        counts[f"looked up for {model.name}"] = tally.looked_up[model.name]
        counts[f"not readable by {model.name}"] = unreadable.get(model.fingerprint, 0)
    return counts


def _unreadable(namespace: Namespace, partition: str, living: Collection[str]) -> Counter[str]:
    """Return, by model, the chunks of living contents that it cannot read."""
    counts: Counter[str] = Counter()
    for content, entry in read_entries(namespace.record("embeddings", partition)).items():
        if content in living:
            counts.update(entry.note["unreadable"])
    return counts


def _count_chunks(passages: Passages, partition: str, contents: Collection[str]) -> int:
    chunks = passages.entries(partition) if contents else {}
    return sum(chunks[content].rows for content in contents)


def _stale(namespace: Namespace, partition: str, wanted: Mapping[str, str]) -> list[str]:
    """Return the contents of a partition that have no rows of the wanted fingerprint."""
    path = namespace.record("embeddings", partition)
    if not wanted:
        return []
    try:
        held = read_entries(path) if has_layout(path, embeddings_schema()) else {}
    except DamagedFileError:
        held = {}  # told, and rebuilt, by whoever refreshes the record
    return stale_contents(held, wanted)


def _inputs(
    passages: Passages, partition: str, contents: Collection[str]
) -> Iterator[tuple[str, int, str]]:
    """Yield content, order and what a model is given of every chunk of some contents."""
    if contents:
        columns = ["content_hash", "order", *CHUNK_INPUTS]
        for row in rows_of(passages.rows(partition, contents, columns)):
            yield row["content_hash"], row["order"], chunk_input(row)


def _spare_vectors(
    path: "Path", contents: Sequence[str], configured: Sequence[str]
) -> "dict[str, dict[str, Vectors]]":
    """Return, by content and model, the vectors of models that are not configured (any more)."""
    spare: dict[str, dict[str, Vectors]] = {}
    try:
        entries = read_entries(path)
    except DamagedFileError:
        return spare  # told, and rebuilt, by whoever refreshes the record
    if not has_layout(path, embeddings_schema()):
        return spare
    models = {m for c in contents if c in entries for m in entries[c].note["held"]}
    others = models - set(configured)
    if others:
        held = [content for content in contents if content in entries]
        for (content, model), vectors in read_vectors(path, held, others, None).items():
            spare.setdefault(content, {})[model] = vectors
    return spare


def prune_vectors(
    namespace: Namespace, partition: str, fingerprints: Collection[str], notify: Notify
) -> int:
    """Drop the vectors of models that are no longer configured. Returns how many went.

    A content that has not been given the present models yet keeps what it has of them, and is
    refreshed by the next build.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    path, schema = namespace.record("embeddings", partition), embeddings_schema()
    with hold_lock(
        stage_lock(namespace, "embeddings", partition), f"embeddings {partition}", notify
    ):
        entries = read_entries(path)
        if not has_layout(path, schema):
            return 0
        if not any(set(entry.note["held"]) - set(fingerprints) for entry in entries.values()):
            return 0
        rows = read_rows(path, schema, entries)
        configured = pa.array(sorted(fingerprints), pa.string())
        kept = rows.filter(pc.is_in(rows["model"], value_set=configured))
        sizes = Counter(kept["content_hash"].to_pylist())
        pruned = {}
        for content, entry in entries.items():
            held = [model for model in entry.note["held"] if model in fingerprints]
            note = {**entry.note, "held": held}
            if set(entry.note["models"]) <= set(fingerprints):
                pruned[content] = replace(entry, rows=sizes[content], note=note)
            else:  # for no set of models any more, so that the next build refreshes it
                note["models"] = []
                pruned[content] = Entry("", entry.digest, sizes[content], note)
        write_record(path, schema, pruned, [kept])
        return len(rows) - len(kept)
