"""What is put into an object: bytes, or a file that is read a piece at a time."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from rag_assets.storage.atomic import explained_errors

CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes with their size and hashes.

    Args:
        source: the bytes, or the file that holds them; it must not change.
        md5: by which a server refuses what did not arrive whole, in hexadecimal.
        sha256: by which a reader refuses it, in hexadecimal.
    """

    source: bytes | Path
    size: int
    md5: str
    sha256: str

    @classmethod
    def of(cls, source: bytes | Path) -> "Content":
        """Return the content of bytes, or of a file, which is read once for that."""
        if isinstance(source, bytes):
            return cls(source, *_measure([source]))
        with explained_errors(source, "read"), source.open("rb") as stream:
            return cls(source, *_measure(iter(lambda: stream.read(CHUNK_BYTES), b"")))

    @property
    def content_md5(self) -> str:
        """The MD5 as the header Content-MD5 has it."""
        return base64.b64encode(bytes.fromhex(self.md5)).decode()

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Yield it from its beginning."""
        if isinstance(self.source, bytes):
            yield BytesIO(self.source)
            return
        with explained_errors(self.source, "read"), self.source.open("rb") as stream:
            yield stream

    def parts(self, size: int) -> Iterator[bytes]:
        """Yield it in parts of that many bytes, the last one smaller."""
        with self.opened() as stream:
            yield from iter(lambda: stream.read(size), b"")


def write_hashed(chunks: Iterable[bytes], target: Path) -> str:
    """Write chunks to a file and return their SHA-256.

    Raises:
        StorageError: the disk is full or refuses it.
    """
    digest = hashlib.sha256()
    with explained_errors(target), target.open("wb") as stream:
        for chunk in chunks:
            digest.update(chunk)
            stream.write(chunk)
    return digest.hexdigest()


def _measure(chunks: Iterable[bytes]) -> tuple[int, str, str]:
    size, md5, sha256 = 0, hashlib.md5(usedforsecurity=False), hashlib.sha256()
    for chunk in chunks:
        size += len(chunk)
        md5.update(chunk)
        sha256.update(chunk)
    return size, md5.hexdigest(), sha256.hexdigest()
