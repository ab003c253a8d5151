"""Workspaces whose derived files are kept in a bucket, for tests of every room."""

import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from rag_assets.storage import Value, mount_store, s3
from rag_assets.storage.bucket import StoredObject, _Whatever
from rag_assets.workspace import WORKSPACE_MARKER, Workspace
from rag_assets_tests.storage.memory_bucket import MemoryBucket

URL = "s3://tests/library"


class Killed(BaseException):
    """Stands in for the end of a process: what handles errors does not handle it."""


class WatchedBucket(MemoryBucket):
    """Objects in memory. Every request is counted, and shown to the test before and after.

    What `asked` raises is what the server answers; what `answered` raises happens when the server
    has done what it was asked. Both get the operation and the key.
    """

    def __init__(self) -> None:
        super().__init__()
        self.requests = Counter[str]()
        self.sent = Counter[str]()  # downloads that were answered with content, by key
        self.log = list[tuple[str, str]]()
        self.asked: Callable[[str, str], None] = lambda operation, key: None
        self.answered: Callable[[str, str], None] = lambda operation, key: None
        # What a listing shows in place of the truth.
        self.stale: list[StoredObject] | None = None
        self._counting = threading.Lock()

    def get(self, key: str) -> Value | None:
        with self._serving("get", key):
            return super().get(key)

    def find(self, key: str) -> StoredObject | None:
        with self._serving("find", key):
            return super().find(key)

    def download(self, key: str, target: Path, known: str | None = None) -> str | None:
        with self._serving("download", key):
            found = MemoryBucket.get(self, key)
            if found is not None and found.version != known:
                target.write_bytes(found.data)
                self.sent[key] += 1
        return found.version if found else None

    def put(self, key: str, data: bytes | Path, expected: str | _Whatever | None) -> str | None:
        with self._serving("put", key):
            return super().put(key, data, expected)

    def copy(self, source: str, key: str) -> bool:
        with self._serving("copy", key):
            return super().copy(source, key)

    def list(self, prefix: str) -> Iterator[StoredObject]:
        with self._serving("list", prefix):
            found = list(super().list(prefix))
        shown = found if self.stale is None else self.stale
        yield from [each for each in shown if each.key.startswith(prefix)]

    def delete(self, key: str) -> None:
        with self._serving("delete", key):
            super().delete(key)

    def describe(self, key: str) -> str:
        return f"{URL}/{key}"

    def keys(self, prefix: str = "") -> set[str]:
        """Return the keys that have an object, leases aside."""
        return {key for key in self._objects if key.startswith(prefix) and key[:6] != "locks/"}

    def forget(self) -> None:
        """Count from here on."""
        for counted in (self.requests, self.sent, self.log):
            counted.clear()

    def put_keys(self) -> Sequence[str]:
        """Return the keys that were put since, leases aside."""
        return [key for operation, key in self.log if operation == "put" and key[:6] != "locks/"]

    def age(self, seconds: float) -> None:
        """Make every object older."""
        for key, (data, at) in list(self._objects.items()):
            self._objects[key] = data, at - seconds

    @contextmanager
    def _serving(self, operation: str, key: str) -> Iterator[None]:
        with self._counting:
            self.requests[operation] += 1
            self.log.append((operation, key))
        self.asked(operation, key)
        yield
        self.answered(operation, key)


@contextmanager
def watched_bucket() -> Iterator[WatchedBucket]:
    """Have a bucket in memory behind every address, for this process alone."""
    bucket = WatchedBucket()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3, "open_bucket", lambda url: bucket)
        yield bucket


def keep_in(root: Path, url: str | None) -> Workspace:
    """Let a workspace keep what is derived in a bucket, or on its disk again."""
    path = root / WORKSPACE_MARKER
    told = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    if told.get("store") != url:
        told.pop("store", None)
        text = yaml.safe_dump(told | ({"store": url} if url else {}), allow_unicode=True)
        path.write_text(text, encoding="utf-8")
    # As in a process that knows nothing of it.
    mount_store(root, None)
    return Workspace.open(root)


def other_machine(workspace: Workspace, root: Path, *shared: str) -> Workspace:
    """A folder with the configuration alone, and links to what the machines share."""
    root.mkdir(parents=True)
    shutil.copy2(workspace.root / WORKSPACE_MARKER, root)
    shutil.copytree(workspace.root / "namespaces", root / "namespaces")
    for name in shared:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(workspace.root / name)
    return Workspace.open(root)
