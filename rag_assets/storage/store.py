"""Values by key: the few operations that storage needs of a place, and the local disk as one.

A key is a relative path with `/` between its parts, such as `index/thesis/current.json`. No part
begins with a dot: what does is unfinished, or of another program, and is never listed. Where
`a/b` is a key, `a` is none.

Nothing is overwritten without knowing what stands there. `put_if_absent` and `put_if_unchanged`
have one winner among any number of writers, in whatever processes they are; the others are told,
and `update` tries again for them. The version of a value is the SHA-256 of its bytes. Times and
inodes would be cheaper, but a disk's clock is coarser than two writes, inodes are used again and
neither outlives a copy of the workspace. A value that was another in between and is again what
the writer read is no danger: what it writes is a function of what it read. Values are small, so
that reading one again costs less than the sync after it; large files (records, parses, tables)
are never changed in place by two writers, or have locks of their own.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from rag_assets.model import LockedError, hash_bytes
from rag_assets.storage.atomic import (
    explained_errors,
    remove_folder,
    replace_file,
    sync_path,
    temporary_name,
)
from rag_assets.storage.copies import (
    find_named,
    keep_copy,
    known_version,
    refresh,
    remove,
    renew,
)
from rag_assets.storage.locks import changing_folder
from rag_assets.storage.mounts import Place, folder_place, held, place_of

# Each lost try means that another writer won; so many in a row are no coincidence.
MOST_TRIES = 100


@dataclass(frozen=True, slots=True)
class Value:
    """What a key has. `version` tells it from any other value."""

    data: bytes
    version: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A key that has a value.

    Args:
        size: of the value, in bytes.
        changed_at: when it was put there, in seconds since the epoch.
    """

    key: str
    size: int
    changed_at: float


class Store(Protocol):
    """A place for values. Every method raises `StorageError` where the machine refuses it, and
    `ValueError` for what cannot be a key.
    """

    def get(self, key: str) -> Value | None:
        """Return what a key has, None where it has nothing."""

    def find(self, key: str, *, anew: bool = False) -> Listed | None:
        """Return the size and age of what a key has, without reading it.

        Args:
            anew: what was known of it before does not count, since something is decided by it.
        """

    def put_if_absent(self, key: str, data: bytes) -> str | None:
        """Give a key its first value: its version, or None where the key has one already."""

    def put_if_unchanged(self, key: str, data: bytes, version: str) -> str | None:
        """Replace the value that has this version: the new one's version, or None where the key
        has another value, or none.
        """

    def list(self, prefix: str) -> Iterator[Listed]:
        """Yield the keys that begin so, sorted; those of `a/` for what lies below `a`."""

    def delete(self, key: str) -> bool:
        """Take a key's value away. Returns False where it had none."""

    def place(self, key: str) -> Path:
        """Return where a key's value lies, for sentences and for libraries that open it there."""

    def local_folder(self, prefix: str) -> Path:
        """Return a folder of this machine with what lies below a prefix, for libraries that want
        one (Lance, DuckDB). Only who made that folder writes there.
        """


