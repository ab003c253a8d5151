"""Objects of an S3 server. What it must do: `docs/scale.md`.

A conditional put has one winner, and whoever won learns it. An answer may be lost after the server
has applied a put, and a try that follows is refused then, because of our own first one. So each
put gives its object a random id and the ids of the puts before it, as metadata: who finds the own
id there has won; who finds the id that was to be replaced, and not the own, has lost. Where
neither is to be seen the put raises. Three things escape this: an object that is deleted and made
again within the seconds between; a content that is replaced and put back by someone who read it
before, since it has the version that it had; and a put that a proxy repeats while others make
more than sixty.
"""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from rag_assets.model import (
    ConfigurationError,
    DamagedFileError,
    LockedError,
    StorageError,
    hash_bytes,
)
from rag_assets.storage.bucket import StoredObject, _Whatever
from rag_assets.storage.s3_content import CHUNK_BYTES, Content, write_hashed
from rag_assets.storage.s3_server import (
    TRIES,
    Server,
    Stored,
    read_stored,
    version_of,
    write_stored,
)
from rag_assets.storage.s3_trouble import (
    client_errors,
    code_of,
    explained_answers,
    is_absence,
    is_passing,
    status_of,
)
from rag_assets.storage.s3_uploads import PART_BYTES, upload_in_parts
from rag_assets.storage.store import Value

# What S3 takes in one request; and only such a request can be conditional everywhere.
MOST_PUT_BYTES: Final = 5 * 1024**3
# The write before the first one.
_NOTHING: Final = "-"
# Objects whose writes are remembered, so that a put need not ask for them; some 300 bytes each.
_MOST_REMEMBERED: Final = 4096
# An object that is never listed, to see whether the server heeds conditions.
PROBE: Final = ".conditions"

# As an entity tag is written; no content has it.
_NO_VERSION: Final = f'"{"0" * 32}"'

_proven: set[tuple[str, str]] = set()
_proving = threading.Lock()


def open_bucket(url: str) -> "S3Bucket":
    """Return the objects below `s3://bucket/prefix`. Nothing is asked of the server yet.

    Where it is, its region and its keys come from the environment, or from the files that AWS's
    own tools read: AWS_ENDPOINT_URL_S3, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY, AWS_PROFILE and so on. The first one takes a third of a second.

    Raises:
        ConfigurationError: the URL is no such one, or boto3 is not installed.
    """
    parts = urlsplit(url)
    prefix = parts.path.strip("/")
    is_plain = not set(parts.netloc) & set("@:") and not (parts.query or parts.fragment)
    if parts.scheme != "s3" or not parts.netloc or not is_plain or "//" in prefix:
        raise ConfigurationError(
            f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}: a place for objects "
            "is written s3://bucket/prefix; the server and its keys are set by "
            "AWS_ENDPOINT_URL_S3, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    return S3Bucket(parts.netloc, prefix)


