"""What stands below the raw folders, by its names and stats alone: no file is opened."""

import errno
import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from rag_assets.model import WorkspaceError
from rag_assets.settings import PlaceSettings
from rag_assets.storage import describe_trouble
from rag_assets.workspace.layout import Namespace
from rag_assets.workspace.raw_names import is_ignored, is_text
from rag_assets.workspace.sidecar import SUFFIX
from rag_assets.workspace.source_file import SourceFile

# Of one link, whatever state the machine is in.
_LEADS_NOWHERE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES, errno.EPERM}
)
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
        _check_root(root, namespace)
        _walk_folder(listing, root, name, root)
    return listing


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


def _walk_folder(listing: Listing, folder: Path, uri: str, root: Path) -> None:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except PermissionError as error:
        refuse(
            listing,
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
        _visit(listing, entry, f"{uri}/{entry.name}", root)


def _visit(listing: Listing, entry: os.DirEntry[str], uri: str, root: Path) -> None:
    # A pattern names documents that are not wanted; what is said of those that are still counts.
    document = entry.name.removesuffix(SUFFIX)
    if entry.name.startswith(".") or is_ignored(document, listing.namespace.settings):
        return
    if not is_text(entry.name):
        shown = uri.encode("utf-8", "backslashreplace").decode()
        refuse(
            listing,
            shown,
            Path(entry.path),
            "name_not_utf8",
            "the file's name is not UTF-8; rename the file.",
        )
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
        refuse(
            listing,
            uri,
            Path(entry.path),
            "unreadable_file",
            f"the file cannot be read ({error.strerror}); give this user permission to read it.",
        )


def _visit_link(listing: Listing, path: Path, uri: str, root: Path) -> None:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        # A RuntimeError is a circle, and from Python 3.13 on an OSError.
        if isinstance(error, OSError) and error.errno not in _LEADS_NOWHERE:
            raise describe_trouble(error.errno, path, "read") or error from error
        refuse(
            listing,
            uri,
            path,
            "symlink_broken",
            "the symbolic link leads nowhere; mend it or remove it.",
        )
        return
    if not target.is_relative_to(root.resolve()):
        refuse(
            listing,
            uri,
            path,
            "symlink_outside",
            "the symbolic link leads out of the raw folder; copy the file in, or add its "
            "folder under 'raw'.",
        )
    elif target.is_dir():
        refuse(
            listing,
            uri,
            path,
            "symlink_folder",
            "links to folders are not followed (they can run in circles); its files are "
            "taken where they lie.",
        )
    else:
        _take_file(listing, str(path), uri)


def _take_file(listing: Listing, path: str, uri: str) -> None:
    status = os.stat(path)  # noqa: PTH116 - a Path a file is a third of a look at 5,000 files
    if not stat.S_ISREG(status.st_mode):
        refuse(
            listing,
            uri,
            Path(path),
            "not_a_file",
            "neither a file nor a folder; remove it from raw/.",
        )
    elif uri.endswith(SUFFIX):
        listing.sidecars[uri.removesuffix(SUFFIX)] = Listed(uri, path, stat_of(status))
    else:
        listing.files.append(Listed(uri, path, stat_of(status)))


def refuse(listing: Listing, uri: str, path: Path, reason: str, message: str) -> None:
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
            message,
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
