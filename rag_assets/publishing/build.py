"""The stage `search_index`: one immutable publication, seen by readers all at once."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets import __version__
from rag_assets.chunking import has_stale_chunks
from rag_assets.chunking.editing import count_passages, edits_digest, has_stale_edits
from rag_assets.embedding import EmbeddingModel, joint_tokenizer
from rag_assets.embedding.stage import has_stale_vectors
from rag_assets.model import (
    DamagedFileError,
    Progress,
    RecordsMovedError,
    StorageError,
    combine_digests,
    hash_fields,
)
from rag_assets.model.settings import Keeping, deciding_fields
from rag_assets.parsing import has_stale_parses, read_parsed
from rag_assets.publishing.facts import DocumentFacts, missing_keys
from rag_assets.publishing.graph import has_stale_entities
from rag_assets.publishing.manifest import describe_embedders
from rag_assets.publishing.records import RecordState, collect
from rag_assets.storage import (
    Notify,
    build_folder,
    hold_lock,
    is_complete,
    mend_journal,
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
    CitationKey,
    Inventory,
    Namespace,
    append_events,
    code_digest,
    configuration_digest,
    lock_inventory,
    overrides_digest,
    read_journal,
    require_inventory,
    settings_digest,
)
from rag_assets.workspace.stages import PARSES

if TYPE_CHECKING:
    import pyarrow as pa

# How often a build that another run overtakes is begun again.
_TRIES = 5
# Counts as code: raise it when the same inputs give another publication, or a change of the search
# table lets searches find other passages.
PUBLISHING_VERSION = 12
# Share of words in common (Jaccard) below which an edit looks like another document. A choice:
# two versions of one paper share well over half of their words, two papers of a field about 0.1.
_LITTLE = 0.3


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


@dataclass(frozen=True, slots=True)
class _State:
    """All that a publication is a function of, read at one moment."""

    name: str
    inventory: Inventory
    overrides: str
    edits: str
    records: RecordState


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
        StorageError: the disk is full, likewise; or the object store cannot be reached: readers of
            this machine see the new publication, those elsewhere go on with the one before.
    """
    started = time.monotonic()
    folder = namespace.publications
    with hold_lock(namespace.publishing_lock, f"the publication of {namespace.name}", notify):
        mended = mend_pointer(folder)
        if mended:
            notify(mended)
        before = read_pointer(folder)
        _give_keys(namespace, models, notify)
        state = _publish_settled(namespace, models, on_progress)
        built_from = {"inventory": state.inventory.digest, "overrides": state.overrides}
        if not has_stale_edits(namespace, state.inventory):
            built_from["edits"] = state.edits
        remembered = before.built_from.get("configuration") if before else None
        if is_whole or (
            remembered != settings_digest(namespace)
            and _is_settled(namespace, state.inventory, models)
        ):
            built_from["configuration"] = settings_digest(namespace)
            built_from["code"] = code_digest()
        is_new = point_at(folder, state.name, built_from)
        retired = retire_publications(folder, Keeping.publications, Keeping.hours)
        if namespace.object_store is not None:
            namespace.object_store.share()
        manifest = read_manifest(folder / state.name)
    warnings = [mended] if mended else []
    if before and is_new:
        warnings += _replaced_texts(namespace, before.current, state.records.facts)
    return PublishOutcome(
        state.name,
        is_new,
        tuple(state.records.facts),
        manifest["counts"],
        manifest["tables"],
        retired,
        time.monotonic() - started,
        tuple(warnings),
    )


def _give_keys(namespace: Namespace, models: Sequence[EmbeddingModel], notify: Notify) -> None:
    """Write the citation keys of new documents into the journal."""
    facts = collect(namespace, require_inventory(namespace), [m.fingerprint for m in models]).facts
    new = missing_keys(facts, read_journal(namespace.journal))
    if new:
        with hold_lock(lock_inventory(namespace), f"the journal of {namespace.name}", notify):
            mend_journal(namespace.journal)
            append_events(namespace.journal, [CitationKey(*pair) for pair in new.items()])


def _is_settled(
    namespace: Namespace, inventory: Inventory, models: Sequence[EmbeddingModel]
) -> bool:
    """Say whether no stage would compute anything: so too where each had a run of its own."""
    return not (
        has_stale_parses(namespace, inventory)
        or has_stale_chunks(namespace, inventory, joint_tokenizer(namespace.settings.embed))
        or has_stale_edits(namespace, inventory)
        or has_stale_vectors(namespace, inventory, [model.fingerprint for model in models])
        or (namespace.settings.graph.enabled and has_stale_entities(namespace, inventory))
    )


def loses_vectors(namespace: Namespace) -> bool:
    """Say whether a publication now may lack vectors that the one before has.

    So after a change of the configuration, which may cut every passage again.
    """
    pointer = read_pointer(namespace.publications)
    return pointer is not None and pointer.built_from.get("configuration") not in {
        None,
        settings_digest(namespace),
    }


def _publish_settled(
    namespace: Namespace, models: Sequence[EmbeddingModel], on_progress: Progress | None
) -> _State:
    """Make sure that the publication of the present state is there, and return that state.

    Records may be replaced by another run while they are read: then everything is read again.
    """
    # Arrow's compute functions are loaded only when there is something to publish.
    from rag_assets.publishing.rows import join_tables

    for _ in range(_TRIES):
        state = _read_state(namespace, models)
        if is_complete(namespace.publications, state.name):
            return state
        if on_progress:
            on_progress("joining rows with identity", 0, 4)
        try:
            tables = join_tables(namespace, state.inventory, state.records, models)
        except RecordsMovedError:
            continue
        if _read_state(namespace, models, state).name != state.name:
            continue

        build_folder(
            namespace.publications,
            state.name,
            partial(_write, namespace, state, tables, models, on_progress),
        )
        return state
    raise StorageError(
        f"{namespace.records}: the records changed {_TRIES} times while they were read. Let the "
        f"other runs of '{namespace.name}' end and run `rag ingest --namespace {namespace.name}`."
    )


