"""Look at the raw folders: which files are there, what they are, which bytes they hold."""

import errno
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from rag_assets import __version__
from rag_assets.model import (
    ConfigurationError,
    Progress,
    WorkspaceError,
    hash_fields,
    hash_text,
    size_problem,
)
from rag_assets.model.settings import PlaceSettings
from rag_assets.storage import describe_trouble, explained_errors, write_text
from rag_assets.workspace.layout import Namespace
from rag_assets.workspace.naming import is_ignored, is_text
from rag_assets.workspace.sidecar import (
    SUFFIX,
    Sidecar,
    SourceFile,
    orphan_warnings,
    read_sidecar,
    state_of_broken,
)

# Of one link, whatever state the machine is in.
_LEADS_NOWHERE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES, errno.EPERM}
)
# Why a file is not taken, by its code; `{}` is the system's reason, or the name it should have.
_REFUSALS = {
    "unreadable_folder": "the folder cannot be read ({}); give this user permission to read it.",
    "unreadable_file": "the file cannot be read ({}); give this user permission to read it.",
    "name_not_utf8": "the file's name is not UTF-8; rename the file.",
    "symlink_broken": "the symbolic link is broken; fix or remove it.",
    "symlink_outside": "the symbolic link leads out of the raw folder; copy the file in, or add "
    "its folder under 'raw'.",
    "symlink_folder": "links to folders are not followed (they can run in circles); its files are "
    "taken where they are.",
    "not_a_file": "neither a file nor a folder; remove it from raw/.",
    "sidecar_name": "its name is that of a sidecar but for its end; rename it to {}, or give it "
    "another name if it is a document.",
}
# Size, mtime and ctime in nanoseconds, inode: what stays the same while nobody writes to a file.
Stat = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Listed:
    """A plain file: what it is called, where it lies, and its stat."""

    uri: str
    path: str
    stat: Stat


