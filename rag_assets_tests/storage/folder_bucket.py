"""A bucket that is a folder of this machine, with what a server may do to its clients.

Every request is counted, and shown to whoever wants to see it: what that raises is what the server
answered, and a `Killed` ends the client there.
"""

import fcntl
import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag_assets.storage import Notify, Value, hold_lock
from rag_assets.storage.bucket import WHATEVER, StoredObject


class Killed(BaseException):
    """Stands in for the end of a process: nothing of it is caught by what handles errors."""


class FolderBucket:
    """Objects as files below a folder; one lock file makes every put one step.

    Args:
        root: the folder; several processes may share it.
        before: is shown (operation, key) before a request is served.
        after: likewise, when it was served and the client does not know yet.

    `requests` counts downloads that brought nothing new as `check`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.requests: Counter[str] = Counter()
        self.before: Callable[[str, str], None] = lambda operation, key: None
        self.after: Callable[[str, str], None] = lambda operation, key: None
        # What a listing shows in place of the truth; None for the truth.
        self.stale_listing: list[StoredObject] | None = None
        root.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def _serving(self, operation: str, key: str) -> Iterator[Path]:
        self.requests[operation] += 1
        self.before(operation, key)
        with (self.root / ".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.root / key
        self.after(operation, key)

    def get(self, key: str) -> Value | None:
        with self._serving("get", key) as path:
            data = path.read_bytes() if path.is_file() else None
        return None if data is None else Value(data, _version(data))

    def find(self, key: str) -> StoredObject | None:
        with self._serving("find", key) as path:
            return self._describe(path) if path.is_file() else None

    def download(self, key: str, target: Path, known: str | None = None) -> str | None:
        with self._serving("check", key) as path:
            data = path.read_bytes() if path.is_file() else None
        if data is None:
            return None
        if _version(data) != known:
            self.requests["check"] -= 1
            self.requests["download"] += 1
            target.write_bytes(data)
        return _version(data)

    def put(self, key: str, data: bytes | Path, expected: Any) -> str | None:
        content = data if isinstance(data, bytes) else data.read_bytes()
        with self._serving("put", key) as path:
            held = _version(path.read_bytes()) if path.is_file() else None
            if expected is not WHATEVER and held != expected:
                return None
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.parent / f".{secrets.token_hex(4)}"
            temporary.write_bytes(content)
            temporary.replace(path)
        return _version(content)

    def list(self, prefix: str) -> Iterator[StoredObject]:
        with self._serving("list", prefix):
            paths = [path for path in self.root.rglob("[!.]*") if path.is_file()]
            found = sorted((self._describe(path) for path in paths), key=lambda o: o.key)
        shown = found if self.stale_listing is None else self.stale_listing
        yield from (each for each in shown if each.key.startswith(prefix))

    def delete(self, key: str) -> None:
        with self._serving("delete", key) as path:
            path.unlink(missing_ok=True)

    def describe(self, key: str) -> str:
        return f"folder://{self.root.name}/{key}"

    def _describe(self, path: Path) -> StoredObject:
        known = path.stat()
        key = path.relative_to(self.root).as_posix()
        return StoredObject(key, known.st_size, known.st_mtime, _version(path.read_bytes()))

    def age(self, key: str, seconds: float) -> None:
        """Make an object older."""
        at = (self.root / key).stat().st_mtime - seconds
        os.utime(self.root / key, (at, at))


def _version(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


@contextmanager
def hold_lease(
    bucket: FolderBucket, key: str, what: str, notify: Notify, seconds: float
) -> Iterator[None]:
    """Stand in for a lease: a lock file beside the objects, which dies with its process."""
    bucket.requests["lease"] += 1
    lock = bucket.root.parent / f"{bucket.root.name}-locks" / key.replace("/", "+")
    with hold_lock(lock, what, notify, seconds):
        yield
