"""Look at the raw folders: which files are there, what they are, which bytes they hold."""

import errno
import hashlib
import json
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_assets.model import ConfigurationError, Progress, WorkspaceError, hash_text, size_problem
from rag_assets.settings import PlaceSettings
from rag_assets.storage import describe_trouble, write_text
from rag_assets.workspace.hash_cache import read_hash_cache
from rag_assets.workspace.layout import Namespace
from rag_assets.workspace.raw_names import is_ignored, is_text
from rag_assets.workspace.sidecar import SUFFIX, read_sidecar, state_of_broken
from rag_assets.workspace.sidecar_pairs import FOLDER_IN_PLACE, orphan_warnings, pair_sidecars
from rag_assets.workspace.source_file import SourceFile

# Of one link, whatever state the machine is in.
_LEADS_NOWHERE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES, errno.EPERM}
)
# A file changed so shortly before it was hashed could change again within the clock's grain:
# its hash is used but not remembered.
_CLOCK_GRAIN_SECONDS = 1.0
# A file that will not hold still is read this often before it is left for the next scan.
_TRIES = 3
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Scan:
    """What one look found. `pending` names files that are not still, or beyond the budget."""

    sources: tuple[SourceFile, ...]
    hashed_files: int
    hashed_bytes: int
    pending: tuple[str, ...]
    over_budget: bool
    warnings: tuple[str, ...]


@dataclass
class _Walk:
    namespace: Namespace
    files: list[tuple[str, str, os.stat_result]] = field(default_factory=list)
    sidecars: dict[str, Path] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    refused: list[SourceFile] = field(default_factory=list)


def scan_raw(
    namespace: Namespace,
    *,
    previous: Mapping[str, SourceFile] | None = None,
    rehash: bool = False,
    rest_seconds: float | None = None,
    budget_bytes: int | None = None,
    on_progress: Progress | None = None,
) -> Scan:
    """Look at every file below the namespace's raw folders; hash those that changed.

    Args:
        previous: by source_uri, kept for files that are pending now.
        rehash: hash every file, whatever stat says.
        rest_seconds: leave files alone that changed within so many seconds.
        budget_bytes: hash at most about so many bytes; the rest is pending.
        on_progress: told (path, files done, files in all).

    Raises:
        WorkspaceError: a raw folder is gone or cannot be read. Nothing is concluded from that:
            an unmounted disk must not look like a thousand removed files.
        StorageError: a folder or file cannot be read for a trouble of the machine, not its own.
    """
    walk = _Walk(namespace)
    for root, name in zip(namespace.roots, namespace.root_names, strict=True):
        _check_root(root, namespace)
        _walk_folder(walk, root, name, root)
    withheld = _pair_sidecars(walk)
    cache = {} if rehash else read_hash_cache(namespace.hash_cache)
    remembered: dict[str, list[int | str]] = {}
    sources, pending = list(walk.refused), list[str]()
    hashed_files = hashed_bytes = 0
    over_budget = False
    max_megabytes = namespace.settings.parse.max_megabytes
    now = time.time()
    for done, (uri, path, status) in enumerate(walk.files):
        key = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        known = cache.get(uri)
        place, sidecar = _place_of(uri, namespace), walk.sidecars.get(uri)
        unheard = withheld.get(uri, "")
        too_large = size_problem(status.st_size, max_megabytes)
        if too_large:  # by its size, before a byte is read: a sparse file says any
            source = _describe(uri, path, place, sidecar, unheard)
            sources.append(_refused(source, "size_limit", too_large))
            continue
        if known is not None and known[:4] == key:
            remembered[uri] = known
            sources.append(
                _describe(uri, path, place, sidecar, unheard, (str(known[4]), status.st_size))
            )
            continue
        source = _describe(uri, path, place, sidecar, unheard)
        before = previous.get(uri) if previous else None
        moving = rest_seconds is not None and abs(now - status.st_ctime) < rest_seconds
        spent = budget_bytes is not None and hashed_bytes >= budget_bytes
        # One of the size that is known may be known as it stands: copied a moment ago, or touched.
        is_news = before is None or before.size != status.st_size
        over_budget = over_budget or (spent and not moving)
        if spent or (moving and is_news):
            pending.append(uri)
            sources += [before] if before is not None else []
            continue
        if on_progress:
            on_progress(uri, done, len(walk.files))
        hashed, steady = _hash_file(Path(path), source)
        if moving and before is not None and hashed.content_hash != before.content_hash:
            pending.append(uri)
            hashed, steady = before, None
        hashed_files += 1
        hashed_bytes += status.st_size
        sources.append(hashed)
        if hashed.status == "ok" and steady is not None:
            remembered[uri] = [*steady, hashed.content_hash]
    if remembered != cache:
        write_text(namespace.hash_cache, json.dumps(remembered, ensure_ascii=False))
    return Scan(
        tuple(sorted(sources, key=lambda source: source.source_uri)),
        hashed_files,
        hashed_bytes,
        tuple(pending),
        over_budget,
        orphan_warnings([uri for uri, _, _ in walk.files], walk.sidecars),
    )