class S3Bucket:
    """A `Bucket` below a prefix of a bucket of S3. Threads may share it, pickles open it again.

    Args:
        prefix: without `/` at its ends; empty for the whole bucket.
        wait: called with the seconds between two tries.
    """

    def __init__(
        self, bucket: str, prefix: str, wait: Callable[[float], object] = time.sleep
    ) -> None:
        self._server = Server(bucket, f"{prefix}/" if prefix else "", wait)
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Stored] = OrderedDict()
        self._is_there = False

    def __reduce__(self) -> tuple[Callable[[str], "S3Bucket"], tuple[str]]:
        """Let another process open it, with connections of its own."""
        return open_bucket, (self.describe(""),)

    def describe(self, key: str) -> str:
        """Return how a person calls an object: `s3://bucket/prefix/key`."""
        return self._server.describe(key)

    def get(self, key: str) -> Value | None:
        """Return a small object, None where there is none."""

        def ask() -> Value | None:
            answer = self._content(key)
            if answer is None:
                return None
            data = answer["Body"].read()
            return Value(data, self._verified(key, answer, hash_bytes(data)))

        return self._server.attempt(key, ask)

    def find(self, key: str) -> StoredObject | None:
        """Return what the server knows of an object, without its content."""
        answer = self._head(key)
        return None if answer is None else _listed(key, answer, answer["ContentLength"])

    def download(self, key: str, target: Path, known: str | None = None) -> str | None:
        """Write an object's content to a file of this machine, unless it is known already.

        Raises:
            DamagedFileError: what came was not what had been put, each time.
            StorageError: the server refuses it or breaks off, or the disk of this machine does.
        """
        condition = {} if known is None else {"IfNoneMatch": f'"{known}"'}

        def ask() -> str | None:
            try:
                answer = self._content(key, **condition)
            except client_errors() as error:
                if status_of(error) == 304:
                    return known
                raise
            if answer is None:
                return None
            sha256 = write_hashed(answer["Body"].iter_chunks(CHUNK_BYTES), target)
            return self._verified(key, answer, sha256)

        return self._server.attempt(key, ask)

    def put(self, key: str, data: bytes | Path, expected: str | _Whatever | None) -> str | None:
        """Store an object if its key has what the caller believes, in one step at the server.

        Raises:
            StorageError: the server does not take it. Where it may have taken it all the same, the
                text says so.
        """
        content = Content.of(data)
        if isinstance(expected, _Whatever):
            return self._put_whatever(key, content)
        if content.size > MOST_PUT_BYTES:
            raise StorageError(
                f"{self.describe(key)}: {content.size / 1e9:.1f} GB are too much. An object server "
                "takes 5 GiB in one request, and only one request can replace safely what another "
                "may replace too. Set a greater `hex_digits`, which makes smaller records."
            )
        self._require_conditions()
        before = self._writes_before(key, expected)
        return None if before is None else self._put(key, content, expected, before)

    def copy(self, source: str, key: str) -> bool:
        """Have an object under another key too, whatever that has, without sending it.

        Returns:
            False where there is no such object, or one of more than 5 GiB.
        """

        def ask() -> bool:
            try:
                self._server.copy(source, key)
            except client_errors() as error:
                if is_absence(error) or code_of(error) == "InvalidRequest":  # too large
                    return False
                raise
            return True

        return self._server.attempt(key, ask)

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects whose keys begin so, sorted, as far as the server knows at once.

        All are asked for first, a thousand a request: not every server sorts them as S3 does.
        """
        found, token = dict[str, Any](), None
        while True:
            ask = partial(self._server.page, prefix, token)
            page, following = self._server.attempt(prefix, ask)
            found |= page
            if following is None:
                break
            if following == token:
                raise StorageError(
                    f"{self.describe(prefix)}: the server repeats one page of its listing. Try "
                    "again; if it stays, renew the server."
                )
            token = following
        for key, entry in sorted(found.items()):
            # A console makes objects with / at the end, to show a folder.
            if key != PROBE and not key.endswith("/"):
                yield _listed(key, entry, entry["Size"])

    def delete(self, key: str) -> None:
        """Take an object away; one that is not there is no error."""
        self._server.attempt(key, lambda: self._answer("delete_object", key))
        with self._lock:
            self._known.pop(key, None)

    def _answer(self, operation: str, key: str, **options: Any) -> Any:
        """Return what the server answers about an object, None where there is none."""
        try:
            return self._server.ask(operation, key, **options)
        except client_errors() as error:
            if is_absence(error):
                return None
            raise

    def _content(self, key: str, **condition: str) -> Any:
        return self._answer("get_object", key, **condition)

    def _head(self, key: str) -> Any:
        def ask() -> Any:
            answer = self._answer("head_object", key)
            if answer is not None:
                self._remember(key, read_stored(answer))
            elif not self._is_there:
                # 404 alone does not say whether it is the bucket that is missing; a listing does.
                self._server.page(key, None)
                self._is_there = True
            return answer

        return self._server.attempt(key, ask)

    def _verified(self, key: str, answer: Any, sha256: str) -> str:
        stored = read_stored(answer)
        if stored.sha256 not in {None, sha256}:
            raise DamagedFileError(
                f"{self.describe(key)}: what came is not what had been stored (its SHA-256). Run "
                "the command again; if it stays, delete the object: what it holds is made anew."
            )
        return self._remember(key, stored)

    def _remember(self, key: str, stored: Stored) -> str:
        with self._lock:
            self._known[key] = stored
            self._known.move_to_end(key)
            if len(self._known) > _MOST_REMEMBERED:
                self._known.popitem(last=False)
        return stored.version

    def _writes_before(self, key: str, expected: str | None) -> tuple[str, ...] | None:
        """Return the writes that led to what is to be replaced; None where it is there no more."""
        if expected is None:
            return (_NOTHING,)
        with self._lock:
            stored = self._known.get(key)
        if stored is None or stored.version != expected:
            answer = self._head(key)
            stored = None if answer is None else read_stored(answer)
        return stored.writes if stored and stored.version == expected else None

    def _put(
        self, key: str, content: Content, expected: str | None, before: tuple[str, ...]
    ) -> str | None:
        condition = {"IfNoneMatch": "*"} if expected is None else {"IfMatch": f'"{expected}"'}
        mine, is_unsure, tries = secrets.token_hex(6), False, 0
        with explained_answers(self.describe(key), self._server.endpoint, TRIES):
            while True:
                self._server.rest(tries)
                try:
                    return self._send(key, content, (mine, *before), **condition)
                except client_errors() as error:
                    tries += 1
                    if status_of(error) == 412 or is_absence(error):
                        # Refused because of another's put, or of our own: an earlier try, or one
                        # that a proxy has repeated.
                        return self._fate(key, content, mine, before, is_unsure)
                    if not is_passing(error):
                        raise
                    # A conflict says that it was not applied.
                    is_unsure = is_unsure or status_of(error) != 409
                    if tries == TRIES and is_unsure:
                        return self._fate(key, content, mine, before, is_unsure, error)
                    if tries == TRIES:
                        raise LockedError(
                            f"{self.describe(key)}: others were writing it each of {TRIES} times "
                            f"({code_of(error)}). Try again when they have ended."
                        ) from error

    def _send(self, key: str, content: Content, writes: tuple[str, ...], **condition: str) -> str:
        metadata = write_stored(content, writes)
        with content.opened() as body:
            answer = self._server.ask(
                "put_object", key, Body=body, ContentMD5=content.content_md5, Metadata=metadata,
                **condition,
            )  # fmt: skip
        return self._remember(key, read_stored({"ETag": answer["ETag"], "Metadata": metadata}))

    def _fate(
        self, key: str, content: Content, mine: str, before: tuple[str, ...], is_unsure: bool,
        trouble: Exception | None = None,
    ) -> str | None:  # fmt: skip
        """Return what became of a put: its version where it was applied, None where it lost.

        Args:
            is_unsure: an earlier try may have been applied.
            trouble: what the last try met, where it was not refused.
        """
        answer = self._head(key)
        stored = None if answer is None else read_stored(answer)
        writes = stored.writes if stored else (_NOTHING,)
        if stored and mine in writes:
            # Where another has replaced it since: as S3 computes the version of a content.
            return stored.version if writes[0] == mine else content.md5
        if trouble is not None and writes[0] == before[0]:
            raise trouble
        if not is_unsure or (stored and before[0] in writes):
            return None
        raise StorageError(
            f"{self.describe(key)}: the server's answer was lost, and what is there now does not "
            "tell whether the object had been stored before it was replaced or deleted. Run the "
            "command again: it begins from what is there."
        )

    def _put_whatever(self, key: str, content: Content) -> str:
        writes = (secrets.token_hex(6),)
        if content.size <= PART_BYTES:
            return self._server.attempt(key, lambda: self._send(key, content, writes))
        stored = upload_in_parts(self._server, key, content, write_stored(content, writes))
        return self._remember(key, stored)

    def _require_conditions(self) -> None:
        """Refuse a server that stores an object whatever the condition says; once a process."""
        place = (self._server.endpoint, self.describe(""))
        with _proving:
            if place in _proven:
                return
            first = {"IfNoneMatch": "*"}
            is_heeded = not self._probe(first) or not self._probe(first)
            if not is_heeded or self._probe({"IfMatch": _NO_VERSION}):
                raise StorageError(
                    f"{self.describe('')}: {self._server.endpoint} stores objects whatever their "
                    "condition (If-None-Match, If-Match) says, so that two writers would "
                    "overwrite each other. Renew the server to a release with conditional writes, "
                    "or use another one."
                )
            _proven.add(place)

    def _probe(self, condition: dict[str, str]) -> bool:
        """Return whether an object is stored under that condition."""

        def ask() -> bool:
            try:
                return self._answer("put_object", PROBE, Body=b"", **condition) is not None
            except client_errors() as error:
                if status_of(error) in {409, 412}:
                    return False
                raise

        return self._server.attempt(PROBE, ask)


def _listed(key: str, answer: Any, size: int) -> StoredObject:
    return StoredObject(key, size, answer["LastModified"].timestamp(), version_of(answer))
