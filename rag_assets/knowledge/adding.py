"""Add content to raw/ with a sidecar that says where it is from; change nothing there."""

import mimetypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import yaml
from pydantic import ValidationError

from rag_assets.model import (
    ServiceError,
    UsageError,
    first_fault,
    hash_bytes,
    hide_credentials,
    hide_in,
)
from rag_assets.storage import explained_errors, hold_lock, sync_path, temporary_name
from rag_assets.workspace import SIDECAR_SUFFIX as SUFFIX
from rag_assets.workspace import Namespace, Sidecar, slug
from rag_assets.workspace.bounded_yaml import YamlError, parse_yaml

_SCHEMES = frozenset({"http", "https"})
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Fetched:
    """Bytes with a name for their file, and what is known of where they came from."""

    data: bytes
    name: str
    info: dict[str, Any]


def is_web_address(uri: str) -> bool:
    """Say whether a URI is read over HTTP."""
    return uri.partition(":")[0].strip().lower() in _SCHEMES


def read_uri(
    uri: str, *, max_megabytes: int, max_seconds: float, allow_private: bool = False
) -> Fetched:
    """Return what a path or an http(s) address holds; nothing secret of an address is kept.

    Args:
        max_megabytes: a larger one is refused (1 MB is 1,000,000 bytes).
        max_seconds: of wall time for the whole download.
        allow_private: also addresses of this machine and of private networks, named by the user
            or by a redirect.

    Raises:
        UsageError: there is no such file, another scheme, too large, a private address.
        ServiceError: the address does not answer, refuses, or takes too long.
    """
    if is_web_address(uri):
        return _download(uri, max_megabytes, max_seconds, allow_private)
    scheme, mark, _ = uri.partition("://")
    if mark and len(scheme) > 1:
        shown = hide_credentials(uri)
        raise UsageError(f"{shown}: '{scheme}' cannot be read; give a path, or http(s).")
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


