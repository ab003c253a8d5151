"""Requests to an S3 server: each with its time, tried again as often as it may be."""

import os
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

from rag_assets.model import ConfigurationError, DamagedFileError, hide_credentials
from rag_assets.storage.s3_content import Content
from rag_assets.storage.s3_trouble import explained_answers, is_passing

# Tries of one request in all, and the first wait between two; it doubles, and is drawn at random
# below that (Brooker, "Exponential Backoff and Jitter", 2015): 3 s together at most.
TRIES: Final = 5
_FIRST_WAIT_SECONDS: Final = 0.2
# For a connection, and of silence on one; botocore's own are 60 s each.
_CONNECT_SECONDS: Final = 10.0
_READ_SECONDS: Final = 60.0
# Threads of one process that ask at once; botocore's own is 10.
_CONNECTIONS: Final = 32
# Under these names an object's metadata hold the puts that led to it, newest first, and the
# SHA-256 of its content.
_WRITES, _SHA256 = "rag-writes", "rag-sha256"
# S3 keeps 2 KB of metadata; each takes 13 bytes.
_MOST_WRITES: Final = 64

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Stored:
    """What the metadata of an object say. An object that others made has neither.

    Args:
        writes: the ids of the puts that led to it, newest first; where others made it, its version.
        sha256: of its content.
    """

    version: str
    writes: tuple[str, ...]
    sha256: str | None


class Server:
    """A prefix of a bucket, and the client that asks for its objects. Threads may share it.

    Args:
        prefix: empty, or with a `/` at its end.
        wait: called with the seconds between two tries.
    """

    def __init__(self, bucket: str, prefix: str, wait: Callable[[float], object]) -> None:
        self._bucket, self._prefix, self._wait = bucket, prefix, wait
        self._client, self._process = _connect(), os.getpid()
        self._lock = threading.Lock()
        self.endpoint = str(self._client.meta.endpoint_url)

    def describe(self, key: str) -> str:
        """Return how a person calls an object."""
        return f"s3://{self._bucket}/{self._prefix}{key}"

    def ask(self, operation: str, key: str, **options: Any) -> Any:
        """Return what one request about an object answers, as boto3 gives and raises it.

        Raises:
            ValueError: this cannot be a key.
        """
        if any(part in {"", ".", ".."} for part in key.split("/")):
            raise ValueError(f"{key!r} cannot be a key: parts with / between, none empty, . or ..")
        whole = self._prefix + key
        return getattr(self._connected(), operation)(Bucket=self._bucket, Key=whole, **options)

    def copy(self, source: str, key: str) -> None:
        """Let the server copy an object with its metadata, as boto3 raises what hinders it."""
        named = {"Bucket": self._bucket, "Key": self._prefix + source}
        self.ask("copy_object", key, CopySource=named)

    def page(self, prefix: str, token: str | None) -> tuple[dict[str, Any], str | None]:
        """Return the entries of a page of a listing by key, and the token of the next page."""
        more = {"ContinuationToken": token} if token else {}
        answer = self._connected().list_objects_v2(
            Bucket=self._bucket, Prefix=self._prefix + prefix, **more
        )
        found = {
            each["Key"].removeprefix(self._prefix): each for each in answer.get("Contents", ())
        }
        return found, answer.get("NextContinuationToken") if answer.get("IsTruncated") else None

    def rest(self, tries: int) -> None:
        """Wait after so many tries of a request, a random time that grows with them."""
        if tries:
            self._wait(random.uniform(0, _FIRST_WAIT_SECONDS * 2 ** (tries - 1)))  # noqa: S311

    def attempt(self, key: str, ask: Callable[[], Answer]) -> Answer:
        """Return what a request answers that may be repeated without harm.

        Raises:
            StorageError: it is refused, or fails each time.
        """
        tries = 0
        with explained_answers(self.describe(key), self.endpoint, TRIES):
            while True:
                self.rest(tries)
                try:
                    return ask()
                except Exception as error:
                    tries += 1
                    is_damaged = isinstance(error, DamagedFileError)
                    if tries == TRIES or not (is_damaged or is_passing(error)):
                        raise

    def _connected(self) -> Any:
        with self._lock:
            if self._process != os.getpid():  # a fork must not share its parent's connections
                self._client, self._process = _connect(), os.getpid()
            return self._client


def read_stored(answer: Mapping[str, Any]) -> Stored:
    """Return what the metadata say in an answer about an object."""
    version = version_of(answer)
    found = {name.lower(): text for name, text in answer.get("Metadata", {}).items()}
    writes = tuple(found.get(_WRITES, version).split())
    return Stored(version, writes, found.get(_SHA256))


def write_stored(content: Content, writes: tuple[str, ...]) -> dict[str, str]:
    """Return the metadata of an object that is put. What it began with is kept always: only that
    can be the put of somebody who thought that there was none.
    """
    kept = writes if len(writes) <= _MOST_WRITES else (*writes[: _MOST_WRITES - 2], *writes[-2:])
    return {_WRITES: " ".join(kept), _SHA256: content.sha256}


def version_of(answer: Mapping[str, Any]) -> str:
    """Return the entity tag, without the quotes that not every server writes around it."""
    return str(answer["ETag"]).strip('"')


def _connect() -> Any:
    try:
        import boto3
        import botocore.session
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError as error:
        if error.name not in {"boto3", "botocore"}:
            raise
        raise ConfigurationError(
            "A store at s3:// needs an extra: run `pip install 'rag-assets[s3]'`."
        ) from error
    settings = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        max_pool_connections=_CONNECTIONS,
        tcp_keepalive=True,
        # A try that the client repeated by itself would be refused because of the first.
        retries={"total_max_attempts": 1, "mode": "standard"},
        # Checksums of AWS's own kind, which other servers refuse or do not know: Content-MD5 and
        # the SHA-256 in the metadata take their place.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    try:
        session = botocore.session.Session()
        session.register_component("data_loader", _descriptions())
        return boto3.session.Session(botocore_session=session).client("s3", config=settings)
    except (BotoCoreError, ValueError) as error:
        raise ConfigurationError(
            f"No client for an object server: {hide_credentials(str(error)).rstrip('.')}. Correct "
            "AWS_ENDPOINT_URL_S3, AWS_PROFILE and AWS_DEFAULT_REGION."
        ) from error


@cache
def _descriptions() -> Any:
    """Return what botocore reads of AWS's services, which makes a client 0.1 s faster again."""
    from botocore.loaders import create_loader

    return create_loader()
