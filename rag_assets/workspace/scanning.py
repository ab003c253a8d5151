"""Look at the raw folders: which files are there, what they are, which bytes they hold."""

import errno
import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_assets.model import Progress, size_problem
from rag_assets.storage import describe_trouble, write_text
from rag_assets.workspace.hash_cache import read_hash_cache
from rag_assets.workspace.layout import Namespace
from rag_assets.workspace.listing import Listed, Listing, list_raw, refuse
from rag_assets.workspace.sidecar_cache import CLOCK_GRAIN_SECONDS, SaidBeside, SidecarCache
from rag_assets.workspace.sidecar_pairs import FOLDER_IN_PLACE, orphan_warnings, pair_sidecars
from rag_assets.workspace.source_file import SourceFile

# A file that will not hold still is read this often before it is left for the next scan.
_TRIES = 3
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Scan:
    """What one look found. `pending` names files that are not still, or beyond the budget.

    `is_settled` says that the same listing would give the same: all that was read rested before.
    """

    sources: tuple[SourceFile, ...]
    hashed_files: int
    hashed_bytes: int
    pending: tuple[str, ...]
    over_budget: bool
    warnings: tuple[str, ...]
    is_settled: bool


@dataclass(frozen=True, slots=True)
class _Budget:
    """What one look may read; None has no end."""

    size: int | None
    seconds: float | None
    began: float = field(default_factory=time.monotonic)

    def is_spent(self, hashed_bytes: int, read_files: int) -> bool:
        """Say whether the rest is left for the next look; one file is always read."""
        if self.size is not None and hashed_bytes >= self.size:
            return True
        is_late = self.seconds is not None and time.monotonic() - self.began >= self.seconds
        return is_late and read_files > 0


def scan_raw(
    namespace: Namespace,
    *,
    listing: Listing | None = None,
    previous: Mapping[str, SourceFile] | None = None,
    rehash: bool = False,
    rest_seconds: float | None = None,
    budget_bytes: int | None = None,
    budget_seconds: float | None = None,
    on_progress: Progress | None = None,
) -> Scan:
    """Look at every file below the namespace's raw folders; hash those that changed.

    Args:
        listing: the walk through them, where it was made already.
        previous: by source_uri, kept for files that are pending now.
        rehash: hash every file, whatever stat says.
        rest_seconds: leave files alone that changed within so many seconds.
        budget_bytes: hash at most about so many bytes; the rest is pending.
        budget_seconds: read for about so long, one file at least; the rest is pending.
        on_progress: told (path, files done, files in all).

    Raises:
        WorkspaceError: a raw folder is gone or cannot be read. Nothing is concluded from that:
            an unmounted disk must not look like a thousand removed files.
        StorageError: a folder or file cannot be read for a trouble of the machine, not its own.
    """
    listing = list_raw(namespace) if listing is None else listing
    withheld = _pair_sidecars(listing)
    cache = {} if rehash else read_hash_cache(namespace.hash_cache)
    sidecars = SidecarCache(cache)
    remembered: dict[str, list[int | str]] = {}
    sources, pending = list(listing.refused), list[str]()
    hashed_files = hashed_bytes = 0
    over_budget, is_settled = False, True
    now, budget = time.time(), _Budget(budget_bytes, budget_seconds)
    for done, file in enumerate(listing.files):
        uri, known = file.uri, cache.get(file.uri)
        size, changed_at = file.stat[0], file.stat[2] / 1e9
        is_known = known is not None and tuple(known[:4]) == file.stat
        before = previous.get(uri) if previous else None
        moving = rest_seconds is not None and abs(now - changed_at) < rest_seconds
        spent = budget.is_spent(hashed_bytes, hashed_files + sidecars.read)
        unheard, sidecar = withheld.get(uri, ""), listing.sidecars.get(uri)
        # What its sidecar says is read too, and takes longer than a small file.
        if spent and not unheard and sidecar is not None and not sidecars.knows(sidecar):
            is_known = False
        too_large = size_problem(size, namespace.settings.parse.max_megabytes)
        if too_large:  # by its size, before a byte is read: a sparse file says any
            source = _describe(file, listing, sidecars, sidecar, unheard)
            sources.append(_refused(source, "size_limit", too_large))
            continue
        if is_known and known is not None:
            remembered[uri] = known
            sources.append(
                _describe(file, listing, sidecars, sidecar, unheard, (str(known[4]), size))
            )
            continue
        # One of the size that is known may be known as it stands: copied a moment ago, or touched.
        is_news = before is None or before.size != size
        over_budget = over_budget or (spent and not moving)
        if spent or (moving and is_news):
            pending.append(uri)
            sources += [before] if before is not None else []
            continue
        if on_progress:
            on_progress(uri, done, len(listing.files))
        source = _describe(file, listing, sidecars, sidecar, unheard)
        hashed, steady = _hash_file(Path(file.path), source)
        if moving and before is not None and hashed.content_hash != before.content_hash:
            pending.append(uri)
            hashed, steady = before, None
        hashed_files += 1
        hashed_bytes += size
        sources.append(hashed)
        if hashed.status == "ok" and steady is not None:
            remembered[uri] = [*steady, hashed.content_hash]
        is_settled = is_settled and uri in remembered and tuple(remembered[uri][:4]) == file.stat
    remembered |= sidecars.remembered
    if remembered != cache:
        write_text(namespace.hash_cache, json.dumps(remembered, ensure_ascii=False))
    return Scan(
        tuple(sorted(sources, key=lambda source: source.source_uri)),
        hashed_files,
        hashed_bytes,
        tuple(pending),
        over_budget,
        orphan_warnings([file.uri for file in listing.files], listing.sidecars),
        is_settled and not pending and sidecars.is_settled,
    )