def _download(url: str, max_megabytes: int, max_seconds: float, allow_private: bool) -> Fetched:
    from rag_assets.llm.services import (
        DownloadError,
        Limits,
        PrivateAddressError,
        TooLargeError,
        TooSlowError,
        download,
    )

    shown = hide_credentials(url)
    limits = Limits(max_megabytes * _MEGABYTE, max_seconds, allow_private)
    # `from None`: whoever stores an error stores what it came from.
    try:
        answer = download(url, limits)
    except TooLargeError:
        raise _too_large(shown, max_megabytes) from None
    except TooSlowError as error:
        raise ServiceError(
            f"{shown}: {error} (parse.seconds_per_document). Save it and give the file."
        ) from None
    except PrivateAddressError as error:
        raise UsageError(
            f"{shown} is not read: {error}. Set `download.private_addresses: true` in the "
            "namespace's file where that is meant, or save the page and give the file."
        ) from None
    except DownloadError as error:
        raise ServiceError(
            f"{shown} cannot be read ({error}). Look whether the address and the network are "
            "right, or save the page and give the file."
        ) from None
    if not answer.is_success:
        raise ServiceError(
            f"{shown}: HTTP {answer.status}. Open the address in a browser, or save the page and "
            "give the file."
        )
    media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    info = {
        "kind": "http",
        "url": shown,
        "final_url": answer.url,
        "status": answer.status,
        "content_type": media_type,
        "etag": answer.headers.get("etag", ""),
        "last_modified": answer.headers.get("last-modified", ""),
        "bytes": len(answer.data),
        "fetched_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return Fetched(answer.data, name_of_address(answer.url, media_type), info)


def name_of_address(url: str, media_type: str = "") -> str:
    """Return a file name for an address; its extension says what was sent, where that is known."""
    plain = hide_credentials(url).partition("#")[0].partition("?")[0]
    host, _, written = plain.partition("://")[2].partition("/")
    path = PurePosixPath(unquote(written))
    stem = path.stem or host.rpartition(":")[0] or host or "page"
    known = mimetypes.guess_extension(media_type) if media_type else None
    guessed = mimetypes.guess_type(path.name)[0]
    suffix = path.suffix if guessed == media_type or not known else known
    return f"{stem}{suffix}"


def _too_large(what: str, max_megabytes: int) -> UsageError:
    return UsageError(
        f"{what} is larger than {max_megabytes} MB (parse.max_megabytes). Raise the limit in the "
        "namespace's file, or give a smaller one."
    )


# Below a namespace's first raw folder; what lies below `evidence` is citable by default.
INGESTED = "evidence/ingested"
_HASH_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Added:
    """Where content lies. `is_new` is False where the same bytes lay there already."""

    path: Path
    content_hash: str
    is_new: bool


def add_content(
    namespace: Namespace, data: bytes, name: str, uri: str, metadata: Mapping[str, Any]
) -> Added:
    """Add a file and its sidecar below `raw/…/evidence/ingested/`; the same bytes only once.

    Args:
        name: what the file should be called; its stem becomes the document's uid where it is free.
        uri: where the content is from, kept in the sidecar.
        metadata: fields of a sidecar by their names; everything else goes below its `metadata`.

    Raises:
        UsageError: a field has a value that its rule refuses.
        StorageError: the disk is full or refuses the write.
    """
    sidecar = sidecar_of(uri, metadata)
    folder = namespace.roots[0] / INGESTED
    content_hash = hash_bytes(data)
    lock = namespace.workspace.locks / f"{namespace.name}.ingested.lock"
    with hold_lock(lock, f"{folder}", lambda _: None), explained_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if (found := _same_bytes(folder, data)) is not None:
            return Added(found, content_hash, is_new=False)
        path = _free_path(folder, name, content_hash)
        # The sidecar first: a look at raw/ between the two must not see a file without it.
        add_file(path.with_name(path.name + SUFFIX), sidecar.encode())
        add_file(path, data)
    return Added(path, content_hash, is_new=True)


def sidecar_of(uri: str, metadata: Mapping[str, Any]) -> str:
    """Return the text of the sidecar of what is added; UsageError as in `add_content`."""
    known = Sidecar.model_fields
    fields = {key: value for key, value in metadata.items() if key in known}
    more = {key: value for key, value in metadata.items() if key not in known}
    values = {"source_uri": uri, **fields}
    if more:
        own = fields.get("metadata", {})
        if not isinstance(own, Mapping):
            raise UsageError(f"metadata: 'metadata': must be a mapping, got {own!r}.")
        values["metadata"] = {**more, **own}
    plain = {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}
    # The password of a protected file is needed again, what is secret in an address is not.
    plain |= {key: hide_in(plain[key]) for key in plain.keys() - {"password"}}
    try:
        Sidecar.model_validate(
            {k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()}
        )
        written = yaml.safe_dump(plain, allow_unicode=True, sort_keys=False)
        parse_yaml(written, "metadata")  # what is written must be readable
    except ValidationError as error:
        key, said, value = first_fault(error)
        raise UsageError(f"metadata: '{key}': {said}, got {value!r}.") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"metadata holds what YAML cannot write: {error}") from error
    except YamlError as error:
        raise UsageError(f"metadata holds what no sidecar may: {error.problem}.") from error
    return written


def _same_bytes(folder: Path, data: bytes) -> Path | None:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if (
            entry.is_file(follow_symlinks=False)
            and not entry.name.endswith(SUFFIX)
            and entry.stat().st_size == len(data)
            and Path(entry.path).read_bytes() == data
        ):
            return Path(entry.path)
    return None


def _free_path(folder: Path, name: str, content_hash: str) -> Path:
    given = Path(name)
    stem = slug(name)
    suffix = given.suffix.lower() or ".txt"
    plain = folder / f"{stem}{suffix}"
    if not plain.exists() and not plain.with_name(plain.name + SUFFIX).exists():
        return plain
    return folder / f"{stem}-{content_hash[:_HASH_CHARACTERS]}{suffix}"


def add_file(path: Path, data: bytes) -> None:
    """Write a new file whole, and never over another.

    Raises:
        UsageError: there is one.
    """
    temporary = path.with_name(temporary_name())
    try:
        with temporary.open("xb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        # Unlike a rename, a link fails where something lies already.
        os.link(temporary, path)
        sync_path(path.parent)
    except FileExistsError as error:
        raise UsageError(
            f"{path} exists with other content, and files in raw/ are never changed. Give the "
            "source another name."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
