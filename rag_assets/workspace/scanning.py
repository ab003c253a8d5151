"""Look at the raw folders: which files are there, what they are, which bytes they hold."""

import errno
import fnmatch
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from rag_assets.model import ConfigurationError, Progress, WorkspaceError, hash_bytes, hash_text
from rag_assets.storage import describe_trouble, write_text
from rag_assets.workspace.hash_cache import read_hash_cache
from rag_assets.workspace.layout import Namespace
from rag_assets.workspace.settings import PlaceSettings, Settings
from rag_assets.workspace.sidecar import MISNAMED_SUFFIXES, SUFFIX, read_sidecar
from rag_assets.workspace.source_file import SourceFile

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
    _refuse_misnamed_sidecars(walk)
    cache = {} if rehash else read_hash_cache(namespace.hash_cache)
    remembered: dict[str, list[int | str]] = {}
    sources, pending = list(walk.refused), list[str]()
    hashed_files = hashed_bytes = 0
    over_budget = False
    now = time.time()
    for done, (uri, path, status) in enumerate(walk.files):
        key = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        known = cache.get(uri)
        place, sidecar = _place_of(uri, namespace), walk.sidecars.get(uri)
        too_large = namespace.settings.parse.size_problem(status.st_size)
        if too_large:  # by its size, before a byte is read: a sparse file says any
            sources.append(_refused(_describe(uri, path, place, sidecar), "size_limit", too_large))
            continue
        if known is not None and known[:4] == key:
            remembered[uri] = known
            sources.append(_describe(uri, path, place, sidecar, (str(known[4]), status.st_size)))
            continue
        source = _describe(uri, path, place, sidecar)
        moving = rest_seconds is not None and abs(now - status.st_ctime) < rest_seconds
        spent = budget_bytes is not None and hashed_bytes >= budget_bytes
        over_budget = over_budget or (spent and not moving)
        if moving or spent:
            pending.append(uri)
            if previous and uri in previous:
                sources.append(previous[uri])
            continue
        if on_progress:
            on_progress(uri, done, len(walk.files))
        hashed, steady = _hash_file(Path(path), source)
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
        _orphan_warnings(walk),
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
    if entry.name.startswith(".") or _is_ignored(entry.name, walk.namespace.settings):
        return
    if not _is_text(entry.name):
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
    except (FileNotFoundError, NotADirectoryError, RuntimeError):
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


def _refuse_misnamed_sidecars(walk: _Walk) -> None:
    """Take no file in that was meant as a sidecar: it may hold a password, and would be cited."""
    present = {uri for uri, _, _ in walk.files}
    files, walk.files = walk.files, []
    for uri, path, status in files:
        suffix = next((each for each in MISNAMED_SUFFIXES if uri.endswith(each)), "")
        if suffix and uri.removesuffix(suffix) in present:
            right = f"{Path(uri).name.removesuffix(suffix)}{SUFFIX}"
            _refuse(
                walk,
                uri,
                Path(path),
                "sidecar_name",
                f"its name is that of a sidecar but for its end; rename it to {right}, or give it "
                "another name if it is a document.",
            )
        else:
            walk.files.append((uri, path, status))


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_ignored(name: str, settings: Settings) -> bool:
    return _ignored_names(tuple(settings.ignore)).match(name.lower()) is not None


@lru_cache(maxsize=8)
def _ignored_names(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # One expression: the sensor asks it of every file every few seconds.
    return re.compile("|".join(fnmatch.translate(p.lower()) for p in patterns) or r"(?!)")


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
    known: tuple[str, int] = ("", 0),
) -> SourceFile:
    """Describe a file; `known` is its hash and size where its stat has not changed."""
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
    if sidecar is None:
        return described
    try:
        values = read_sidecar(sidecar)
    except ConfigurationError as error:
        # The bytes stand for the reason: a broken sidecar that is edited is another state.
        digest = hash_bytes(sidecar.read_bytes())[:12]
        return replace(described, sidecar_error=f"{error} [{digest}]")
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


def _orphan_warnings(walk: _Walk) -> tuple[str, ...]:
    present = {uri for uri, _, _ in walk.files}
    return tuple(
        f"{uri}{SUFFIX}: a sidecar without its file; remove it or bring the file back."
        for uri in sorted(walk.sidecars)
        if uri not in present
    )
