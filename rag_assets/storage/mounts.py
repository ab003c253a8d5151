"""Which folders are caches of a bucket: a table of this process.

A workspace with a store keeps the paths it has without one. What lies below its `data/` and
`index/` is then a copy of objects whose keys are the same paths, and what lies nowhere else is a
lease for a lock::

    <workspace>/data/thesis/chunks/0.parquet        the object data/thesis/chunks/0.parquet
    <workspace>/index/thesis/current.json           the object index/thesis/current.json
    <workspace>/index/thesis/p-…/                   a copy of a publication (shipping.py)
    <workspace>/meta/locks/derived/….lock           the lease locks/meta/locks/derived/….lock

A name that begins with a dot is of this machine alone, and so is a laboratory. Whoever opens a
workspace says what it is a cache of (`mount_store`); a job that is done in another process carries
it.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_assets.storage.bucket import Bucket

_FOLDERS = ("data", "index")
# What a laboratory remembers is on its machine, as its database is.
_LOCAL = ("data", "lab")
# Below it lie the locks of what is derived; the others are of files that stay on this machine.
DERIVED_LOCKS = ("meta", "locks", "derived")
# Named by what they hold, or by all that it is a function of: never another value.
_NAMED_BY_CONTENT = re.compile(r"data/[^/]+/(parsed|attachments)/")
# Of a path inside a publication: index, namespace, publication, file.
_PARTS_IN_PUBLICATION = 4


@dataclass(eq=False)
class Mount:
    """A workspace's folder as the cache of a bucket.

    Args:
        root: the folder.
        url: of the bucket, with the prefix of all keys.
    """

    root: Path
    url: str
    # Set where this process knows that no file of the folder is missing in the bucket.
    is_adopted: bool = False
    guard: threading.RLock = field(default_factory=threading.RLock)

    @cached_property
    def bucket(self) -> "Bucket":
        """The bucket, opened when it is first asked."""
        from rag_assets.storage.s3 import open_bucket

        return open_bucket(self.url)


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a cache, whether it is there or not.

    Args:
        path: where the copy lies.
        key: of its object.
        is_named: the key names the content, so that a whole copy is never asked for again.
    """

    mount: Mount
    path: Path
    key: str
    is_named: bool

    @property
    def bucket(self) -> "Bucket":
        """The bucket that has the object."""
        return self.mount.bucket


_mounts: dict[Path, Mount] = {}


def mount_store(root: Path, url: str | None) -> None:
    """Say what a workspace's folder is a cache of, for this process; None for nothing."""
    known = _mounts.get(root)
    if url is None:
        _mounts.pop(root, None)
    elif known is None or known.url != url:
        _mounts[root] = Mount(root, url)


def told_mount(path: Path) -> tuple[str, str] | None:
    """Return what `mount_told` needs in another process to see a path as this one does."""
    found = _mount_above(path)
    return (str(found[0].root), found[0].url) if found else None


def mount_told(told: tuple[str, str] | None) -> None:
    """Do what the process did that told so (`told_mount`)."""
    if told is not None:
        mount_store(Path(told[0]), told[1])


def place_of(path: Path) -> Place | None:
    """Return the place of a file that is a copy of an object; None for any other file."""
    found = _mounted(path)
    if found is None:
        return None
    mount, parts = found
    if len(parts) < 2 or (parts[0] == "index" and len(parts) >= _PARTS_IN_PUBLICATION):
        return None
    key = "/".join(parts)
    return Place(mount, path, key, _NAMED_BY_CONTENT.match(key) is not None)


def folder_place(folder: Path) -> tuple[Mount, str] | None:
    """Return the mount of a folder of copies and the prefix of their keys; None for any other."""
    found = _mounted(folder)
    if found is None or (found[1][0] == "index" and len(found[1]) >= _PARTS_IN_PUBLICATION):
        return None
    return found[0], "".join(f"{part}/" for part in found[1])


def publication_of(path: Path) -> Path | None:
    """Return the folder of the mounted publication that holds a path, or is it; None without."""
    found = _mounted(path)
    if found is None or found[1][0] != "index" or len(found[1]) < _PARTS_IN_PUBLICATION:
        return None
    mount, parts = found
    return mount.root.joinpath(*parts[: _PARTS_IN_PUBLICATION - 1])


def lease_of(lock: Path) -> tuple[Mount, str] | None:
    """Return the mount and the key of the lease that stands for a lock; None for a file's lock."""
    found = _mount_above(lock)
    if found is None:
        return None
    mount, parts = found
    if parts[0] in _FOLDERS or parts[: len(DERIVED_LOCKS)] == DERIVED_LOCKS:
        return mount, "/".join(("locks", *parts))
    return None


def _mounted(path: Path) -> tuple[Mount, tuple[str, ...]] | None:
    found = _mount_above(path)
    if found is None or found[1][0] not in _FOLDERS:
        return None
    return None if any(part.startswith(".") for part in found[1]) else found


def _mount_above(path: Path) -> tuple[Mount, tuple[str, ...]] | None:
    if not _mounts:  # at once: most workspaces have no store
        return None
    for folder in path.parents:
        mount = _mounts.get(folder)
        if mount is not None:
            parts = path.relative_to(folder).parts
            return None if parts[: len(_LOCAL)] == _LOCAL else (mount, parts)
    return None


class Held(threading.local):
    """What a thread has seen of objects since it took its leases, innermost last.

    While a lease is held nobody else writes what it guards. An object is then asked for once, and
    what is written replaces the version that was read first: where the lease was lost in between,
    the conditional put is lost too, and no other writer's rows are.
    """

    def __init__(self) -> None:
        self.seen: list[dict[tuple[int, str], str | None]] = []

    def find(self, place: Place) -> "str | _Unseen | None":
        """Return the version seen under the innermost lease (None: no object), or `UNSEEN`."""
        return self.seen[-1].get(_identity(place), UNSEEN) if self.seen else UNSEEN

    def note(self, place: Place, version: str | None) -> None:
        """Remember a version, for as long as the innermost lease is held."""
        key = _identity(place)
        for seen in self.seen:
            if key in seen or seen is self.seen[-1]:
                seen[key] = version

    def forget(self, place: Place) -> None:
        """Have an object asked for again."""
        for seen in self.seen:
            seen.pop(_identity(place), None)


def _identity(place: Place) -> tuple[int, str]:
    return id(place.mount), place.key


class _Unseen:
    """The type of `UNSEEN`."""


UNSEEN: Final = _Unseen()
held = Held()


@contextmanager
def seeing_once() -> Iterator[None]:
    """Ask for each object once in this thread, while the block runs under a lease."""
    seen: dict[tuple[int, str], str | None] = {}
    held.seen.append(seen)
    try:
        yield
    finally:
        held.seen[:] = [each for each in held.seen if each is not seen]
