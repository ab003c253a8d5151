"""What a source's URI leads to: a file on this machine, or a page behind HTTP."""

import mimetypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from rag_assets.model import ServiceError, UsageError

_SCHEMES = frozenset({"http", "https"})
_PIECE_BYTES = 1 << 16
_MEGABYTE = 1_000_000
# Seconds without a byte from the other side after which it is given up.
_SILENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """Bytes with a name for their file, and what is known of where they came from."""

    data: bytes
    name: str
    info: dict[str, Any]


def is_web_address(uri: str) -> bool:
    """Say whether a URI is read over HTTP."""
    return urlsplit(uri).scheme.lower() in _SCHEMES


def read_uri(uri: str, *, max_megabytes: int, max_seconds: float) -> Fetched:
    """Return what a path or an http(s) address holds.

    Args:
        max_megabytes: a larger one is refused (1 MB is 1,000,000 bytes).
        max_seconds: of wall time for the whole download.

    Raises:
        UsageError: there is no such file, another scheme, too large.
        ServiceError: the address does not answer, refuses, or takes too long.
    """
    if is_web_address(uri):
        return _download(uri, max_megabytes, max_seconds)
    scheme = urlsplit(uri).scheme
    if len(scheme) > 1 and "://" in uri:
        raise UsageError(f"{uri}: '{scheme}' cannot be read; give a path, or http(s).")
    return _read_file(Path(uri).expanduser(), max_megabytes)


def _read_file(path: Path, max_megabytes: int) -> Fetched:
    try:
        status = path.stat()
        if status.st_size > max_megabytes * _MEGABYTE:
            raise _too_large(str(path), max_megabytes)
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): name a file.") from error
    modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    info = {"kind": "file", "name": path.name, "bytes": len(data), "modified_at": modified}
    return Fetched(data, path.name, info)


def _download(
    url: str,
    max_megabytes: int,
    max_seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> Fetched:
    import requests
    from urllib3.exceptions import HTTPError

    until = clock() + max_seconds
    pieces: list[bytes] = []
    size = 0
    try:
        with requests.get(url, stream=True, timeout=min(_SILENCE_SECONDS, max_seconds)) as answer:
            if not answer.ok:
                raise ServiceError(
                    f"{url}: HTTP {answer.status_code}. Open the address in a browser, or save "
                    "the page and give the file."
                )
            # What has come so far, however little: a slow sender must not outlast the limit.
            while piece := answer.raw.read1(_PIECE_BYTES, decode_content=True):
                pieces.append(piece)
                size += len(piece)
                if size > max_megabytes * _MEGABYTE:
                    raise _too_large(url, max_megabytes)
                if clock() > until:
                    raise ServiceError(
                        f"{url}: not done after {max_seconds:g} seconds "
                        "(parse.seconds_per_document). Save it and give the file."
                    )
    except (requests.RequestException, HTTPError) as error:
        raise ServiceError(
            f"{url} cannot be read ({error}). Look whether the address and the network are "
            "right, or save the page and give the file."
        ) from error
    media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    info = {
        "kind": "http",
        "url": url,
        "final_url": answer.url,
        "status": answer.status_code,
        "content_type": media_type,
        "etag": answer.headers.get("ETag", ""),
        "last_modified": answer.headers.get("Last-Modified", ""),
        "bytes": size,
        "fetched_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return Fetched(b"".join(pieces), _name_of(answer.url, media_type), info)


def _name_of(url: str, media_type: str) -> str:
    """Return a file name for an address; its extension says what was sent."""
    parts = urlsplit(url)
    path = PurePosixPath(unquote(parts.path))
    stem = path.stem or (parts.hostname or "page")
    known = mimetypes.guess_extension(media_type) if media_type else None
    guessed = mimetypes.guess_type(path.name)[0]
    suffix = path.suffix if guessed == media_type or not known else known
    return f"{stem}{suffix}"


def _too_large(what: str, max_megabytes: int) -> UsageError:
    return UsageError(
        f"{what} is larger than {max_megabytes} MB (parse.max_megabytes). Raise the limit in the "
        "namespace's file, or give a smaller one."
    )
