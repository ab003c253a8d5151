"""Publications: immutable folders, and one pointer that is swapped.

::

    index/<namespace>/current.json            which publication readers see, and those before it
    index/<namespace>/<publication>/          chunks.lance, catalogue-….duckdb, manifest.json
    index/<namespace>/<publication>.pin       kept until this file is removed

A workspace with a `store` has a copy of them there, for readers elsewhere (object_store.py).
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rag_assets.model import DamagedFileError, PublicationError
from rag_assets.storage.files import (
    TEMPORARY_PREFIX,
    explained_errors,
    remove_folder,
    sync_path,
    temporary_name,
    trouble_of_machine,
    write_text,
)
from rag_assets.storage.store import LocalStore, put, update

POINTER = "current.json"
MANIFEST = "manifest.json"
# As `temporary_name` makes them: the process, four random bytes, the suffix of the target.
_TEMPORARY_NAME = re.compile(rf"{re.escape(TEMPORARY_PREFIX)}(\d+)-[0-9a-f]{{8}}(\.\w+)?")


@dataclass(frozen=True, slots=True)
class Published:
    """One entry of the pointer's history. Times are seconds since the epoch; provenance."""

    publication: str
    published_at: float
    superseded_at: float | None = None


@dataclass(frozen=True, slots=True)
class Pointer:
    """What readers see now (the first entry), and what they saw before it.

    `built_from` holds the digests of the inventory and the configuration that were built last;
    the sensors compare with them.
    """

    history: tuple[Published, ...]
    built_from: Mapping[str, str] = field(default_factory=dict)

    @property
    def current(self) -> str:
        """Name of the publication that readers see."""
        return self.history[0].publication


def read_pointer(folder: Path) -> Pointer | None:
    """Return the pointer of a namespace's `index/` folder, None before the first publication.

    Raises:
        DamagedFileError: the pointer is not what was written.
        StorageError: the machine cannot read it now.
    """
    return restore_pointer(folder, _stored_pointer(folder))


def _stored_pointer(folder: Path) -> bytes | None:
    try:
        found = LocalStore(folder).get(POINTER)
    except IsADirectoryError as error:
        raise _damaged(folder, error) from error
    return None if found is None else found.data


def restore_pointer(folder: Path, stored: bytes | None) -> Pointer | None:
    """Return the pointer that a namespace's `index/` folder has stored, or is to store."""
    if stored is None:
        return None
    try:
        loaded = json.loads(stored.decode("utf-8"))
        history = tuple(Published(**entry) for entry in loaded["history"])
        history[0]  # a pointer names at least what readers see
    except (MemoryError, ValueError, LookupError, TypeError) as error:
        raise trouble_of_machine(error, folder / POINTER) or _damaged(folder, error) from error
    return Pointer(history, loaded.get("built_from", {}))


def _damaged(folder: Path, problem: object) -> DamagedFileError:
    return DamagedFileError(
        f"{folder / POINTER}: the pointer is damaged ({problem}). Run `rag ingest`: it is rebuilt "
        "from the existing publications."
    )


def mend_pointer(folder: Path) -> str | None:
    """Make a damaged pointer anew from the publications that stand there, newest first.

    Call with the publishing lock held, before publishing: only that says which one is current.

    Returns:
        What was mended, for the log; None where the pointer was whole or there was none.
    """
    try:
        read_pointer(folder)
    except DamagedFileError as error:
        damage = error.__cause__ or error
    else:
        return None
    found = sorted(
        ((read_manifest(folder / name)["created_at"], name) for name in list_publications(folder)),
        reverse=True,
    )
    superseded = [None, *(created for created, _ in found)]
    history = [
        asdict(Published(name, created, at))
        for (created, name), at in zip(found, superseded, strict=False)
    ]
    store = LocalStore(folder)
    if history:
        put(store, POINTER, _as_bytes(history, {}))
    else:
        store.delete(POINTER)
    return (
        f"{folder / POINTER}: the pointer was damaged ({damage}) and was rebuilt from "
        f"{len(history)} publications."
    )


def current_folder(folder: Path, namespace: str) -> Path:
    """Resolve the pointer once: the folder of the publication that readers see now.

    Raises:
        PublicationError: nothing is published yet.
        DamagedFileError: the pointer names a publication that is not there.
    """
    pointer = read_pointer(folder)
    if pointer is None:
        raise PublicationError(
            f"namespace '{namespace}' has no publication yet. `rag ingest --namespace "
            f"{namespace}` makes one."
        )
    found = folder / pointer.current
    if not is_complete(folder, pointer.current):
        raise DamagedFileError(
            f"{found}: the current publication is gone. Run `rag ingest --namespace {namespace}`: "
            "it is built again from the records."
        )
    return found


def read_manifest(publication: Path) -> dict[str, Any]:
    """Return the manifest of a publication folder.

    Raises:
        DamagedFileError: the manifest is not what was written.
        StorageError: the machine cannot read it now.
        FileNotFoundError: no publication stands there.
    """
    try:
        loaded = json.loads((publication / MANIFEST).read_text(encoding="utf-8"))
        loaded["publication"], loaded["created_at"]
    except FileNotFoundError:
        raise
    except (OSError, MemoryError, ValueError, KeyError, TypeError) as error:
        raise trouble_of_machine(error, publication / MANIFEST) or DamagedFileError(
            f"{publication / MANIFEST}: the manifest is damaged ({error}). Delete the folder "
            f"{publication.name} and run `rag ingest`: it is built again from the records."
        ) from error
    manifest: dict[str, Any] = loaded
    return manifest


