"""The stage `search_index`: one immutable publication, seen by readers all at once."""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets import __version__
from rag_assets.embedding import EmbeddingModel
from rag_assets.law.versions import LAWS_KEY
from rag_assets.model import Progress, RecordsMovedError, StorageError, combine_digests, hash_fields
from rag_assets.parsing import read_reports
from rag_assets.publishing.embedders import describe_embedders
from rag_assets.publishing.facts import DocumentFacts, gather_facts
from rag_assets.publishing.replaced import replaced_texts
from rag_assets.publishing.search_table import SEARCH_TABLE_VERSION
from rag_assets.publishing.settled import is_settled
from rag_assets.settings import deciding_fields
from rag_assets.stages import PARSES, published_stages, recorded, way_to
from rag_assets.storage import (
    Entry,
    Notify,
    build_folder,
    hold_lock,
    is_complete,
    live_digest,
    mend_pointer,
    point_at,
    read_entries,
    read_manifest,
    read_pointer,
    retire_publications,
    signature,
    write_manifest,
)
from rag_assets.workspace import (
    Inventory,
    Namespace,
    code_digest,
    configuration_digest,
    current_identities,
    current_overrides,
    overrides_digest,
    read_journal,
    require_inventory,
    settings_digest,
)

if TYPE_CHECKING:
    import pyarrow as pa

# How often a build that another run overtakes is begun again.
_TRIES = 5
# Counts as code: raise it when the same inputs give another publication.
PUBLISHING_VERSION = 7


@dataclass(frozen=True, slots=True)
class PublishOutcome:
    """What publishing did.

    Args:
        publication: the name that readers see now.
        is_new: False where nothing had changed and nothing was written.
        facts: every living content with its status.
        tables: digest of each published table.
        retired: publications that were removed.
        seconds: provenance.
    """

    publication: str
    is_new: bool
    facts: tuple[DocumentFacts, ...] = field(repr=False)
    counts: dict[str, int]
    tables: dict[str, str] = field(repr=False)
    retired: tuple[str, ...]
    seconds: float
    warnings: tuple[str, ...] = field(default=())


def publishing_lock(namespace: Namespace) -> Path:
    """Return the lock of a namespace's publishing."""
    return namespace.workspace.locks / f"{namespace.name}.publishing.lock"


def publish(
    namespace: Namespace,
    models: Sequence[EmbeddingModel],
    notify: Notify,
    *,
    is_whole: bool = False,
    on_progress: Progress | None = None,
) -> PublishOutcome:
    """Publish the living rows of a namespace, or find that nothing changed.

    Everything is read again here: a run that began with an older inventory publishes what holds
    now, so the order in which runs end does not matter.

    Args:
        models: the configured ones, in their order; each has a vector column of its own.
        is_whole: every stage of every partition was refreshed under the present configuration
            before; the pointer then remembers that configuration as built. Where it is not said,
            the records are asked.

    Raises:
        DamagedFileError: a record is damaged; readers go on with the publication before.
        StorageError: the disk is full, likewise.
    """
    started = time.monotonic()
    folder = namespace.publications
    with hold_lock(publishing_lock(namespace), f"the publication of {namespace.name}", notify):
        mended = mend_pointer(folder)
        if mended:
            notify(mended)
        before = read_pointer(folder)
        state = _publish_settled(namespace, models, on_progress)
        built_from = {"inventory": state.inventory.digest, "overrides": state.overrides}
        if is_whole or is_settled(namespace, state.inventory, models, before):
            built_from["configuration"] = settings_digest(namespace)
            built_from["code"] = code_digest()
        is_new = point_at(folder, state.name, built_from)
        settings = namespace.settings.publish
        retired = retire_publications(folder, settings.keep_publications, settings.keep_hours)
        manifest = read_manifest(folder / state.name)
    warnings = (
        replaced_texts(namespace, before.current, state.records.facts) if before and is_new else []
    )
    return PublishOutcome(
        state.name,
        is_new,
        tuple(state.records.facts),
        manifest["counts"],
        manifest["tables"],
        retired,
        time.monotonic() - started,
        (*((mended,) if mended else ()), *warnings),
    )


