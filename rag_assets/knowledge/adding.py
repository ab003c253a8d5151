"""Add content to raw/ with a sidecar that says where it is from; change nothing there."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from rag_assets.model import UsageError, hash_bytes, hide_in
from rag_assets.storage import explained_errors, hold_lock, sync_path, temporary_name
from rag_assets.workspace import SIDECAR_SUFFIX as SUFFIX
from rag_assets.workspace import Namespace, Sidecar, slug
from rag_assets.workspace.bounded_yaml import YamlError, parse_yaml

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
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"metadata: '{key}': {first['msg']}, got {first['input']!r}.") from error
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