def _pair_sidecars(listing: Listing) -> dict[str, str]:
    """Refuse files that were meant as sidecars: they may hold a password, and would be cited.

    Returns:
        Why the sidecar of a file cannot be used, by the file's source_uri.
    """
    unusable = {source.source_uri: source.message for source in listing.refused}
    unusable |= dict.fromkeys(listing.folders, FOLDER_IN_PLACE)
    pairs = pair_sidecars([file.uri for file in listing.files], listing.sidecars, unusable)
    for file in listing.files:
        if file.uri in pairs.misnamed:
            refuse(
                listing,
                file.uri,
                Path(file.path),
                "sidecar_name",
                f"its name is that of a sidecar but for its end; rename it to "
                f"{pairs.misnamed[file.uri]}, or give it another name if it is a document.",
            )
    if pairs.misnamed:
        listing.files = [file for file in listing.files if file.uri not in pairs.misnamed]
    return pairs.withheld


def _describe(
    file: Listed,
    listing: Listing,
    sidecars: SidecarCache,
    sidecar: Listed | None,
    unheard: str,
    known: tuple[str, int] = ("", 0),
) -> SourceFile:
    """Describe a file.

    Args:
        unheard: why what may be its sidecar cannot be read, empty where nothing is in the way.
        known: its hash and size where its stat has not changed.
    """
    place = listing.place_of(file.uri)
    said = SaidBeside(error=unheard)
    if sidecar is not None and not unheard:
        said = sidecars.read_beside(sidecar)
    return SourceFile(
        file.uri,
        file.path,
        "ok",
        place.source_type,
        place.source_subtype or "",
        place.citable,
        content_hash=known[0],
        size=known[1],
        sidecar=said.values,
        sidecar_error=said.error,
        password_hash=said.password_hash,
    )


def _hash_file(path: Path, source: SourceFile) -> tuple[SourceFile, list[int | str] | None]:
    """Return the source with its hash, and the stat to remember where that is safe."""
    for _ in range(_TRIES):
        try:
            with path.open("rb") as handle:
                before = os.fstat(handle.fileno())
                digest = hashlib.sha256()
                while block := handle.read(_READ_BYTES):
                    digest.update(block)
                after = path.stat()
        except FileNotFoundError:
            return _refused(source, "vanished", "the file was removed while it was read."), None
        except OSError as error:
            # Of this file alone: its rights, its place on the disk. All else would refuse many.
            trouble = describe_trouble(error.errno, path, "read")
            if trouble and error.errno not in {errno.EACCES, errno.EPERM, errno.EIO}:
                raise trouble from error
            return _refused(
                source,
                "unreadable_file",
                f"the file cannot be read ({error.strerror}); give this user "
                "permission to read it, or check the disk.",
            ), None
        key: list[int | str] = [after.st_size, after.st_mtime_ns, after.st_ctime_ns, after.st_ino]
        if key == [before.st_size, before.st_mtime_ns, before.st_ctime_ns, before.st_ino]:
            settled = time.time() - after.st_ctime > CLOCK_GRAIN_SECONDS
            hashed = replace(source, content_hash=digest.hexdigest(), size=after.st_size)
            return hashed, key if settled else None
    return _refused(
        source, "changing", "the file is being written; it is taken once it is still."
    ), None


def _refused(source: SourceFile, reason: str, message: str) -> SourceFile:
    return replace(source, status="refused", reason_code=reason, message=message)