@dataclass
class Listing:
    """What one walk through the raw folders found, in the order of the listing.

    Args:
        files: every plain file that is no sidecar.
        sidecars: by the source_uri of the file that each speaks of.
        folders: source_uris of the folders below the roots.
        refused: what is no file that can be taken in, with the reason.
    """

    namespace: Namespace
    files: list[Listed] = field(default_factory=list)
    sidecars: dict[str, Listed] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    refused: list[SourceFile] = field(default_factory=list)

    _places: dict[str, PlaceSettings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = self.namespace.settings.places
        self._place_names = {place.strip("/").rpartition("/")[2] for place in places}

    def place_of(self, uri: str) -> PlaceSettings:
        """Return what a file is: the longest place that contains it wins, or that is it."""
        folder, _, name = uri.rpartition("/")
        if name in self._place_names:
            return _find_place(uri, self.namespace)  # perhaps a place of its own
        if folder not in self._places:
            self._places[folder] = _find_place(uri, self.namespace)
        return self._places[folder]

    def digest(self) -> str:
        """Return the SHA-256 of names, stats and refusals: equal while nothing changes."""
        total = hashlib.sha256()
        for one in (*self.files, *self.sidecars.values()):
            total.update(f"{one.path}\0{one.stat}\n".encode("utf-8", "surrogatepass"))
        for refused in self.refused:
            total.update(f"{refused}\n".encode("utf-8", "surrogatepass"))
        total.update("\n".join(self.folders).encode("utf-8", "surrogatepass"))
        return total.hexdigest()


def stat_of(status: os.stat_result) -> Stat:
    """Return what is compared of a stat."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def list_raw(namespace: Namespace) -> Listing:
    """Walk through the namespace's raw folders.

    Raises:
        WorkspaceError: a raw folder is gone or cannot be read.
        StorageError: a folder or file cannot be read for a trouble of the machine, not its own.
    """
    listing = Listing(namespace)
    for root, name in zip(namespace.roots, namespace.root_names, strict=True):
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
        _walk_folder(listing, root, name, root)
    return listing


def _walk_folder(listing: Listing, folder: Path, uri: str, root: Path) -> None:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except PermissionError as error:
        refuse(listing, uri, folder, "unreadable_folder", error.strerror)
        return
    except FileNotFoundError:
        return  # removed between listing and entering: as if it had never been listed
    except OSError as error:
        raise describe_trouble(error.errno, folder, "read") or error from error
    for entry in entries:
        _visit(listing, entry, f"{uri}/{entry.name}", root)


def _visit(listing: Listing, entry: os.DirEntry[str], uri: str, root: Path) -> None:
    # A pattern names documents that are not wanted; what is said of those that are still counts.
    document = entry.name.removesuffix(SUFFIX)
    if entry.name.startswith(".") or is_ignored(document, listing.namespace.settings):
        return
    if not is_text(entry.name):
        shown = uri.encode("utf-8", "backslashreplace").decode()
        refuse(listing, shown, Path(entry.path), "name_not_utf8")
        return
    try:
        if entry.is_symlink():
            _visit_link(listing, Path(entry.path), uri, root)
        elif entry.is_dir(follow_symlinks=False):
            listing.folders.append(uri)
            _walk_folder(listing, Path(entry.path), uri, root)
        else:
            _take_file(listing, entry.path, uri)
    except FileNotFoundError:
        return  # removed between listing and looking
    except PermissionError as error:
        refuse(listing, uri, Path(entry.path), "unreadable_file", error.strerror)


def _visit_link(listing: Listing, path: Path, uri: str, root: Path) -> None:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        # A RuntimeError is a circle, and from Python 3.13 on an OSError.
        if isinstance(error, OSError) and error.errno not in _LEADS_NOWHERE:
            raise describe_trouble(error.errno, path, "read") or error from error
        refuse(listing, uri, path, "symlink_broken")
        return
    if not target.is_relative_to(root.resolve()):
        refuse(listing, uri, path, "symlink_outside")
    elif target.is_dir():
        refuse(listing, uri, path, "symlink_folder")
    else:
        _take_file(listing, str(path), uri)


def _take_file(listing: Listing, path: str, uri: str) -> None:
    status = os.stat(path)  # noqa: PTH116 - a Path a file is a third of a look at 5,000 files
    if not stat.S_ISREG(status.st_mode):
        refuse(listing, uri, Path(path), "not_a_file")
    elif uri.endswith(SUFFIX):
        listing.sidecars[uri.removesuffix(SUFFIX)] = Listed(uri, path, stat_of(status))
    else:
        listing.files.append(Listed(uri, path, stat_of(status)))


def refuse(listing: Listing, uri: str, path: Path, reason: str, about: str | None = None) -> None:
    """Note what is not taken in, and why."""
    place = listing.place_of(uri)
    listing.refused.append(
        SourceFile(
            uri,
            os.fsencode(path).decode("utf-8", "backslashreplace"),
            "refused",
            place.source_type,
            place.source_subtype or "",
            place.citable,
            reason,
            _REFUSALS[reason].format(about),
        )
    )


def _find_place(uri: str, namespace: Namespace) -> PlaceSettings:
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


# A file changed so shortly before it was read could change again within the clock's grain: what
# was read is used but not remembered.
CLOCK_GRAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class SaidBeside:
    """What stands in a sidecar: its values as canonical JSON without the password, or an error."""

    values: str = ""
    error: str = ""
    password_hash: str = ""


class SidecarCache:
    """Reads sidecars, and those that have not changed since they were read only once.

    Args:
        cache: what the hash cache remembers; sidecars stand there under their own source_uri.
    """

    def __init__(self, cache: Mapping[str, list[int | str]]) -> None:
        self._cache = cache
        self.read = 0
        self.remembered: dict[str, list[int | str]] = {}
        self.is_settled = True

    def knows(self, sidecar: Listed) -> bool:
        """Say whether it was read, and has not changed since."""
        known = self._cache.get(sidecar.uri)
        # All eight parts, or it is not one that was written here.
        return known is not None and len(known) == 8 and known[:5] == [*sidecar.stat, _form()]

    def read_beside(self, sidecar: Listed) -> SaidBeside:
        """Return what a sidecar says, or why it cannot be used."""
        if self.knows(sidecar):
            known = self._cache[sidecar.uri]
            self.remembered[sidecar.uri] = known
            values, error, password_hash = (str(part) for part in known[5:])
            return SaidBeside(values, error, password_hash)
        self.read += 1
        path = Path(sidecar.path)
        try:
            said = _said(path)
        except FileNotFoundError:  # removed since it was listed
            self.is_settled = False
            return SaidBeside()
        except OSError as error:
            self.is_settled = False
            return SaidBeside(error=f"{path.name}: cannot be read ({error.strerror}).")
        if time.time() - sidecar.stat[2] / 1e9 > CLOCK_GRAIN_SECONDS:
            parts = (said.values, said.error, said.password_hash)
            self.remembered[sidecar.uri] = [*sidecar.stat, _form(), *parts]
        else:
            self.is_settled = False
        return said


def _said(path: Path) -> SaidBeside:
    try:
        values = read_sidecar(path)
    except ConfigurationError as error:
        return SaidBeside(error=f"{error}{state_of_broken(path)}")
    password = values.password.get_secret_value() if values.password else ""
    return SaidBeside(
        json.dumps(
            values.model_dump(mode="json", exclude={"password"}, exclude_defaults=True),
            sort_keys=True,
            ensure_ascii=False,
        ),
        password_hash=hash_text(password) if password else "",
    )


@cache
def _form() -> str:
    """Return what a sidecar may say in this release; another one reads all of them again."""
    return hash_fields(__version__, Sidecar.model_json_schema())[:8]


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


# A name that was meant as `<file>.meta.yaml`: in another case, with another suffix of its kind or
# one that an editor adds, or `paper.pdf.yaml`. `README.yaml` beside `README` is a document.
_LIKE = re.compile(
    r"(?is)(?P<target>.+?)\.meta\.(?:ya?ml|json)[^/]*|(?P<bare>.+[^/]\.[^./]+)\.ya?ml"
)


def _pair_sidecars(listing: Listing) -> dict[str, str]:
    """Refuse files that were meant as sidecars: they may hold a password, and would be cited.

    Returns:
        Why the sidecar of a file cannot be used, by the file's source_uri.
    """
    names = {file.uri.casefold(): file.uri for file in listing.files}
    withheld: dict[str, str] = {}

    def meant_by(uri: str) -> str | None:
        match = _LIKE.fullmatch(uri)
        return match and names.get((match["target"] or match["bare"]).casefold())

    def withhold(uri: str, reason: str) -> None:
        target = meant_by(uri)
        # One that has the right name speaks; what lies beside it, a copy of an editor, does not.
        if target is not None and target not in listing.sidecars:
            withheld.setdefault(target, f"{uri.rpartition('/')[2]}: {reason}")

    unusable = [(source.source_uri, source.message) for source in listing.refused]
    unusable += [
        (folder, "a folder stands where the sidecar should.") for folder in listing.folders
    ]
    documents = []
    for file in listing.files:
        target = meant_by(file.uri)
        if target is None:
            documents.append(file)
            continue
        right = f"{target.rpartition('/')[2]}{SUFFIX}"
        withhold(file.uri, f"its name is not that of a sidecar; rename it to {right}")
        refuse(listing, file.uri, Path(file.path), "sidecar_name", right)
    listing.files = documents
    for target in sorted(listing.sidecars):
        document = names.get(target.casefold(), target)
        if document != target:
            right = f"{document.rpartition('/')[2]}{SUFFIX}"
            withhold(f"{target}{SUFFIX}", f"no file has exactly its name; rename it to {right}")
    for uri, reason in unusable:
        withhold(uri, reason)
    return withheld


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


def read_hash_cache(path: Path) -> dict[str, list[int | str]]:
    """The cache only saves hashing: one that cannot be read costs one full hash of raw/.

    Raises:
        StorageError: the machine cannot read it now.
    """
    try:
        with explained_errors(path, "read"):
            loaded = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return {}
    return loaded if isinstance(loaded, dict) else {}
