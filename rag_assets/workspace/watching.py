"""What has changed in raw/ since the last inventory, seen cheaply and often."""

from dataclasses import dataclass
from pathlib import Path

from rag_assets.model import hash_bytes, hash_fields
from rag_assets.settings import deciding_fields
from rag_assets.workspace.hash_cache import read_hash_cache
from rag_assets.workspace.inventory import current_overrides, read_inventory, sources_digest
from rag_assets.workspace.layout import Namespace
from rag_assets.workspace.scanning import scan_raw
from rag_assets.workspace.source_file import SourceFile

# Settings that no record depends on.
_DECIDE_NOTHING = {
    "engine", "sensors", "retrieve", "llm", "verify", "publish", "export", "desk", "lab",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """One look at raw/.

    Args:
        digest: of what stands there now, at rest.
        partitions: keys whose contents or sources differ from the inventory, sorted; all of them
            where the inventory itself was never published.
        pending: files that are not still yet; `is_complete` is False while the budget for hashing
            is used up: the next look goes on.
        sources: every file as it was seen; of a pending one as the inventory has it.
    """

    digest: str
    partitions: tuple[str, ...]
    pending: tuple[str, ...]
    is_complete: bool
    files: int
    sources: tuple[SourceFile, ...] = ()


def look_at_raw(
    namespace: Namespace, published_inventory: str | None, *, budget_bytes: int | None = None
) -> Look:
    """Look at raw/ once: stat every file, hash what changed and rests, within a budget.

    Args:
        published_inventory: digest of the inventory that readers see, None before the first.

    Raises:
        WorkspaceError: a raw folder is gone.
    """
    settings = namespace.settings.sensors
    inventory = read_inventory(namespace)
    before = {s.source_uri: s for s in inventory.sources} if inventory else {}
    if budget_bytes is None:
        budget_bytes = settings.megabytes_per_tick * 1_000_000
    scan = scan_raw(
        namespace,
        previous=before,
        rest_seconds=settings.rest_seconds,
        budget_bytes=budget_bytes,
    )
    digest = sources_digest(scan.sources)
    if inventory is None or inventory.digest != published_inventory:
        partitions = namespace.partition_keys
    else:
        partitions = _changed_partitions(namespace, before, scan.sources)
    return Look(
        digest, partitions, scan.pending, not scan.over_budget, len(scan.sources), scan.sources
    )


def changed_partitions(namespace: Namespace) -> tuple[str, ...]:
    """Return the partitions whose contents are others now than in the last inventory.

    Nothing is written; new files are read and hashed.

    Raises:
        WorkspaceError: a raw folder is gone.
    """
    inventory = read_inventory(namespace)
    before = {s.source_uri: s for s in inventory.sources} if inventory else {}
    return _changed_partitions(namespace, before, scan_raw(namespace, previous=before).sources)


def changed_files(namespace: Namespace) -> tuple[str, ...]:
    """Return the files of the last inventory that hold other bytes now, or are gone.

    Files are compared by size and by what the hash cache remembers of them; only one that differs
    there is read. Nothing is written, and new files are not looked for.

    Returns:
        Their `source_uri`, sorted.
    """
    inventory = read_inventory(namespace)
    if inventory is None:
        return ()
    remembered = read_hash_cache(namespace.hash_cache)
    changed = []
    for source in inventory.sources:
        if source.status != "ok":
            continue
        path = namespace.raw_file(source.source_uri)
        if path is None or not _holds(path, source, remembered.get(source.source_uri)):
            changed.append(source.source_uri)
    return tuple(sorted(changed))


def _holds(path: Path, source: SourceFile, known: list[int | str] | None) -> bool:
    try:
        status = path.stat()
        if status.st_size != source.size:
            return False
        key = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        if known is not None and known[:4] == key:
            return str(known[4]) == source.content_hash
        return hash_bytes(path.read_bytes()) == source.content_hash
    except FileNotFoundError:
        return False


def _changed_partitions(
    namespace: Namespace, before: dict[str, SourceFile], now: tuple[SourceFile, ...]
) -> tuple[str, ...]:
    after = {source.source_uri: source for source in now}
    contents: set[str] = set()
    is_changed = False
    for uri in before.keys() | after.keys():
        old, new = before.get(uri), after.get(uri)
        if old and new and old.content_fields == new.content_fields:
            continue
        is_changed = True
        contents |= {source.content_hash for source in (old, new) if source}
    if not is_changed:
        return ()
    keys = {namespace.partition_of(content) for content in contents if content}
    # A refused file has no content: something must run all the same.
    return tuple(sorted(keys)) or namespace.partition_keys[:1]


def configuration_digest(namespace: Namespace) -> str:
    """Return the digest of all settings and overrides that a build depends on."""
    return hash_fields(settings_digest(namespace), overrides_digest(namespace))


def overrides_digest(namespace: Namespace) -> str:
    """Return the digest of what `rag meta set` changed: any publication applies it."""
    return hash_fields(current_overrides(namespace))


def settings_digest(namespace: Namespace) -> str:
    """Return the digest of all settings that records depend on: a whole build applies them."""
    settings = namespace.settings.model_dump(
        mode="json",
        exclude=_DECIDE_NOTHING,
    )
    for limit in (
        "workers",
        "seconds_per_document",
        "ocr_seconds_per_page",
        "megabytes_of_memory",
        "max_attempts",
    ):
        del settings["parse"][limit]
    if not namespace.settings.graph.enabled:  # as it was before there was such a stage
        del settings["graph"]
    settings["embed"]["models"] = [
        deciding_fields(model) for model in namespace.settings.embed.models
    ]
    return hash_fields(settings)