def _check_root(root: Path, namespace: Namespace) -> None:
    where = namespace.workspace.namespace_file(namespace.name)
    if not root.is_dir():
        raise WorkspaceError(
            f"the raw folder {root} of namespace '{namespace.name}' is gone (see 'raw' in "
            f"{where}). "
            "Nothing was changed: bring it back (a disk not mounted?) or correct 'raw'."
        )
    try:
        os.scandir(root).close()
    except PermissionError as error:
        raise WorkspaceError(
            f"the raw folder {root} of namespace '{namespace.name}' cannot be read "
            f"({error.strerror}). Nothing was changed: give this user permission to read it."
        ) from error


def _walk_folder(walk: _Walk, folder: Path, uri: str, root: Path) -> None:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except PermissionError as error:
        _refuse(
            walk,
            uri,
            folder,
            "unreadable_folder",
            f"the folder cannot be read ({error.strerror}); give this user permission to read it.",
        )
        return
    except FileNotFoundError:
        return  # removed between listing and entering: as if it had never been listed
    except OSError as error:
        raise describe_trouble(error.errno, folder, "read") or error from error
    for entry in entries:
        _visit(walk, entry, f"{uri}/{entry.name}", root)


def _visit(walk: _Walk, entry: os.DirEntry[str], uri: str, root: Path) -> None:
    # A pattern names documents that are not wanted; what is said of those that are still counts.
    document = entry.name.removesuffix(SUFFIX)
    if entry.name.startswith(".") or is_ignored(document, walk.namespace.settings):
        return
    if not is_text(entry.name):
        shown = uri.encode("utf-8", "backslashreplace").decode()
        _refuse(
            walk,
            shown,
            Path(entry.path),
            "name_not_utf8",
            "the file's name is not UTF-8; rename the file.",
        )
        return
    try:
        if entry.is_symlink():
            _visit_link(walk, Path(entry.path), uri, root)
        elif entry.is_dir(follow_symlinks=False):
            walk.folders.append(uri)
            _walk_folder(walk, Path(entry.path), uri, root)
        else:
            _take_file(walk, entry.path, uri)
    except FileNotFoundError:
        return  # removed between listing and looking
    except PermissionError as error:
        _refuse(
            walk,
            uri,
            Path(entry.path),
            "unreadable_file",
            f"the file cannot be read ({error.strerror}); give this user permission to read it.",
        )


def _visit_link(walk: _Walk, path: Path, uri: str, root: Path) -> None:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        # A RuntimeError is a circle, and from Python 3.13 on an OSError.
        if isinstance(error, OSError) and error.errno not in _LEADS_NOWHERE:
            raise describe_trouble(error.errno, path, "read") or error from error
        _refuse(
            walk,
            uri,
            path,
            "symlink_broken",
            "the symbolic link leads nowhere; mend it or remove it.",
        )
        return
    if not target.is_relative_to(root.resolve()):
        _refuse(
            walk,
            uri,
            path,
            "symlink_outside",
            "the symbolic link leads out of the raw folder; copy the file in, or add its "
            "folder under 'raw'.",
        )
    elif target.is_dir():
        _refuse(
            walk,
            uri,
            path,
            "symlink_folder",
            "links to folders are not followed (they can run in circles); its files are "
            "taken where they lie.",
        )
    else:
        _take_file(walk, str(path), uri)


