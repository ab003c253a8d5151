"""A workspace that had its derived files on a disk gets a store: what it has is put there, once."""

import json
import logging
from pathlib import Path

from rag_assets.storage.atomic import write_text
from rag_assets.storage.copies import know_version
from rag_assets.storage.locks import changing_folder, hold_lock
from rag_assets.storage.mounts import Mount, place_of
from rag_assets.storage.shipping import MANIFEST, Shelf, put_files

_log = logging.getLogger(__name__)
# Says which bucket has all that the folder had.
_ADOPTED = ".store.json"


def adopt_files(mount: Mount) -> None:
    """Put there what a workspace had on its disk before it had this store, once.

    Where the bucket has something, that holds: another machine has put it.

    Raises:
        StorageError: the bucket cannot be reached; the next command begins again.
    """
    note = mount.root / "data" / _ADOPTED  # with the copies: machines may share meta/
    with mount.guard:
        if mount.is_adopted:
            return
        if not _is_noted(note, mount):
            lock = mount.root / "meta" / "locks" / "store.lock"
            with hold_lock(lock, "the store of this workspace", _log.warning):
                if not _is_noted(note, mount):
                    _adopt_data(mount)
                    _adopt_publications(mount)
                    write_text(note, json.dumps({"url": mount.url}))
        mount.is_adopted = True


def _is_noted(note: Path, mount: Mount) -> bool:
    try:
        noted = json.loads(note.read_bytes())
    except (FileNotFoundError, ValueError):
        return False
    return isinstance(noted, dict) and noted.get("url") == mount.url


def _adopt_data(mount: Mount) -> None:
    found = [path for path in sorted((mount.root / "data").rglob("*")) if path.is_file()]
    places = [place for path in found if (place := place_of(path)) is not None]
    if not places:
        return
    _log.warning("%s: putting %d files of this workspace there", mount.url, len(places))
    listed = {each.key for each in mount.bucket.list("data/")}
    for place in places:
        if place.key in listed and mount.bucket.find(place.key) is not None:
            continue
        version = mount.bucket.put(place.key, place.path, None)
        if version is not None and not place.is_named:
            with changing_folder(place.path):
                know_version(place, version)


def _adopt_publications(mount: Mount) -> None:
    for folder in sorted((mount.root / "index").glob("[!.]*/")):
        pointer = place_of(folder / "current.json")
        if pointer is None or not pointer.path.is_file():
            continue
        if mount.bucket.find(pointer.key) is not None:
            continue
        shelf = Shelf(folder, mount, f"index/{folder.name}/")
        for manifest in sorted(folder.glob(f"[!.]*/{MANIFEST}")):
            name = manifest.parent.name
            mount.bucket.put(shelf.list_key(name), put_files(shelf, name, manifest.parent), None)
        version = mount.bucket.put(pointer.key, pointer.path, None)
        if version is not None:
            with changing_folder(pointer.path):
                know_version(pointer, version)
