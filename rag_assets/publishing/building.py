"""The stage `search_index`: one immutable publication, seen by readers all at once."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets import __version__
from rag_assets.editing import count_passages, edits_digest, has_stale_edits
from rag_assets.embedding import EmbeddingModel
from rag_assets.model import Progress, RecordsMovedError, StorageError, combine_digests, hash_fields
from rag_assets.publishing.document_keys import SEGMENTS_VERSION, write_document_keys
from rag_assets.publishing.embedders import describe_embedders
from rag_assets.publishing.facts import DocumentFacts
from rag_assets.publishing.growing import Plan, is_fault_of_table, is_large, plan_growth
from rag_assets.publishing.record_state import RecordState, collect
from rag_assets.publishing.replaced import replaced_texts
from rag_assets.publishing.search_table import SEARCH_TABLE_VERSION
from rag_assets.publishing.settled import is_settled
from rag_assets.publishing.writing import grow_tables, write_tables
from rag_assets.settings import deciding_fields
from rag_assets.storage import (
    Notify,
    build_folder,
    hold_lock,
    is_complete,
    mend_pointer,
    point_at,
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
    overrides_digest,
    require_inventory,
    settings_digest,
)

if TYPE_CHECKING:
    import pyarrow as pa

# How often a build that another run overtakes is begun again.
_TRIES = 5
# Counts as code: raise it when the same inputs give another publication.
PUBLISHING_VERSION = 10
_VERSIONS = (PUBLISHING_VERSION, SEARCH_TABLE_VERSION)


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
        state = _publish_settled(namespace, models, notify, on_progress)
        built_from = {"inventory": state.inventory.digest, "overrides": state.overrides}
        if not has_stale_edits(namespace, state.inventory):
            built_from["edits"] = state.edits
        if is_whole or is_settled(namespace, state.inventory, models, before):
            built_from["configuration"] = settings_digest(namespace)
            built_from["code"] = code_digest()
        is_new = point_at(folder, state.name, built_from)
        settings = namespace.settings.publish
        retired = retire_publications(folder, settings.keep_publications, settings.keep_hours)
        if namespace.object_store is not None:
            namespace.object_store.share()
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
class _State:
    """All that a publication is a function of, read at one moment."""

    name: str
    inventory: Inventory
    overrides: str
    edits: str
    records: RecordState


def _publish_settled(
    namespace: Namespace,
    models: Sequence[EmbeddingModel],
    notify: Notify,
    on_progress: Progress | None,
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
        plan = plan_growth(namespace, state.records, models, _VERSIONS, notify)
        if _build_publication(namespace, state, models, plan, notify, on_progress):
            return state
    raise StorageError(
        f"{namespace.records}: the records changed {_TRIES} times while they were read. Let the "
        f"other runs of '{namespace.name}' end and run `rag index --namespace {namespace.name}`."
    )


def _build_publication(
    namespace: Namespace,
    state: _State,
    models: Sequence[EmbeddingModel],
    plan: Plan | None,
    notify: Notify,
    on_progress: Progress | None,
) -> bool:
    """Build the publication of a state. Returns False where the records have moved on.

    Where the table before turns out to be unfit to grow, it is built from the records alone.
    """
    try:
        tables = _join(namespace, state, models, plan)
    except RecordsMovedError:
        return False
    if _read_state(namespace, models, state).name != state.name:
        return False

    def build(folder: Path) -> None:
        _build(folder, namespace, state, tables, models, plan, on_progress)

    try:
        build_folder(namespace.publications, state.name, build)
    except BaseException as error:  # a panic inside Lance is no Exception
        if plan is None or plan.growth is None or not is_fault_of_table(error):
            raise
        notify(
            f"{namespace.name}: the search table is written anew: that of {plan.growth.before} "
            f"cannot grow ({error})."
        )
        anew = replace(plan, growth=None, told=None)
        return _build_publication(namespace, state, models, anew, notify, on_progress)
    return True


def _read_state(
    namespace: Namespace, models: Sequence[EmbeddingModel], before: _State | None = None
) -> _State:
    inventory = require_inventory(namespace)
    # Before they are read: one that is set meanwhile must look unpublished rather than published.
    overrides, edits = overrides_digest(namespace), edits_digest(namespace)
    records = collect(namespace, inventory, [model.fingerprint for model in models])
    if before is not None and records is before.records:
        return before
    name = _name(namespace, inventory, records, models)
    return _State(name, inventory, overrides, edits, records)


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
    graph = namespace.settings.graph
    is_grown = is_large(records, namespace.settings.publish.segment_rows)
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
            # Spellings that no passage has change no record.
            *([hash_fields(graph.names)] if graph.enabled and graph.names else []),
            # So that a library that is to have fresh tables again gets one.
            *([hash_fields("segments", SEGMENTS_VERSION)] if is_grown else []),
        ]
    )
    return f"p-{digest[:16]}"


def _join(
    namespace: Namespace, state: _State, models: Sequence[EmbeddingModel], plan: Plan | None
) -> "dict[str, pa.Table]":
    # Arrow's compute functions are loaded only when there is something to publish.
    from rag_assets.publishing.joining import join_tables

    records = state.records
    return join_tables(
        namespace,
        state.inventory,
        records.facts,
        models,
        records.encoded,
        records.passages,
        records.made,
        records.named,
        plan.growth.added if plan and plan.growth else None,
    )


def _build(
    folder: Path,
    namespace: Namespace,
    state: _State,
    tables: "dict[str, pa.Table]",
    models: Sequence[EmbeddingModel],
    plan: Plan | None,
    on_progress: Progress | None,
) -> None:
    from rag_assets.chunking import has_stale_chunks
    from rag_assets.embedding import joint_tokenizer
    from rag_assets.publishing.search_check import check_search_table

    def say(step: int, what: str) -> None:
        if on_progress:
            on_progress(what, step, 4)

    ann_rows = namespace.settings.publish.ann_rows
    if plan and plan.growth:
        written = grow_tables(folder, state.name, tables, plan.growth, plan.told, ann_rows, say)
    else:
        written = write_tables(folder, state.name, tables, ann_rows, say)
    if plan:
        write_document_keys(folder, plan.keys)
    say(3, "checking the publication")
    check_search_table(folder, written.counts["chunks"], written.added)
    chunks = {
        fact.doc_uid: count_passages(state.records.made[fact.content_hash])
        for fact in state.records.facts
        if fact.status == "published"
    }
    encoded: Counter[str] = Counter()
    for fact in state.records.facts:
        for model in state.records.encoded.get(fact.content_hash, ()):
            encoded[model] += chunks.get(fact.doc_uid, 0)
    settings = namespace.settings
    # Chunks that were cut by other settings are published as they are.
    is_present = not has_stale_chunks(namespace, state.inventory, joint_tokenizer(settings.embed))
    manifest = {
        "publication": state.name,
        "namespace": namespace.name,
        "inventory_digest": state.inventory.digest,
        "stages": state.records.digests,
        "tables": written.digests,
        "counts": written.counts,
        "embedders": describe_embedders(models, encoded),
        "chunk_config": settings.chunk.model_dump(mode="json") if is_present else None,
        "vector_indexes": [asdict(index) for index in written.indexes],
        **({"segments": plan.describe(written.grown)} if plan else {}),
        "created_at": time.time(),
        "tool_version": __version__,
        "config_hash": configuration_digest(namespace),
        **signature(),
    }
    write_manifest(folder, manifest)
