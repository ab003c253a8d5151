"""Publications in an object store, for readers on other machines.

::

    <store>/index/<namespace>/<publication>/    the files of the publication, its manifest put last
    <store>/index/<namespace>/current.json      the pointer, put after the publication it names
    <store>/data/<namespace>/parsed/            the parses, by which quotations are checked

A library is built on the builder's disk and copied from there; records and journals stay on that
machine. A reader copies the current publication to the same places on its own disk before it opens
it. pyarrow offers no conditional put, so nothing here guards against two builders of one namespace:
docs/scale.md says what does.
"""

import logging
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.model import StorageError
from rag_assets.storage.files import explained_errors, hold_lock, replace_file
from rag_assets.storage.publications import (
    MANIFEST,
    POINTER,
    Pointer,
    build_folder,
    is_complete,
    list_publications,
    read_pointer,
    restore_pointer,
    retire_publications,
)
from rag_assets.storage.store import LocalStore, put

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_log = logging.getLogger(__name__)
# A publication is retired a day after another one became current at the earliest, so that a reader
# who is overtaken while it copies one hardly ever is overtaken again.
_TRIES = 3
# Parses that are copied at a time: they are many and small.
_AT_ONCE = 8


class ObjectStore:
    """What the place that the setting `store` names has of one namespace.

    Every method raises `StorageError` where the store cannot be reached or refuses the request.

    Args:
        url: `s3://bucket/prefix`. The server, the region and the keys come from the environment
            (AWS_ENDPOINT_URL_S3, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or
            from the files that AWS's own tools read.
        root: the workspace's folder.
        namespace: its name.
    """

    def __init__(self, url: str, root: Path, namespace: str) -> None:
        self.url = url.rstrip("/")
        self._namespace = namespace
        self._index, self._index_key = root / "index" / namespace, f"index/{namespace}"
        self._parses, self._parses_key = (
            root / "data" / namespace / "parsed",
            f"data/{namespace}/parsed",
        )

    @cached_property
    def _files(self) -> "FileSystem":
        return open_files(self.url)

    def is_shared(self) -> bool:
        """Say whether readers elsewhere see the publication that readers of this machine see."""
        here, there = read_pointer(self._index), self._pointer()
        return here is None or (there is not None and there[0].current == here.current)

    def share(self) -> None:
        """Let readers elsewhere see what readers of this machine see.

        Publications that were retired here, and parses that were removed, go from the store. Call
        with the publishing lock held.
        """
        pointer = read_pointer(self._index)
        if pointer is None:
            return
        parses, shared = _sizes_in(self._parses), self._sizes(self._parses_key)
        self._upload_parses(name for name, size in parses.items() if shared.get(name) != size)
        place = f"{self._index_key}/{pointer.current}"
        if self._read(f"{place}/{MANIFEST}") is None:
            self._upload(self._index / pointer.current, place)
        data = (self._index / POINTER).read_bytes()
        key = f"{self._index_key}/{POINTER}"
        if self._read(key) != data:
            with self._explained("written"), self._files.open_output_stream(key) as stream:
                stream.write(data)
        standing = {name.partition("/")[0] for name in self._sizes(self._index_key)}
        known = {entry.publication for entry in pointer.history}
        for name in sorted((standing & known) - set(list_publications(self._index))):
            self._remove(f"{self._index_key}/{name}")
        for name in sorted(shared.keys() - parses.keys()):
            with self._explained("removed"), suppress(FileNotFoundError):
                self._files.delete_file(f"{self._parses_key}/{name}")

    def fetch(self, lock: Path, keep: int, keep_hours: float) -> None:
        """Have a copy of what the store shows to readers now, and point at it.

        Nobody builds the namespace on this machine.

        Args:
            lock: held while the copy is changed.
            keep, keep_hours: as `retire_publications`, which removes older copies.
        """
        found = self._pointer()
        here = LocalStore(self._index).get(POINTER)
        if found and here and here.data == found[1] and is_complete(self._index, found[0].current):
            return
        with hold_lock(lock, f"the copy of '{self._namespace}'", _log.warning):
            for _ in range(_TRIES):
                found = self._pointer()
                if found is None:
                    LocalStore(self._index).delete(POINTER)
                    return
                pointer, data = found
                self._download_parses()
                if is_complete(self._index, pointer.current) or self._download(pointer.current):
                    put(LocalStore(self._index), POINTER, data)
                    retire_publications(self._index, keep, keep_hours)
                    return
        raise StorageError(
            f"{self.url}/{self._index_key}/{pointer.current}: the current publication is not there "
            f"whole. Run `rag ingest --namespace {self._namespace}` on the machine that builds it: "
            "what is missing is built again from raw/."
        )

    def _pointer(self) -> tuple[Pointer, bytes] | None:
        data = self._read(f"{self._index_key}/{POINTER}")
        pointer = restore_pointer(self._index, data)
        return None if data is None or pointer is None else (pointer, data)

    def _upload(self, publication: Path, place: str) -> None:
        """Copy a publication whole. What is there without a manifest is of an upload that was cut
        off, perhaps of another build: Lance gives its files other names each time, so that the two
        do not mix.
        """
        self._remove(place)
        with self._explained("written"):
            self._files.create_dir(place)
            for path in sorted(publication.iterdir(), key=lambda one: one.name == MANIFEST):
                self._copy_in(path, f"{place}/{path.name}")

    def _upload_parses(self, names: Iterable[str]) -> None:
        chosen = sorted(names)
        with self._explained("written"), ThreadPoolExecutor(_AT_ONCE) as pool:
            for folder in sorted({name.rpartition("/")[0] for name in chosen}):
                self._files.create_dir(f"{self._parses_key}/{folder}")
            places = [f"{self._parses_key}/{name}" for name in chosen]
            for _ in pool.map(self._copy_in, [self._parses / name for name in chosen], places):
                pass

    def _download(self, name: str) -> bool:
        """Copy a publication into its folder. Returns False where the store has no whole one."""
        place = f"{self._index_key}/{name}"
        manifest = self._read(f"{place}/{MANIFEST}")
        if manifest is None:
            return False

        def copy(target: Path) -> None:
            with explained_errors(target), self._explained("read"):
                self._copy_out(place, target)
            # Removed first where a publication is retired: so nothing was removed meanwhile.
            if self._read(f"{place}/{MANIFEST}") != manifest:
                raise _RetiredError

        try:
            build_folder(self._index, name, copy)
        except (_RetiredError, FileNotFoundError):
            return False
        return True

    def _download_parses(self) -> None:
        """Copy the parses that are not here yet: they are named by all that they are made of."""
        here = _sizes_in(self._parses)

        def copy(name: str) -> None:
            # Removed meanwhile: no publication that is current names it.
            with (
                suppress(FileNotFoundError),
                replace_file(self._parses / name) as temporary,
                self._explained("read"),
            ):
                self._copy_out(f"{self._parses_key}/{name}", temporary)

        there = self._sizes(self._parses_key)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for _ in pool.map(copy, [name for name, n in there.items() if here.get(name) != n]):
                pass

    def _copy_in(self, path: Path, place: str) -> None:
        from pyarrow.fs import LocalFileSystem, copy_files

        copy_files(
            str(path),
            place,
            source_filesystem=LocalFileSystem(),
            destination_filesystem=self._files,
        )

    def _copy_out(self, place: str, path: Path) -> None:
        from pyarrow.fs import LocalFileSystem, copy_files

        copy_files(
            place,
            str(path),
            source_filesystem=self._files,
            destination_filesystem=LocalFileSystem(),
        )

    def _remove(self, place: str) -> None:
        """Remove a publication, its manifest first: what is left has none and counts as nothing."""
        with self._explained("removed"):
            with suppress(FileNotFoundError):
                self._files.delete_file(f"{place}/{MANIFEST}")
            with suppress(FileNotFoundError):
                self._files.delete_dir(place)

    def _sizes(self, place: str) -> dict[str, int]:
        """Return the files below a key with their sizes. Folders count for nothing: some servers go
        on listing one whose files were removed.
        """
        from pyarrow.fs import FileSelector, FileType

        with self._explained("read"):
            found = self._files.get_file_info(
                FileSelector(place, recursive=True, allow_not_found=True)
            )
        return {
            each.path.removeprefix(f"{place}/"): each.size
            for each in found
            if each.type == FileType.File
        }

    def _read(self, key: str) -> bytes | None:
        with self._explained("read"):
            try:
                with self._files.open_input_stream(key) as stream:
                    data: bytes = stream.read()
            except FileNotFoundError:
                return None
        return data

    @contextmanager
    def _explained(self, tried: str) -> Iterator[None]:
        """Turn what the server says, which has no number of the operating system, into one
        sentence. What has one is of this machine's disk.
        """
        try:
            yield
        except OSError as error:
            if error.errno is not None:
                raise
            raise StorageError(
                f"{self.url}: cannot be {tried} ({error}). Check that the bucket exists, that "
                "AWS_ENDPOINT_URL_S3, AWS_DEFAULT_REGION and the keys are right and the server "
                "can be reached, and run the command again."
            ) from error


def _sizes_in(folder: Path) -> dict[str, int]:
    """Return the files below a folder with their sizes, hidden ones left out."""
    return {listed.key: listed.size for listed in LocalStore(folder).list("")}


class _RetiredError(Exception):
    """The publication was removed from the store while it was copied."""


def open_files(url: str) -> "FileSystem":
    """Return the files below `s3://bucket/prefix`. Nothing is asked of the server yet."""
    from pyarrow.fs import S3FileSystem, SubTreeFileSystem

    # pyarrow reads the other variables itself.
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    files = S3FileSystem(endpoint_override=endpoint, allow_delayed_open=True)
    return SubTreeFileSystem(url.removeprefix("s3://"), files)
