"""Objects in this process's memory: what a `Bucket` does, without a server."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_assets.model import hash_bytes
from rag_assets.storage.bucket import StoredObject, _Whatever
from rag_assets.storage.store import Value


class MemoryBucket:
    """A `Bucket`.

    Args:
        before: called before each operation with its name, and may raise.
    """

    def __init__(self, before: Callable[[str], None] = lambda operation: None) -> None:
        self.before = before
        self._lock = threading.Lock()
        self._objects = dict[str, tuple[bytes, float]]()

    def get(self, key: str) -> Value | None:
        self.before("get")
        found = self._objects.get(key)
        return None if found is None else Value(found[0], hash_bytes(found[0]))

    def find(self, key: str) -> StoredObject | None:
        self.before("find")
        found = self._objects.get(key)
        return None if found is None else _listed(key, *found)

    def download(self, key: str, target: Path, known: str | None = None) -> str | None:
        value = self.get(key)
        if value is None:
            return None
        if value.version != known:
            target.write_bytes(value.data)
        return value.version

    def put(self, key: str, data: bytes | Path, expected: str | _Whatever | None) -> str | None:
        self.before("put")
        content = data if isinstance(data, bytes) else data.read_bytes()
        with self._lock:
            found = self._objects.get(key)
            version = None if found is None else hash_bytes(found[0])
            if not isinstance(expected, _Whatever) and version != expected:
                return None
            self._objects[key] = content, time.time()
        return hash_bytes(content)

    def copy(self, source: str, key: str) -> bool:
        self.before("copy")
        with self._lock:
            if source in self._objects:
                self._objects[key] = self._objects[source][0], time.time()
        return source in self._objects

    def list(self, prefix: str) -> Iterator[StoredObject]:
        self.before("list")
        for key, found in sorted(self._objects.items()):
            if key.startswith(prefix):
                yield _listed(key, *found)

    def delete(self, key: str) -> None:
        self.before("delete")
        self._objects.pop(key, None)

    def describe(self, key: str) -> str:
        return f"memory://{key}"


def _listed(key: str, data: bytes, changed_at: float) -> StoredObject:
    return StoredObject(key, len(data), changed_at, hash_bytes(data))
