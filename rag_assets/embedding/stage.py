"""The stage `embeddings`: for every chunk a vector of each model. The records are the cache.

A record has a row for each chunk and model. Vectors of models that are no longer configured stay
beside the others as long as their passages do, so that a model that is taken back costs nothing;
`prune_vectors` removes them. They are no part of a content's digest.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import chunks_schema, model_input
from rag_assets.embedding.known import KnownVectors
from rag_assets.embedding.models import EmbeddingModel
from rag_assets.embedding.readable import UNREADABLE_SHARE, can_read
from rag_assets.embedding.record import embeddings_schema, read_vectors, record_rows
from rag_assets.model import (
    DamagedFileError,
    Progress,
    StageOutcome,
    combine_digests,
    hash_fields,
    hash_text,
)
from rag_assets.stages import DocumentStage, stage_lock, upstream_fingerprints
from rag_assets.storage import (
    Computed,
    Entry,
    Notify,
    has_layout,
    hold_lock,
    read_entries,
    read_rows,
    write_record,
)
from rag_assets.workspace import Inventory, Namespace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rag_assets.embedding.record import Vectors

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


def has_vectors_of(entry: Entry, fingerprints: Collection[str]) -> bool:
    """Say whether an entry's rows were made for exactly these models, in whatever order."""
    return bool(entry.note.get("models") == sorted(fingerprints))


def refresh_embeddings(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    models: Sequence[EmbeddingModel],
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Give every chunk a vector of each model, looking it up before encoding it.

    A model is loaded only when there is something to encode with it. It gives no vector to a
    passage that it cannot read (`can_read`).

    Args:
        models: in any order; a vector made by another model is never used.
    """
    configured = sorted(model.fingerprint for model in models)
    rule = _rule(configured)
    tallies: dict[str, _Tally] = {}
    work = _Work(on_progress, len(models))

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        upstream = read_entries(namespace.record("chunks", partition))
        inputs: dict[str, str] = {}
        passages: dict[str, list[tuple[int, str]]] = {content: [] for content in stale}
        for content, order, given in _inputs(namespace, partition, stale):
            key = hash_text(given)
            inputs[key] = given
            passages[content].append((order, key))
        vectors = known_vectors.find(partition, inputs.keys())
        tally = tallies.setdefault(partition, _Tally())
        for model in models:
            known = vectors[model.fingerprint]
            tally.looked_up[model.name] += _count_vectors(known)
            chunks = sum(map(len, passages.values()))
            said = work.part(chunks)
            fresh = _encode(model, inputs, inputs.keys() - known.keys(), said, notify)
            tally.encoded[model.name] += _count_vectors(fresh)
            known.update(fresh)
            work.finish(chunks)
        spare = _spare_vectors(namespace.record("embeddings", partition), stale, configured)
        for content, ordered in passages.items():
            of = upstream[content].digest
            rows, note = record_rows(content, ordered, vectors, spare.get(content, {}))
            digest = combine_digests(
                part for model in configured for part in (model, *(key for _, key in ordered))
            )
            entry = Entry(hash_fields(rule, of), digest, len(rows), {"of": of, **note})
            yield content, entry, rows
        known_vectors.remember(partition, inputs.keys())

    @cache
    def wanted(partition: str) -> dict[str, str]:
        return upstream_fingerprints(namespace, inventory, partition, "chunks", rule)

    def needed() -> set[str]:
        return {
            hash_text(given)
            for partition in partitions
            for _, _, given in _inputs(
                namespace, partition, _stale(namespace, partition, wanted(partition))
            )
        }

    known_vectors = KnownVectors(namespace, configured, needed, notify)
    stage = DocumentStage(
        "embeddings", embeddings_schema(), wanted, compute, lambda entry: int(entry.note["chunks"])
    )
    if on_progress:
        work.total = sum(_stale_chunks(namespace, key, wanted(key)) for key in partitions)
    outcomes = stage.refresh(namespace, inventory, partitions, notify, None)
    return {
        partition: replace(
            outcome,
            counts={
                **outcome.counts,
                **_model_counts(
                    models,
                    tallies.get(partition, _Tally()),
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
    rule = _rule(sorted(fingerprints))
    for partition in namespace.partition_keys:
        wanted = upstream_fingerprints(namespace, inventory, partition, "chunks", rule)
        held = read_entries(namespace.record("embeddings", partition)) if wanted else {}
        if any(c not in held or held[c].fingerprint != f for c, f in wanted.items()):
            return True
    return False


def _rule(configured: Sequence[str]) -> str:
    return hash_fields(EMBEDDING_VERSION, UNREADABLE_SHARE, list(configured))


@dataclass(frozen=True, slots=True)
class _Tally:
    """Vectors of one partition by the name of their model."""

    encoded: "Counter[str]" = field(default_factory=Counter)
    looked_up: "Counter[str]" = field(default_factory=Counter)


def _count_vectors(vectors: "Vectors") -> int:
    return sum(vector is not None for vector in vectors.values())


def _model_counts(
    models: Sequence[EmbeddingModel], tally: _Tally, unreadable: Mapping[str, int]
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


class _Work:
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
            self._on_progress("encoding passages", int(done / self._models), self.total)


def _stale_chunks(namespace: Namespace, partition: str, wanted: Mapping[str, str]) -> int:
    """Return how many chunks of a partition this stage will look at."""
    chunks = read_entries(namespace.record("chunks", partition))
    return sum(chunks[content].rows for content in _stale(namespace, partition, wanted))


def _stale(namespace: Namespace, partition: str, wanted: Mapping[str, str]) -> list[str]:
    """Return the contents of a partition that have no rows of the wanted fingerprint."""
    try:
        held = read_entries(namespace.record("embeddings", partition))
    except DamagedFileError:
        held = {}  # told, and rebuilt, by whoever refreshes the record
    return [
        content
        for content, fingerprint in wanted.items()
        if content not in held or held[content].fingerprint != fingerprint
    ]


def _inputs(
    namespace: Namespace, partition: str, contents: Collection[str]
) -> Iterator[tuple[str, int, str]]:
    """Yield content, order and what a model is given of every chunk of some contents."""
    if contents:
        columns = ["content_hash", "order", *CHUNK_INPUTS]
        path = namespace.record("chunks", partition)
        for row in read_rows(path, chunks_schema(), contents, columns).to_pylist():
            yield row["content_hash"], row["order"], chunk_input(row)


def _encode(
    model: EmbeddingModel,
    inputs: Mapping[str, str],
    missing: Collection[str],
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
        encoded = model.passage_encoder().encode_passages(texts, on_progress=on_progress)
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
