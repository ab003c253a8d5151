"""Publications in a bucket: files by their hash, and one object that lists them, put last.

::

    index/<namespace>/<publication>/<SHA-256>            a file of the publication
    index/<namespace>/publications/<publication>.json    names, sizes and hashes, and the manifest

The list decides whether a publication is there, never a listing. A reader on another machine
fetches what is listed into a folder beside the place, compares, and renames the folder.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from rag_assets.model import DamagedFileError, LockedError
from rag_assets.storage.atomic import (
    explained_errors,
    link_file,
    remove_folder,
    sync_path,
    temporary_name,
    write_text,
)
from rag_assets.storage.bucket import WHATEVER, Bucket, StoredObject
from rag_assets.storage.copies import adopt, digest_of
from rag_assets.storage.locks import changing_folder
from rag_assets.storage.mounts import Mount, folder_place, place_of

MANIFEST = "manifest.json"
_LISTS = "publications"
# Files that are sent or fetched at a time: a table has some dozens, most of them small.
_AT_ONCE = 8
# Files without a list are of a publication that is being put, for so long at least.
_YOUNG_SECONDS = 24 * 3600.0
# Of `index/<namespace>/`, `data/<namespace>/`.
_PARTS_OF_NAMESPACE = 2

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class _Listed:
    """What the list of a publication says, and the version that it has."""

    files: tuple[_File, ...]
    manifest: str
    version: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The publications of a namespace in a bucket."""

    folder: Path
    mount: Mount
    prefix: str

    @property
    def bucket(self) -> Bucket:
        """The bucket that has them."""
        return self.mount.bucket

    def list_key(self, name: str) -> str:
        """Return the key of the list of a publication."""
        return f"{self.prefix}{_LISTS}/{name}.json"

    def file_key(self, name: str, file: _File) -> str:
        """Return the key of one of its files."""
        return f"{self.prefix}{name}/{file.sha256}"

    def find(self, name: str) -> _Listed | None:
        """Return what is listed of a publication, None where it is not there.

        Raises:
            DamagedFileError: the list is not what was put.
        """
        found = self.bucket.get(self.list_key(name))
        if found is None:
            return None
        try:
            loaded = json.loads(found.data)
            files = tuple(_File(**each) for each in loaded["files"])
            if any(".." in PurePosixPath(f.name).parts or f.name.startswith("/") for f in files):
                raise ValueError("it names files elsewhere")  # noqa: TRY301 - as any other damage
            return _Listed(files, loaded["manifest"], found.version)
        except (ValueError, LookupError, TypeError) as error:
            key = self.bucket.describe(self.list_key(name))
            raise DamagedFileError(
                f"{key}: the list of the publication is damaged ({error}). Delete the object and "
                "run `rag index`: the publication is built again from the records."
            ) from error


def _shelf_of(folder: Path) -> Shelf | None:
    mounted = folder_place(folder)
    if mounted is None:
        return None
    adopt(mounted[0])
    return Shelf(folder, *mounted)


def has_publication(folder: Path, name: str) -> bool | None:
    """Say whether a bucket has a publication; None where the folder is no cache."""
    shelf = _shelf_of(folder)
    return None if shelf is None else shelf.bucket.find(shelf.list_key(name)) is not None


def find_manifest(publication: Path) -> str | None:
    """Return the manifest of a publication that only the bucket has; None without one."""
    shelf = _shelf_of(publication.parent)
    listed = shelf.find(publication.name) if shelf else None
    return listed.manifest if listed else None


def listed_publications(folder: Path) -> list[str] | None:
    """Return the publications that a bucket has, sorted; None where the folder is no cache.

    One that was put a moment ago by another machine may be missing.
    """
    shelf = _shelf_of(folder)
    if shelf is None:
        return None
    names = {
        each.key.rpartition("/")[2].removesuffix(".json")
        for each in shelf.bucket.list(f"{shelf.prefix}{_LISTS}/")
    } | {path.parent.name for path in folder.glob(f"[!.]*/{MANIFEST}")}
    return sorted(name for name in names if shelf.bucket.find(shelf.list_key(name)) is not None)


