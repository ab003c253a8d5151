"""The stage `embeddings`: for every chunk a vector of each model. The records are the cache.

A record has a row for each chunk and model. Vectors of models that are no longer configured stay
beside the others as long as their passages do, so that a model that is taken back costs nothing;
`prune_vectors` removes them. They are no part of a content's digest.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import model_input
from rag_assets.editing import Passages
from rag_assets.embedding.gathering import GatheredVectors, Tally, Work
from rag_assets.embedding.known import KnownVectors
from rag_assets.embedding.models import EmbeddingModel
from rag_assets.embedding.readable import UNREADABLE_SHARE
from rag_assets.embedding.record import embeddings_schema, read_vectors, record_rows
from rag_assets.execution import Execution, LocalExecution
from rag_assets.model import (
    DamagedFileError,
    Progress,
    StageOutcome,
    combine_digests,
    hash_fields,
    hash_text,
)
from rag_assets.stages import DocumentStage, claim_lock, fingerprints_over, stage_lock
from rag_assets.storage import (
    Computed,
    Entry,
    Notify,
    has_layout,
    hold_lock,
    read_entries,
    read_rows,
    rows_of,
    write_record,
)
from rag_assets.workspace import Inventory, Namespace

if TYPE_CHECKING:
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
        held = read_entries(namespace.record("embeddings", partition)) if wanted else {}
        if any(c not in held or held[c].fingerprint != f for c, f in wanted.items()):
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
    return [
        content
        for content, fingerprint in wanted.items()
        if content not in held or held[content].fingerprint != fingerprint
    ]


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