class LocalStore:
    """A folder of the local disk. Values are written beside their place, synced and renamed.

    Below a folder that is the cache of a bucket (`mounts.py`) values are objects, and what lies in
    the folder are copies of those that were asked for.

    Args:
        root: the folder that keys are relative to.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, key: str) -> Value | None:
        """Return what a key has, None where it has nothing."""
        path = self.place(key)
        with explained_errors(path, "read"):
            data = _read(path)
        return None if data is None else Value(data, hash_bytes(data))

    def find(self, key: str, *, anew: bool = False) -> Listed | None:
        """Return the size and age of what a key has, without reading it."""
        path = self._path(key)
        place = place_of(path)
        if place is not None and place.is_named:
            named = find_named(place, anew=anew)
            return None if named is None else Listed(key, *named)
        refresh(path)
        with explained_errors(path, "read"):
            try:
                known = path.stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
        is_value = stat.S_ISREG(known.st_mode)
        return Listed(key, known.st_size, known.st_ctime) if is_value else None

    def put_if_absent(self, key: str, data: bytes) -> str | None:
        """Give a key its first value: its version, or None where the key has one already."""
        path = self.place(key)
        place = place_of(path)
        if place is not None:
            return None if path.is_file() else _put(place, data, None)
        with changing_folder(path):
            return None if path.is_file() else _write(path, data)

    def put_if_unchanged(self, key: str, data: bytes, version: str) -> str | None:
        """Replace the value that has this version: the new one's version, None for another."""
        path = self.place(key)
        if not path.is_file():
            return None
        place = place_of(path)
        with changing_folder(path):
            found = _read(path)
            if found is None or hash_bytes(found) != version:
                return None
            if place is None:
                return _write(path, data)
            replaced = known_version(place)
        # The server compares; nobody here waits for it.
        return _put(place, data, replaced)

    def list(self, prefix: str) -> Iterator[Listed]:
        """Yield the keys that begin so, sorted. Links to folders are not followed."""
        parent, slash, _ = prefix.rpartition("/")
        folder = self.local_folder(parent)
        with explained_errors(folder, "read"):
            here = _below(folder, parent + slash, prefix)
            mounted = folder_place(folder)
            if mounted is None:
                yield from here
                return
            # What was put a moment ago need not be listed yet.
            found = {each.key: each for each in here}
            mount, own = mounted
            own = own.removesuffix(parent + slash)
            for each in mount.bucket.list(own + prefix):
                key = each.key.removeprefix(own)
                found[key] = Listed(key, each.size, each.changed_at)
            yield from (found[key] for key in sorted(found))

    def delete(self, key: str) -> bool:
        """Take a key's value away. Returns False where it had none."""
        path = self._path(key)
        is_there = self.find(key, anew=True) is not None
        place = place_of(path)
        if place is None and not is_there:
            return False
        with changing_folder(path):
            if place is not None:
                remove(place)
            elif path.is_file():
                path.unlink()
            else:
                return False
            sync_path(path.parent)
        return is_there

    def place(self, key: str) -> Path:
        """Return where a key's value lies now, or would lie."""
        path = self._path(key)
        refresh(path)
        return path

    def _path(self, key: str) -> Path:
        parts = key.split("/")
        if any(not part or part.startswith(".") or "\0" in part for part in parts):
            raise ValueError(
                f"{key!r} cannot be a key: parts with / between, none empty or with a dot first"
            )
        return self._root.joinpath(*parts)

    @contextmanager
    def reading(self, key: str) -> Iterator[BinaryIO]:
        """Open a value that is too large to be read at once.

        Raises:
            FileNotFoundError: the key has none.
        """
        with self.place(key).open("rb") as stream:
            yield stream

    @contextmanager
    def filling(self, key: str) -> Iterator[BinaryIO]:
        """Give a key, whatever it has, what is written to the stream; nothing where that fails.

        For a large value that one writer makes. What was written can be read again before the end.
        """
        path = self.place(key)  # what it has is looked at, since nothing is replaced unseen
        with replace_file(path) as temporary, temporary.open("w+b") as stream:
            yield stream

    def renew(self, key: str) -> None:
        """Make a value as young as if it had been put now (`Listed.changed_at`).

        Raises:
            FileNotFoundError: the key has none.
        """
        path = self._path(key)
        place = place_of(path)
        if place is None:
            os.utime(path)
        else:
            renew(place)

    def delete_folder(self, prefix: str) -> None:
        """Take away everything below a prefix, what is hidden there too. It vanishes at once: what
        a crash leaves of it is named as unfinished.
        """
        folder = self.local_folder(prefix)
        mounted = folder_place(folder)
        if mounted is not None:
            mount, own = mounted
            for each in list(mount.bucket.list(own)):
                mount.bucket.delete(each.key)
            if not folder.is_dir():
                return
        remove_folder(folder)

    def used(self, prefix: str) -> int:
        """Return the bytes of all files below a prefix, hidden and unfinished ones too."""
        folder = self.local_folder(prefix)
        mounted = folder_place(folder)
        if mounted is not None:
            return sum(each.size for each in mounted[0].bucket.list(mounted[1]))
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    def local_folder(self, prefix: str) -> Path:
        """Return the folder of what lies below a prefix; it need not be there."""
        return self._path(prefix.removesuffix("/")) if prefix else self._root


def update(store: Store, key: str, change: Callable[[bytes | None], bytes]) -> bool:
    """Replace what a key has by what `change` makes of it, and lose no other writer's change.

    Args:
        change: gets the value, None where there is none; asked again where another was faster.

    Returns:
        False where the value is what it was: then nothing is written.

    Raises:
        LockedError: other writers were faster each time.
    """
    for _ in range(MOST_TRIES):
        found = store.get(key)
        data = change(found.data if found else None)
        if found is None:
            won = store.put_if_absent(key, data)
        elif found.data == data:
            return False
        else:
            won = store.put_if_unchanged(key, data, found.version)
        if won is not None:
            return True
    raise LockedError(
        f"{store.place(key)}: other processes have changed it {MOST_TRIES} times meanwhile. See "
        "what else works on this workspace, end what hangs, and try again."
    )


def match_keys(store: Store, pattern: str) -> list[Listed]:
    """Return the keys that fit a pattern, sorted; `*` stands for anything within a part."""
    prefix = pattern.partition("*")[0]
    fits = re.compile("[^/]*".join(map(re.escape, pattern.split("*")))).fullmatch
    return [each for each in store.list(prefix) if fits(each.key)]


def put(store: Store, key: str, data: bytes) -> bool:
    """Give a key a value, whatever it has. Returns False where it has that value already."""
    return update(store, key, lambda _: data)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _write(path: Path, data: bytes) -> str:
    with replace_file(path) as temporary:
        temporary.write_bytes(data)
    return hash_bytes(data)


def _put(place: Place, data: bytes, expected: str | None) -> str | None:
    """Put an object in place of the version that was read; None where it has another."""
    version = place.bucket.put(place.key, data, expected)
    if version is None:
        held.forget(place)  # who tries again must see what is there now
        return None
    temporary = place.path.parent / temporary_name(place.path.suffix)
    try:
        temporary.write_bytes(data)
        sync_path(temporary)
        keep_copy(place, temporary, version)
    finally:
        temporary.unlink(missing_ok=True)
    return hash_bytes(data)


def _below(folder: Path, key: str, prefix: str) -> Iterator[Listed]:
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry in found if not entry.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return
    named = {
        key + entry.name + ("/" if entry.is_dir(follow_symlinks=False) else ""): entry
        for entry in entries
    }
    for name, entry in sorted(named.items()):
        if not name.startswith(prefix):
            continue
        if name.endswith("/"):
            yield from _below(folder / entry.name, name, prefix)
        elif entry.is_file():
            try:
                known = entry.stat()
            except FileNotFoundError:  # taken away meanwhile
                continue
            yield Listed(name, known.st_size, known.st_ctime)