def is_complete(folder: Path, publication: str) -> bool:
    """Say whether a publication of that name is there whole."""
    return (folder / publication / MANIFEST).is_file()


def list_publications(folder: Path) -> list[str]:
    """Return the names of the publications that stand there whole, sorted."""
    return sorted(path.parent.name for path in folder.glob(f"[!.]*/{MANIFEST}"))


def is_pinned(folder: Path, publication: str) -> bool:
    """Say whether a publication is kept until its pin is removed."""
    return (folder / f"{publication}.pin").exists()


def write_manifest(publication: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest into the folder of a publication that is being built, as its last file."""
    write_text(publication / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False))


def build_folder(folder: Path, publication: str, build: Callable[[Path], None]) -> None:
    """Build a publication beside its place and rename it in, whole or not at all.

    Args:
        build: writes everything, the manifest last, into the folder it is given; raises where
            its own checks fail, and then nothing is installed.
    """
    with explained_errors(folder / publication):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / temporary_name()
        temporary.mkdir()
        try:
            build(temporary)
            for path in temporary.rglob("*"):
                sync_path(path)
            if (folder / publication).exists():  # incomplete: a complete one is not built again
                remove_folder(folder / publication)
            temporary.rename(folder / publication)
            sync_path(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def point_at(folder: Path, publication: str, built_from: Mapping[str, str]) -> bool:
    """Let readers see a publication from now on. Returns False where they already did.

    What another writer has pointed at meanwhile stays in the history.

    Args:
        built_from: digests to remember beside those that are remembered already.
    """
    is_new = False

    def swap(stored: bytes | None) -> bytes:
        nonlocal is_new
        pointer = restore_pointer(folder, stored)
        now = time.time()
        before = list(pointer.history) if pointer else []
        remembered = {**(pointer.built_from if pointer else {}), **built_from}
        is_new = not before or before[0].publication != publication
        if stored and not is_new and pointer and remembered == dict(pointer.built_from):
            return stored
        if is_new and before:
            before[0] = Published(before[0].publication, before[0].published_at, now)
        rest = [entry for entry in before if entry.publication != publication]
        head = Published(publication, now) if is_new else before[0]
        return _as_bytes([asdict(entry) for entry in (head, *rest)], remembered)

    update(LocalStore(folder), POINTER, swap)
    return is_new


def _as_bytes(history: Sequence[Mapping[str, object]], built_from: Mapping[str, str]) -> bytes:
    return json.dumps({"history": history, "built_from": built_from}, indent=1).encode()


def retire_publications(folder: Path, keep: int, keep_hours: float) -> tuple[str, ...]:
    """Remove publications that nobody needs: not of the last `keep`, not pinned, and superseded
    for longer than `keep_hours`. Call with the publishing lock held.

    Returns:
        The names of the publications that went.
    """
    pointer = read_pointer(folder)
    if pointer is None:
        return ()
    limit = time.time() - keep_hours * 3600
    recent = {entry.publication for entry in pointer.history[:keep]}
    young = {
        entry.publication
        for entry in pointer.history
        if entry.superseded_at is None or entry.superseded_at > limit
    }
    gone = []
    doomed = [e.publication for e in pointer.history if e.publication not in recent | young]
    for name in doomed:
        if (folder / name).exists() and not is_pinned(folder, name):
            remove_folder(folder / name)
            gone.append(name)
    return tuple(gone)


def remove_unfinished(
    folder: Path, is_alive: Callable[[int], bool], spare: Path | None = None
) -> tuple[str, ...]:
    """Remove temporary files and folders below `folder` whose process is gone.

    Args:
        spare: a folder in it of another program; then only what lies in the others is looked at.
    """
    gone = []
    folders = [folder] if spare is None else [path for path in folder.iterdir() if path != spare]
    for path in sorted(path for each in folders for path in each.rglob(f"{TEMPORARY_PREFIX}*")):
        owner = path.name.removeprefix(TEMPORARY_PREFIX).split("-")[0]
        if not owner.isdigit() or is_alive(int(owner)) or not path.exists():
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        gone.append(str(path))
    return tuple(gone)


def remove_left_behind(
    folder: Path, pattern: str, is_alive: Callable[[int], bool]
) -> tuple[str, ...]:
    """Remove the temporary files that dead processes left among a person's own files.

    Only plain files whose whole name is one that `temporary_name` gives: all else, whatever it is
    called, is that person's. Links are not followed.

    Args:
        pattern: which names are looked at: `*` of the folder alone, `**/*` below it too.
    """
    gone = []
    for path in sorted(folder.glob(pattern)):
        match = _TEMPORARY_NAME.fullmatch(path.name)
        if match and not path.is_symlink() and path.is_file() and not is_alive(int(match[1])):
            path.unlink(missing_ok=True)
            gone.append(str(path))
    return tuple(gone)
