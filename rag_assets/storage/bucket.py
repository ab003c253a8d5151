"""What storage needs of an object store: objects by key, each with a version its server gives.

An object appears whole or not at all. Nothing is renamed and nothing is appended to. A listing may
be older than the truth: no decision rests on one alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from rag_assets.storage.store import Value


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object without its content.

    Args:
        size: in bytes.
        changed_at: when the server took it, in seconds since the epoch.
        version: tells it from any other content of its key (the entity tag of S3).
    """

    key: str
    size: int
    changed_at: float
    version: str


class _Whatever:
    """The type of `WHATEVER`."""


# Put an object whatever its key has: only for keys that name their content.
WHATEVER: Final = _Whatever()


class Bucket(Protocol):
    """A place for objects. Every method raises `StorageError` where the server cannot be reached,
    refuses, or breaks off, after the client's own tries.

    A key has parts with `/` between, none empty, `.` or `..`. Where `a/b` is a key, `a` is none:
    some servers keep folders. What was put is seen by every `get`, `find` and `download` that
    begins after it, on any machine.
    """

    def get(self, key: str) -> Value | None:
        """Return a small object, None where there is none."""

    def find(self, key: str) -> StoredObject | None:
        """Return what the server knows of an object, without its content."""

    def download(self, key: str, target: Path, known: str | None = None) -> str | None:
        """Write an object's content to a file of this machine, unless it is known already.

        Args:
            target: a temporary path of the caller; incomplete where this raises.
            known: a version that need not be fetched again; then `target` is not touched.

        Returns:
            The version; None where there is no such object.
        """

    def put(self, key: str, data: bytes | Path, expected: str | _Whatever | None) -> str | None:
        """Store an object if its key has what the caller believes, in one step at the server.

        Args:
            data: the content, or a file of this machine that holds it.
            expected: the version that is replaced, None where there must be none.

        Returns:
            The new version; None where the key had something else: nothing was changed.

        Raises:
            StorageError: it cannot be stored, or nobody can tell whether it was; it may even be
                applied later, if its condition holds then. Begin again from what is there.
        """

    def copy(self, source: str, key: str) -> bool:
        """Have an object under another key too, whatever that has, without sending it.

        Returns:
            False where there is no such object, or the server copies none of its size.
        """

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects whose keys begin so, sorted, as far as the server knows at once."""

    def delete(self, key: str) -> None:
        """Take an object away; one that is not there is no error."""

    def describe(self, key: str) -> str:
        """Return how a person calls an object: `s3://bucket/prefix/key`."""
