"""What has changed in raw/ since the last inventory, seen cheaply and often."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from rag_assets import __version__
from rag_assets.model import hash_bytes, hash_fields
from rag_assets.model.settings import Watching, deciding_fields
from rag_assets.workspace.inventory import current_overrides, read_inventory, sources_digest
from rag_assets.workspace.layout import Namespace
from rag_assets.workspace.scanning import Listing, list_raw, read_hash_cache, scan_raw, stat_of
from rag_assets.workspace.sidecar import SourceFile

# Settings that no record depends on.
_DECIDE_NOTHING = {
    "engine", "store", "retrieve", "llm", "verify", "desk", "lab",
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
        state: of names and stats there, and of all else that the look depends on; empty where the
            same state may give another look, as while a file is being written.
        sources: every file as it was seen; of a pending one as the inventory has it. None of them
            where an earlier look was recalled.
    """

    digest: str
    partitions: tuple[str, ...]
    pending: tuple[str, ...]
    is_complete: bool
    files: int
    state: str = ""
    sources: tuple[SourceFile, ...] = ()

    def to_text(self) -> str:
        """Return what a later look can recall it from; empty where it cannot be recalled."""
        if not self.state:
            return ""
        ends = list(dict.fromkeys((*self.partitions[:1], *self.partitions[-1:])))
        return json.dumps([self.state, self.digest, ends, self.files])


def look_at_raw(
    namespace: Namespace,
    published_inventory: str | None,
    *,
    budget_seconds: float | None = None,
    last: str = "",
) -> Look:
    """Look at raw/ once: stat every file, hash what changed and rests, within a budget.

    Args:
        published_inventory: digest of the inventory that readers see, None before the first.
        budget_seconds: the look may take about so long; the next one goes on. Where listing what
            is there takes most of it, a fifth is for reading all the same.
        last: `to_text()` of an earlier look. Where all has the stat that it had then, nothing is
            opened, and the look is that one, with the first and the last of its partitions.

    Raises:
        WorkspaceError: a raw folder is gone.
    """
    began = time.monotonic()
    listing = list_raw(namespace)
    state = _state_of(listing, published_inventory)
    recalled = _recalled(last, state)
    if recalled is not None:
        return recalled
    inventory = read_inventory(namespace)
    before = {s.source_uri: s for s in inventory.sources} if inventory else {}
    if budget_seconds is not None:
        budget_seconds = max(budget_seconds / 5, budget_seconds - (time.monotonic() - began))
    scan = scan_raw(
        namespace,
        listing=listing,
        previous=before,
        rest_seconds=Watching.rest_seconds,
        budget_bytes=Watching.megabytes_per_tick * 1_000_000,
        budget_seconds=budget_seconds,
    )
    digest = sources_digest(scan.sources)
    if inventory is None or inventory.digest != published_inventory:
        partitions = namespace.partition_keys
    else:
        partitions = _changed_partitions(namespace, before, scan.sources)
    return Look(
        digest,
        partitions,
        scan.pending,
        not scan.over_budget,
        len(scan.sources),
        state if scan.is_settled else "",
        scan.sources,
    )


def _state_of(listing: Listing, published_inventory: str | None) -> str:
    """Return the digest of all that a settled look is a function of."""
    namespace = listing.namespace
    try:
        inventory = stat_of(namespace.inventory.stat())
    except FileNotFoundError:
        inventory = None
    settings = namespace.settings.model_dump(mode="json", include={"raw", "places", "hex_digits"})
    largest = namespace.settings.parse.max_megabytes
    return hash_fields(
        listing.digest(), inventory, published_inventory, settings, largest, __version__
    )


def _recalled(last: str, state: str) -> Look | None:
    """Return the look that a text tells of, where it is one of this state."""
    try:
        before, digest, partitions, files = json.loads(last)
    except (ValueError, TypeError):  # none, or of another release: what it says is only a saving
        return None
    if before != state:
        return None
    return Look(digest, tuple(partitions), (), is_complete=True, files=files, state=state)


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
        if known is not None and tuple(known[:4]) == stat_of(status):
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
    settings = namespace.settings.model_dump(mode="json", exclude=_DECIDE_NOTHING)
    for limit in ("workers", "seconds_per_document", "megabytes_of_memory"):
        del settings["parse"][limit]
    if not namespace.settings.graph.enabled:  # as it was before there was such a stage
        del settings["graph"]
    settings["embed"]["models"] = [
        deciding_fields(model) for model in namespace.settings.embed.models
    ]
    return hash_fields(settings)
