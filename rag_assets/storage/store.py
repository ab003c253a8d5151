"""Derived files as values by key, on the local disk.

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
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from rag_assets.model import DamagedFileError, LockedError, first_fault, hash_bytes
from rag_assets.storage.files import (
    changing_folder,
    explained_errors,
    remove_folder,
    replace_file,
    sync_path,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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


class LocalStore:
    """A folder of the local disk. Values are written beside their place, synced and renamed.

    Every method raises `StorageError` where the machine refuses it, and `ValueError` for what
    cannot be a key.

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

    def find(self, key: str) -> Listed | None:
        """Return the size and age of what a key has, without reading it."""
        path = self.place(key)
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
        with changing_folder(path):
            return None if path.is_file() else _write(path, data)

    def put_if_unchanged(self, key: str, data: bytes, version: str) -> str | None:
        """Replace the value that has this version: the new one's version, or None where the key
        has another value, or none.
        """
        path = self.place(key)
        if not path.is_file():
            return None
        with changing_folder(path):
            found = _read(path)
            if found is None or hash_bytes(found) != version:
                return None
            return _write(path, data)

    def list(self, prefix: str) -> Iterator[Listed]:
        """Yield the keys that begin so, sorted; those of `a/` for what lies below `a`. Links to
        folders are not followed.
        """
        parent, slash, _ = prefix.rpartition("/")
        folder = self.local_folder(parent)
        with explained_errors(folder, "read"):
            yield from _below(folder, parent + slash, prefix)

    def delete(self, key: str) -> bool:
        """Take a key's value away. Returns False where it had none."""
        if self.find(key) is None:
            return False
        path = self.place(key)
        with changing_folder(path):
            if not path.is_file():
                return False
            path.unlink()
            sync_path(path.parent)
        return True

    def place(self, key: str) -> Path:
        """Return the path of a key's value, whether it has one or not."""
        parts = key.split("/")
        if any(not part or part.startswith(".") or "\0" in part for part in parts):
            raise ValueError(
                f"{key!r} cannot be a key: parts with / between, none empty or with a dot first"
            )
        return self._root.joinpath(*parts)

    def local_folder(self, prefix: str) -> Path:
        """Return the folder of what lies below a prefix; it need not be there."""
        return self.place(prefix.removesuffix("/")) if prefix else self._root

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
        with replace_file(self.place(key)) as temporary, temporary.open("w+b") as stream:
            yield stream

    def renew(self, key: str) -> None:
        """Make a value as young as if it had been put now (`Listed.changed_at`).

        Raises:
            FileNotFoundError: the key has none.
        """
        os.utime(self.place(key))

    def delete_folder(self, prefix: str) -> None:
        """Take away everything below a prefix, what is hidden there too. It vanishes at once: what
        a crash leaves of it is named as unfinished.
        """
        remove_folder(self.local_folder(prefix))

    def used(self, prefix: str) -> int:
        """Return the bytes of all files below a prefix, hidden and unfinished ones too."""
        files = self.local_folder(prefix).rglob("*")
        return sum(path.stat().st_size for path in files if path.is_file())


def update(store: LocalStore, key: str, change: Callable[[bytes | None], bytes]) -> bool:
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


def match_keys(store: LocalStore, pattern: str) -> list[Listed]:
    """Return the keys that fit a pattern, sorted; `*` stands for anything within a part."""
    prefix = pattern.partition("*")[0]
    fits = re.compile("[^/]*".join(map(re.escape, pattern.split("*")))).fullmatch
    return [each for each in store.list(prefix) if fits(each.key)]


def put(store: LocalStore, key: str, data: bytes) -> bool:
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


_Value = TypeVar("_Value")


def restore_json(
    kind: "TypeAdapter[_Value]",
    data: Mapping[str, Any],
    what: str,
    schema: str,
    readable: Collection[str] = (),
) -> _Value:
    """Return the value whose fields stand beside `schema` in what was read of a file.

    Args:
        kind: checks and restores the fields.
        what: names the value for a reader: `answer`.
        schema: that this version writes.
        readable: further ones that can be read.

    Raises:
        DamagedFileError: another schema; a field is missing, unknown or of another type.
    """
    from pydantic import ValidationError

    if data.get("schema") not in {schema, *readable}:
        raise DamagedFileError(
            f"this is no {what} of schema {schema} but {data.get('schema')!r}: another version of "
            "rag-assets made it. Ask the question again."
        )
    try:
        return kind.validate_python({k: value for k, value in data.items() if k != "schema"})
    except ValidationError as error:
        key, said, _ = first_fault(error)
        raise DamagedFileError(
            f"this {what} was changed: '{key}': {said.lower()}. Delete the file and ask "
            "the question again."
        ) from error