def fetch_publication(publication: Path) -> bool:
    """Have a whole copy of a publication. Returns False where the bucket has no whole one."""
    if (publication / MANIFEST).is_file():
        return True
    shelf = _shelf_of(publication.parent)
    listed = shelf.find(publication.name) if shelf else None
    if shelf is None or listed is None:
        return False
    with _folder_beside(publication) as temporary:
        if not _fetch_files(shelf, publication.name, listed.files, temporary):
            return False
        write_text(temporary / MANIFEST, listed.manifest)
        _install(temporary, publication)
    _drop_copies(shelf, publication.name)
    return True


def _fetch_files(shelf: Shelf, name: str, files: Iterable[_File], folder: Path) -> bool:
    here = {file.sha256: path for path, file, _ in _files_here(shelf)}

    def fetch(file: _File) -> bool:
        target = folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        # What grew from another publication has most of its files.
        copy = here.get(file.sha256)
        if copy is not None and link_file(copy, target):
            return True
        found = shelf.bucket.download(shelf.file_key(name, file), target)
        return (
            found is not None
            and target.stat().st_size == file.size
            and digest_of(target) == file.sha256
        )

    return all(_at_once(fetch, files))


def _files_here(shelf: Shelf) -> Iterator[tuple[Path, _File, str]]:
    """Yield the files of this machine's whole copies, what is listed of them, and their keys."""
    for manifest in shelf.folder.glob(f"[!.]*/{MANIFEST}"):
        name = manifest.parent.name
        listed = shelf.find(name)
        for file in listed.files if listed else ():
            path = manifest.parent / file.name
            if path.is_file() and path.stat().st_size == file.size:
                yield path, file, shelf.file_key(name, file)


def _install(folder: Path, publication: Path) -> None:
    """Rename a whole folder in, unless a whole one stands there; what is cut goes."""
    for path in folder.rglob("*"):
        sync_path(path)
    with changing_folder(publication):
        if (publication / MANIFEST).is_file():
            return
        if publication.exists():
            remove_folder(publication)
        folder.rename(publication)
        sync_path(publication.parent)


@contextmanager
def _folder_beside(publication: Path) -> Iterator[Path]:
    with explained_errors(publication):
        publication.parent.mkdir(parents=True, exist_ok=True)
        temporary = publication.parent / temporary_name()
        temporary.mkdir()
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _drop_copies(shelf: Shelf, but: str) -> None:
    """Remove copies of publications that the bucket has no more: retired on another machine."""
    for path in shelf.folder.glob(f"[!.]*/{MANIFEST}"):
        name = path.parent.name
        if name == but or shelf.bucket.find(shelf.list_key(name)) is not None:
            continue
        if not is_pinned_at(shelf.folder, name) and path.parent.is_dir():
            remove_folder(path.parent)


def is_pinned_at(folder: Path, name: str) -> bool:
    """Say whether a publication has a pin, on this machine or in its bucket."""
    pin = folder / f"{name}.pin"
    place = place_of(pin)
    return pin.exists() or (place is not None and place.bucket.find(place.key) is not None)


def ship_publication(publication: Path, built: Path) -> bool:
    """Put a publication that was built whole into the bucket of its place.

    Args:
        publication: its place.
        built: the folder that has it.

    Returns:
        False where another machine has put a whole one meanwhile; there is a copy of that now.
        True as well where the place is in no cache.

    Raises:
        StorageError: the bucket cannot be reached; nobody sees any of it.
    """
    shelf = _shelf_of(publication.parent)
    if shelf is None:
        return True
    name, content = publication.name, put_files(shelf, publication.name, built)
    key = shelf.list_key(name)
    if shelf.bucket.put(key, content, None) is not None:
        return True
    if fetch_publication(publication):
        return False
    found = shelf.bucket.find(key)
    if shelf.bucket.put(key, content, found.version if found else None) is None:
        raise LockedError(
            f"{shelf.bucket.describe(key)}: another process has changed the list meanwhile. Run "
            "`rag index` again; what is done is not done twice."
        )
    return True