@dataclass(frozen=True, slots=True)
class RecordState:
    """What the records of a namespace hold of its living contents.

    Args:
        facts: every living content with its status.
        digests: of each stage, over what a publication takes from it.
        encoded: for each content whose chunks are up to date, the configured models that have
            looked at all of them. The vectors of others are still to come.
    """

    facts: list[DocumentFacts]
    digests: dict[str, str]
    encoded: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _State:
    """All that a publication is a function of, read at one moment."""

    name: str
    inventory: Inventory
    overrides: str
    records: RecordState


def _publish_settled(
    namespace: Namespace, models: Sequence[EmbeddingModel], on_progress: Progress | None
) -> _State:
    """Make sure that the publication of the present state stands, and return that state.

    Records may be replaced by another run while they are read: then everything is read again.
    """
    for _ in range(_TRIES):
        state = _read_state(namespace, models)
        if is_complete(namespace.publications, state.name):
            return state
        if on_progress:
            on_progress("joining rows with identity", 0, 4)
        try:
            tables = _join(namespace, state, models)
        except RecordsMovedError:
            continue
        if _read_state(namespace, models).name == state.name:
            build_folder(
                namespace.publications,
                state.name,
                lambda folder: _build(folder, namespace, state, tables, models, on_progress),  # noqa: B023 - called at once
            )
            return state
    raise StorageError(
        f"{namespace.records}: the records changed {_TRIES} times while they were read. Let the "
        f"other runs of '{namespace.name}' end and run `rag index --namespace {namespace.name}`."
    )


def _read_state(namespace: Namespace, models: Sequence[EmbeddingModel]) -> _State:
    inventory = require_inventory(namespace)
    # Before they are read: one that is set meanwhile must look unpublished rather than published.
    overrides = overrides_digest(namespace)
    records = collect(namespace, inventory, [model.fingerprint for model in models])
    name = _name(namespace, inventory, records, models)
    return _State(name, inventory, overrides, records)


def collect(namespace: Namespace, inventory: Inventory, models: Collection[str]) -> RecordState:
    """Return every living content with its status, and what each stage has of it.

    A content is published as soon as its chunks are up to date, with the vectors that are there.

    Args:
        models: fingerprints of the configured models; their order does not matter.
    """
    entries: dict[str, dict[str, Entry]] = {stage: {} for stage in published_stages()}
    reports: dict[str, dict[str, Any]] = {}
    for partition in namespace.partition_keys:
        living = inventory.partition(namespace, partition)
        if not living:
            continue
        for stage, held in entries.items():
            found = read_entries(namespace.record(stage, partition))
            held.update((c, e) for c, e in found.items() if c in living)
        for row in read_reports(namespace, partition, living):
            reports[row["content_hash"]] = row
    encoded = {
        content: _models_of(entries, content) & frozenset(models)
        for content in entries["chunks"]
        if _is_chain(entries, content)
    }
    entries["embeddings"] = {
        content: _only(entries["embeddings"][content], chosen, models)
        for content, chosen in encoded.items()
        if chosen
    }
    facts = gather_facts(
        inventory,
        current_identities(namespace, inventory),
        read_journal(namespace.journal),
        current_overrides(namespace),
        reports,
        encoded.keys(),
        {content: entries["chunks"][content].note.get(LAWS_KEY, ()) for content in encoded},
    )
    parsed = {c for c, row in reports.items() if row["status"] == "ok"}
    digests = {
        stage: live_digest(found, inventory.contents if stage == PARSES else parsed)
        for stage, found in entries.items()
    }
    return RecordState(facts, digests, encoded)


def count_lacking(namespace: Namespace, models: Collection[str]) -> int:
    """Return how many vectors of passages that can be published are still to be made.

    Args:
        models: fingerprints of the configured models.
    """
    records = collect(namespace, require_inventory(namespace), models)
    lacking = {
        fact.content_hash: len(models) - len(records.encoded[fact.content_hash])
        for fact in records.facts
        if fact.status == "published"
    }
    return sum(
        entry.rows * lacking[content]
        for partition in namespace.partition_keys
        for content, entry in read_entries(namespace.record("chunks", partition)).items()
        if lacking.get(content)
    )


def loses_vectors(namespace: Namespace) -> bool:
    """Say whether a publication now may lack vectors that the one before has.

    So after a change of the configuration, which may cut every passage anew.
    """
    pointer = read_pointer(namespace.publications)
    return pointer is not None and pointer.built_from.get("configuration") not in {
        None,
        settings_digest(namespace),
    }