def _take_file(walk: _Walk, path: str, uri: str) -> None:
    status = os.stat(path)  # noqa: PTH116 - a Path a file is a third of a look at 5,000 files
    if not stat.S_ISREG(status.st_mode):
        _refuse(
            walk, uri, Path(path), "not_a_file", "neither a file nor a folder; remove it from raw/."
        )
    elif uri.endswith(SUFFIX):
        walk.sidecars[uri.removesuffix(SUFFIX)] = Path(path)
    else:
        walk.files.append((uri, path, status))


def _refuse(walk: _Walk, uri: str, path: Path, reason: str, message: str) -> None:
    place = _place_of(uri, walk.namespace)
    walk.refused.append(
        SourceFile(
            uri,
            os.fsencode(path).decode("utf-8", "backslashreplace"),
            "refused",
            place.source_type,
            place.source_subtype or "",
            place.citable,
            reason,
            message,
        )
    )


def _pair_sidecars(walk: _Walk) -> dict[str, str]:
    """Refuse files that were meant as sidecars: they may hold a password, and would be cited.

    Returns:
        Why the sidecar of a file cannot be used, by the file's source_uri.
    """
    unusable = {source.source_uri: source.message for source in walk.refused}
    unusable |= dict.fromkeys(walk.folders, FOLDER_IN_PLACE)
    pairs = pair_sidecars([uri for uri, _, _ in walk.files], walk.sidecars, unusable)
    for uri, path, _ in walk.files:
        if uri in pairs.misnamed:
            _refuse(
                walk,
                uri,
                Path(path),
                "sidecar_name",
                f"its name is that of a sidecar but for its end; rename it to "
                f"{pairs.misnamed[uri]}, or give it another name if it is a document.",
            )
    walk.files = [file for file in walk.files if file[0] not in pairs.misnamed]
    return pairs.withheld


def _place_of(uri: str, namespace: Namespace) -> PlaceSettings:
    """Return what a file is: the longest place that contains it wins."""
    inside = f"{uri.removeprefix(namespace.root_of(uri) or '').lstrip('/')}/"
    places = namespace.settings.places
    best = max(
        [place for place in places if not place or inside.startswith(f"{place.strip('/')}/")],
        key=len,
        default=None,
    )
    if best is None:
        return PlaceSettings(source_type="unsorted", citable=False)
    return places[best]


def _describe(
    uri: str,
    path: str,
    place: PlaceSettings,
    sidecar: Path | None,
    unheard: str,
    known: tuple[str, int] = ("", 0),
) -> SourceFile:
    """Describe a file.

    Args:
        unheard: why what may be its sidecar cannot be read, empty where nothing is in the way.
        known: its hash and size where its stat has not changed.
    """
    content_hash, size = known
    described = SourceFile(
        uri,
        path,
        "ok",
        place.source_type,
        place.source_subtype or "",
        place.citable,
        content_hash=content_hash,
        size=size,
    )
    if unheard or sidecar is None:
        return replace(described, sidecar_error=unheard)
    try:
        values = read_sidecar(sidecar)
    except ConfigurationError as error:
        return replace(described, sidecar_error=f"{error}{state_of_broken(sidecar)}")
    except FileNotFoundError:
        return described
    except OSError as error:
        return replace(
            described, sidecar_error=f"{sidecar.name}: cannot be read ({error.strerror})."
        )
    password = values.password.get_secret_value() if values.password else ""
    return replace(
        described,
        sidecar=json.dumps(
            values.model_dump(mode="json", exclude={"password"}, exclude_defaults=True),
            sort_keys=True,
            ensure_ascii=False,
        ),
        password_hash=hash_text(password) if password else "",
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
            settled = time.time() - after.st_ctime > _CLOCK_GRAIN_SECONDS
            hashed = replace(source, content_hash=digest.hexdigest(), size=after.st_size)
            return hashed, key if settled else None
    return _refused(
        source, "changing", "the file is being written; it is taken once it is still."
    ), None


def _refused(source: SourceFile, reason: str, message: str) -> SourceFile:
    return replace(source, status="refused", reason_code=reason, message=message)