def put_files(shelf: Shelf, name: str, built: Path) -> bytes:
    """Put the files of a publication, and return its list."""
    paths = sorted(path for path in built.rglob("*") if path.is_file())
    linked = {path.stat().st_ino for path in paths if path.stat().st_nlink > 1}
    # Of a publication that grew: the same files as in the one before, which are there already.
    there = {
        path.stat().st_ino: (file.sha256, key)
        for path, file, key in (_files_here(shelf) if linked else ())
        if path.stat().st_ino in linked
    }

    def describe(path: Path) -> tuple[_File, str | None]:
        known = path.stat()
        sha256, source = there.get(known.st_ino) or (digest_of(path), None)
        return _File(path.relative_to(built).as_posix(), known.st_size, sha256), source

    def put(key: str) -> None:
        path, source = sources[key]
        if source is None or not shelf.bucket.copy(source, key):
            shelf.bucket.put(key, path, WHATEVER)

    described = [*_at_once(describe, [path for path in paths if path != built / MANIFEST])]
    files = [file for file, _ in described]
    # Files of equal content have one key, which is put once: copied where one of them can be.
    sources: dict[str, tuple[Path, str | None]] = {}
    for file, source in sorted(described, key=lambda one: one[1] is None):
        sources.setdefault(shelf.file_key(name, file), (built / file.name, source))
    for _ in _at_once(put, list(sources)):
        pass
    told = {
        "files": [{"name": f.name, "size": f.size, "sha256": f.sha256} for f in files],
        "manifest": (built / MANIFEST).read_text(encoding="utf-8"),
    }
    return json.dumps(told, indent=1, ensure_ascii=False).encode()


def unship_publication(folder: Path, name: str) -> None:
    """Take a publication out of its bucket, its list first. Nothing where the folder is no cache.

    What a listing does not show of it is known from the list.
    """
    shelf = _shelf_of(folder)
    if shelf is None:
        return
    listed = shelf.find(name)
    keys = {shelf.file_key(name, file) for file in listed.files} if listed else set()
    shelf.bucket.delete(shelf.list_key(name))
    keys |= {each.key for each in shelf.bucket.list(f"{shelf.prefix}{name}/")}
    for _ in _at_once(shelf.bucket.delete, sorted(keys)):
        pass


def remove_unlisted(folder: Path) -> tuple[str, ...]:
    """Take away the files of publications that were never listed, since who put them has died; of
    a folder of records the leases of jobs that were done long ago.

    Returns:
        How a person calls what went of publications.
    """
    shelf = _shelf_of(folder)
    if shelf is None or shelf.prefix.count("/") != _PARTS_OF_NAMESPACE:
        return ()
    if not shelf.prefix.startswith("index/"):
        for each in shelf.bucket.list(f"locks/{shelf.prefix}"):
            # One that is held is renewed all the time.
            if time.time() - each.changed_at > _YOUNG_SECONDS:
                shelf.bucket.delete(each.key)
        return ()
    files: dict[str, list[StoredObject]] = {}
    for each in shelf.bucket.list(shelf.prefix):
        name, slash, _ = each.key.removeprefix(shelf.prefix).partition("/")
        if slash and name != _LISTS:
            files.setdefault(name, []).append(each)
    gone = []
    for name, objects in files.items():
        is_young = time.time() - max(each.changed_at for each in objects) < _YOUNG_SECONDS
        if not is_young and shelf.bucket.find(shelf.list_key(name)) is None:
            for each in objects:
                shelf.bucket.delete(each.key)
            gone.append(shelf.bucket.describe(f"{shelf.prefix}{name}/"))
    return tuple(gone)


def _at_once(do: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    with ThreadPoolExecutor(_AT_ONCE, "rag-store") as pool:
        yield from pool.map(do, items)