def _read_state(
    namespace: Namespace, models: Sequence[EmbeddingModel], before: _State | None = None
) -> _State:
    inventory = require_inventory(namespace)
    # Before they are read: one that is set meanwhile must look unpublished rather than published.
    overrides, edits = overrides_digest(namespace), edits_digest(namespace)
    records = collect(namespace, inventory, [model.fingerprint for model in models])
    if before is not None and records is before.records:
        return before
    graph = namespace.settings.graph
    who = [
        (
            f.content_hash,
            # The catalogue says where the parse lies, and so which parser has made it.
            (f.report or {}).get("parsed_file"),
            f.doc_uid,
            f.status,
            f.reason_code,
            f.citable,
            f.citation_key,
            sorted(f.fields.items()),
        )
        for f in records.facts
    ]
    # A publication is named by the digest of its inputs.
    digest = combine_digests(
        [
            hash_fields(PUBLISHING_VERSION, namespace.name, namespace.settings.raw),
            inventory.digest,
            hash_fields(who),
            *records.digests.values(),
            hash_fields([(m.fingerprint, deciding_fields(m.settings)) for m in models]),
            # Spellings that no passage has change no record.
            *([hash_fields(graph.names)] if graph.enabled and graph.names else []),
        ]
    )
    return _State(f"p-{digest[:16]}", inventory, overrides, edits, records)


def _write(
    namespace: Namespace,
    state: _State,
    tables: dict[str, "pa.Table"],
    models: Sequence[EmbeddingModel],
    on_progress: Progress | None,
    folder: Path,
) -> None:
    """Write the files of a publication, check them, and write the manifest last."""
    from rag_assets.publishing.catalogue import catalogue_name, write_catalogue
    from rag_assets.publishing.rows import digest_table
    from rag_assets.publishing.schemas import CHUNKS
    from rag_assets.publishing.search_table import check_search_table, write_search_table

    def say(step: int, what: str) -> None:
        if on_progress:
            on_progress(what, step, 4)

    say(1, "writing the search table")
    write_search_table(folder, tables["chunks"])
    say(2, "writing the catalogue")
    plain = {**tables, "chunks": tables["chunks"].select(CHUNKS.names)}
    write_catalogue(folder / catalogue_name(state.name), plain)
    say(3, "checking the publication")
    check_search_table(folder, len(tables["chunks"]))
    encoded: Counter[str] = Counter()
    for fact in state.records.facts:
        if fact.status == "published":
            chunks = count_passages(state.records.made[fact.content_hash])
            encoded.update(dict.fromkeys(state.records.encoded[fact.content_hash], chunks))
    settings = namespace.settings
    # Chunks that were cut by other settings are published as they are.
    is_present = not has_stale_chunks(namespace, state.inventory, joint_tokenizer(settings.embed))
    manifest = {
        "publication": state.name,
        "namespace": namespace.name,
        "inventory_digest": state.inventory.digest,
        "stages": state.records.digests,
        "tables": {table: digest_table(rows) for table, rows in tables.items()},
        "counts": {table: len(rows) for table, rows in tables.items()},
        "embedders": describe_embedders(models, encoded),
        "chunk_config": settings.chunk.model_dump(mode="json") if is_present else None,
        "created_at": time.time(),
        "tool_version": __version__,
        "config_hash": configuration_digest(namespace),
        **signature(),
    }
    write_manifest(folder, manifest)


def _replaced_texts(
    namespace: Namespace, publication: str, facts: Iterable[DocumentFacts]
) -> Iterator[str]:
    """Yield a sentence for every uid whose text shares little with the publication before."""
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue

    catalogue = namespace.publications / publication / catalogue_name(publication)
    if namespace.workspace.store.find(namespace.workspace.key_of(catalogue)) is None:
        return
    try:
        with open_catalogue(catalogue) as connection:
            rows = connection.execute("SELECT doc_uid, content_hash FROM documents").fetchall()
    except DamagedFileError as error:
        yield f"texts that were replaced by others are not told this time: {error}"
        return
    before = dict(rows)
    for fact in facts:
        old = before.get(fact.doc_uid)
        if fact.status != "published" or old is None or old == fact.content_hash:
            continue
        ours, theirs = _words(namespace, fact.content_hash), _words(namespace, old)
        if ours and theirs and len(ours & theirs) / len(ours | theirs) < _LITTLE:
            yield (
                f"replaced: '{fact.doc_uid}' ({fact.living.first.source_uri}) now holds a text "
                "that shares little with the one before. If it is another document, give it its "
                "own name or pin doc_uid in a sidecar; drafts that cite it should be audited again."
            )


def _words(namespace: Namespace, content: str) -> set[str]:
    """Return the words of a parse; none where its record has expired."""
    partition = namespace.partition_of(content)
    entry = read_entries(namespace.record(PARSES, partition)).get(content)
    if entry is None or entry.note["status"] != "ok":
        return set()
    try:
        document, _ = read_parsed(namespace.parsed_folder(partition) / entry.note["parsed_file"])
    except (FileNotFoundError, DamagedFileError):
        return set()  # an old parse is not needed for anything else
    return set(re.findall(r"\w+", document.text.lower()))
