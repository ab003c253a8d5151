"""`rag gc`: remove what nothing refers to. Nothing that a reader, a record or a person needs."""

import os
import time
from collections.abc import Collection
from dataclasses import dataclass

from rag_assets.embedding.stage import prune_vectors
from rag_assets.model import StorageError
from rag_assets.model.settings import Keeping
from rag_assets.storage import (
    Listed,
    LocalStore,
    Notify,
    finish_versions,
    hold_lock,
    match_keys,
    prune_record,
    read_entries,
    remove_left_behind,
    remove_unfinished,
    retire_publications,
)
from rag_assets.workspace import Namespace, newest_expired, require_inventory
from rag_assets.workspace.stages import PARSES, recorded, stage_lock

# Work that is so young may belong to a run that has just begun.
_YOUNG_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Collected:
    """What was removed from a namespace. `refused` says why its records were not shortened."""

    expired_documents: int
    vectors: int
    parses: int
    publications: tuple[str, ...]
    unfinished: tuple[str, ...]
    bytes: int
    refused: str | None = None


def collect_garbage(namespace: Namespace, models: Collection[str], notify: Notify) -> Collected:
    """Remove rows of long removed files, vectors of models that are no longer configured, parses
    that no record names, retired publications and the unfinished files of processes that died.

    Args:
        models: fingerprints of the configured models.

    Raises:
        UsageError: the namespace has no inventory, so that nothing is known to be dead.
    """
    require_inventory(namespace)
    before = _size(namespace)
    gone, vectors, parses = 0, 0, 0
    # What only takes away comes first: it works on a full disk, and makes room for the records,
    # which are written anew.
    with hold_lock(namespace.publishing_lock, f"the publication of {namespace.name}", notify):
        retired = retire_publications(namespace.publications, Keeping.publications, Keeping.hours)
        if namespace.object_store is not None:
            namespace.object_store.share()
    workspace = namespace.workspace
    derived = (namespace.records, namespace.publications, workspace.judgements, workspace.outputs)
    root = workspace.root
    others = (workspace.queries, root / "namespaces", workspace.decisions, *namespace.roots)
    log = workspace.meta / "version_log.jsonl"
    with hold_lock(workspace.locks / "outputs.lock", "the outputs", notify):
        for folder in (workspace.outputs, *workspace.outputs.glob("*/")):
            finish_versions(folder, log)
    unfinished = (
        *(name for folder in derived for name in remove_unfinished(folder, _is_alive)),
        # Dagster's home is another program's; a folder beside it may be of any part of this one.
        *remove_unfinished(workspace.meta, _is_alive, workspace.dagster_home),
        *(name for folder in others for name in remove_left_behind(folder, "**/*", _is_alive)),
        *(
            name
            for place in (root, workspace.meta)
            for name in remove_left_behind(place, "*", _is_alive)
        ),
    )
    for partition in namespace.partition_keys:
        parses += _remove_parses(namespace, partition, notify)
    _remove_unnamed(namespace)
    refused = None
    try:
        for partition in namespace.partition_keys:
            for stage in recorded():
                path = namespace.record(stage, partition)
                if workspace.store.find(workspace.key_of(path)) is not None:
                    lock = stage_lock(namespace, stage, partition)
                    pruned = prune_record(path, lock, lambda: newest_expired(namespace), notify)
                    gone += pruned if stage == PARSES else 0
            vectors += prune_vectors(namespace, partition, models, notify)
            parses += _remove_parses(namespace, partition, notify)
    except StorageError as error:  # the rest was done; the caller says what was not
        refused = error.problem
    # And what the records do not name any more, now that they are shorter.
    _remove_unnamed(namespace)
    return Collected(gone, vectors, parses, retired, unfinished, before - _size(namespace), refused)


def _remove_parses(namespace: Namespace, partition: str, notify: Notify) -> int:
    """Remove parses that the partition's record does not name (any more)."""
    store = namespace.workspace.store
    parses = namespace.workspace.key_of(namespace.parsed_folder(partition))
    removed = 0
    with hold_lock(stage_lock(namespace, PARSES, partition), f"{PARSES} {partition}", notify):
        entries = read_entries(namespace.record(PARSES, partition))
        named = {entry.note.get("parsed_file") for entry in entries.values()}
        for parse in match_keys(store, f"{parses}/*.parquet"):
            if _name(parse) not in named and _is_old(store, parse):
                store.delete(parse.key)
                removed += 1
    return removed


def _remove_unnamed(namespace: Namespace) -> None:
    """Remove contents of attachments, and a provider's answers, that no record names (any more)."""
    entries = {
        content: entry
        for partition in namespace.partition_keys
        for content, entry in read_entries(namespace.record(PARSES, partition)).items()
    }
    blobs = {blob for entry in entries.values() for blob in entry.note["blobs"]}
    store, key_of = namespace.workspace.store, namespace.workspace.key_of
    for file in match_keys(store, f"{key_of(namespace.blobs)}/*/*"):
        if _name(file) not in blobs and _is_old(store, file):
            store.delete(file.key)
    are_young: dict[str, bool] = {}
    for file in match_keys(store, f"{key_of(namespace.answers)}/*-*/*"):
        folder = file.key.rpartition("/")[0]
        are_young[folder] = are_young.get(folder, False) or _is_young(file)
    for folder, is_young in are_young.items():
        content = folder.rpartition("/")[2].partition("-")[0]
        if content not in entries and not is_young:
            store.delete_folder(folder)


def _name(file: Listed) -> str:
    return file.key.rpartition("/")[2]


def _is_old(store: LocalStore, file: Listed) -> bool:
    """Say whether a file is of no run that has just begun, which may renew it after the listing."""
    found = store.find(file.key)
    return found is not None and not _is_young(found)


def _is_young(file: Listed) -> bool:
    return time.time() - file.changed_at < _YOUNG_SECONDS


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _size(namespace: Namespace) -> int:
    store, key_of = namespace.workspace.store, namespace.workspace.key_of
    return sum(store.used(key_of(each)) for each in (namespace.records, namespace.publications))