def _name(
    namespace: Namespace,
    inventory: Inventory,
    records: RecordState,
    models: Sequence[EmbeddingModel],
) -> str:
    """Return the name of a publication: the digest of its inputs."""
    who = [
        (
            f.content_hash,
            # The catalogue says where the parse lies, and so which parser has made it.
            (f.report or {}).get("parsed_file"),
            f.doc_uid,
            f.status,
            f.reason_code,
            f.citable,
            sorted(f.fields.items()),
        )
        for f in records.facts
    ]
    digest = combine_digests(
        [
            hash_fields(
                PUBLISHING_VERSION, SEARCH_TABLE_VERSION, namespace.name, namespace.settings.raw
            ),
            hash_fields(namespace.settings.publish.ann_rows),
            inventory.digest,
            hash_fields(who),
            *records.digests.values(),
            hash_fields([(m.fingerprint, deciding_fields(m.settings)) for m in models]),
        ]
    )
    return f"p-{digest[:16]}"


def _is_chain(entries: dict[str, dict[str, Entry]], content: str) -> bool:
    """Say whether the chunks of a content were made from the parse that it has now."""
    chain = [entries[stage].get(content) for stage in recorded(way_to("chunks"))]
    return all(
        before is not None and after is not None and after.note["of"] == before.digest
        for before, after in pairwise(chain)
    )


def _models_of(entries: dict[str, dict[str, Entry]], content: str) -> frozenset[str]:
    """Return the models that have looked at the chunks that a content has now."""
    entry = entries["embeddings"].get(content)
    is_current = entry is not None and entry.note["of"] == entries["chunks"][content].digest
    return frozenset(entry.note["models"]) if entry is not None and is_current else frozenset()


def _only(entry: Entry, chosen: Collection[str], models: Collection[str]) -> Entry:
    """Return an entry with the digest of what is published of it: some of its models or all."""
    if len(chosen) == len(models) == len(entry.note["models"]):
        return entry
    return replace(entry, digest=hash_fields("of some models", entry.digest, sorted(chosen)))


def _join(
    namespace: Namespace, state: _State, models: Sequence[EmbeddingModel]
) -> "dict[str, pa.Table]":
    # Arrow's compute functions are loaded only when there is something to publish.
    from rag_assets.publishing.joining import join_tables

    return join_tables(
        namespace, state.inventory, state.records.facts, models, state.records.encoded
    )


def _build(
    folder: Path,
    namespace: Namespace,
    state: _State,
    tables: "dict[str, pa.Table]",
    models: Sequence[EmbeddingModel],
    on_progress: Progress | None,
) -> None:
    from rag_assets.publishing.catalogue import catalogue_name, write_catalogue
    from rag_assets.publishing.schemas import CHUNKS
    from rag_assets.publishing.search_check import check_search_table
    from rag_assets.publishing.search_table import write_search_table
    from rag_assets.publishing.table_digest import digest_table

    def say(step: int, what: str) -> None:
        if on_progress:
            on_progress(what, step, 4)

    say(1, "writing the search table")
    indexes = write_search_table(folder, tables["chunks"], namespace.settings.publish.ann_rows)
    say(2, "writing the catalogue")
    plain = {**tables, "chunks": tables["chunks"].select(CHUNKS.names)}
    write_catalogue(folder / catalogue_name(state.name), plain)
    say(3, "checking the publication")
    check_search_table(folder, len(tables["chunks"]))
    chunks = Counter(tables["chunks"]["doc_uid"].to_pylist())
    encoded: Counter[str] = Counter()
    for fact in state.records.facts:
        for model in state.records.encoded.get(fact.content_hash, ()):
            encoded[model] += chunks[fact.doc_uid]
    manifest = {
        "publication": state.name,
        "namespace": namespace.name,
        "inventory_digest": state.inventory.digest,
        "stages": state.records.digests,
        "tables": {table: digest_table(rows) for table, rows in tables.items()},
        "counts": {table: len(rows) for table, rows in tables.items()},
        "embedders": describe_embedders(models, encoded),
        "vector_indexes": [asdict(index) for index in indexes],
        "created_at": time.time(),
        "tool_version": __version__,
        "config_hash": configuration_digest(namespace),
        **signature(),
    }
    write_manifest(folder, manifest)
