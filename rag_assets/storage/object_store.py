"""Publications in an object store, for readers on other machines.

::

    <store>/index/<namespace>/<publication>/    the files of the publication, its manifest put last
    <store>/index/<namespace>/current.json      the pointer, put after the publication it names

A publication is built and kept on the builder's disk, and copied from there: all else (records,
journals) stays on that machine. A reader copies the current publication into its own `index/`
before it opens it. pyarrow offers no conditional put, so that nothing here guards against two
builders of one namespace: docs/scale.md says what does.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.model import StorageError
from rag_assets.storage.atomic import explained_errors
from rag_assets.storage.locks import hold_lock
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


class ObjectStore:
    """The place that the setting `store` names.

    Every method raises `StorageError` where the store cannot be reached or refuses the request.

    Args:
        url: `s3://bucket/prefix`. The server, the region and the keys come from the environment
            (AWS_ENDPOINT_URL_S3, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or
            from the files that AWS's own tools read.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    @cached_property
    def _files(self) -> "FileSystem":
        return open_files(self.url)

    def is_shared(self, namespace: str, folder: Path) -> bool:
        """Say whether readers elsewhere see the publication that readers of this machine see."""
        here, there = read_pointer(folder), self._pointer(namespace, folder)
        return here is None or (there is not None and there[0].current == here.current)

    def share(self, namespace: str, folder: Path) -> None:
        """Let readers elsewhere see what readers of this machine see.

        Publications that were retired here are removed from the store. Call with the publishing
        lock held.

        Args:
            folder: the namespace's `index/` folder.
        """
        pointer = read_pointer(folder)
        if pointer is None:
            return
        place = f"index/{namespace}"
        if self._read(f"{place}/{pointer.current}/{MANIFEST}") is None:
            self._upload(folder / pointer.current, f"{place}/{pointer.current}")
        data = (folder / POINTER).read_bytes()
        if self._read(f"{place}/{POINTER}") != data:
            with (
                self._explained("written"),
                self._files.open_output_stream(f"{place}/{POINTER}") as stream,
            ):
                stream.write(data)
        here = set(list_publications(folder))
        retired = {entry.publication for entry in pointer.history} - here
        for name in sorted(retired & self._names(place)):
            self._remove(f"{place}/{name}")

    def fetch(self, namespace: str, folder: Path, lock: Path, keep: int, keep_hours: float) -> None:
        """Have a copy of what the store shows to readers now, and point at it.

        Args:
            folder: the namespace's `index/` folder on this machine, which nobody builds in.
            lock: held while it is changed.
            keep, keep_hours: as `retire_publications`, which removes older copies.
        """
        found = self._pointer(namespace, folder)
        here = LocalStore(folder).get(POINTER)
        if found and here and here.data == found[1] and is_complete(folder, found[0].current):
            return
        with hold_lock(lock, f"the copy of '{namespace}' in {folder}", _log.warning):
            for _ in range(_TRIES):
                found = self._pointer(namespace, folder)
                if found is None:
                    LocalStore(folder).delete(POINTER)
                    return
                pointer, data = found
                place = f"index/{namespace}/{pointer.current}"
                if is_complete(folder, pointer.current) or self._download(place, folder):
                    put(LocalStore(folder), POINTER, data)
                    retire_publications(folder, keep, keep_hours)
                    return
        raise StorageError(
            f"{self.url}/{place}: the current publication is not there whole. Run `rag ingest "
            f"--namespace {namespace}` on the machine that builds it: what is missing is built "
            "again from raw/."
        )

    def _pointer(self, namespace: str, folder: Path) -> tuple[Pointer, bytes] | None:
        data = self._read(f"index/{namespace}/{POINTER}")
        pointer = restore_pointer(folder, data)
        return None if data is None or pointer is None else (pointer, data)

    def _upload(self, publication: Path, place: str) -> None:
        """Copy a publication whole. What is there without a manifest is of an upload that was cut
        off, perhaps of another build: Lance gives its files other names each time, so that the two
        do not mix.
        """
        from pyarrow.fs import LocalFileSystem, copy_files

        self._remove(place)
        with self._explained("written"):
            self._files.create_dir(place)
            for path in sorted(publication.iterdir(), key=lambda one: one.name == MANIFEST):
                copy_files(
                    str(path),
                    f"{place}/{path.name}",
                    source_filesystem=LocalFileSystem(),
                    destination_filesystem=self._files,
                )

    def _download(self, place: str, folder: Path) -> bool:
        """Copy a publication into its folder. Returns False where the store has no whole one."""
        from pyarrow.fs import LocalFileSystem, copy_files

        manifest = self._read(f"{place}/{MANIFEST}")
        if manifest is None:
            return False

        def copy(target: Path) -> None:
            with explained_errors(target), self._explained("read"):
                copy_files(
                    place,
                    str(target),
                    source_filesystem=self._files,
                    destination_filesystem=LocalFileSystem(),
                )
            # Removed first where a publication is retired: so nothing was removed meanwhile.
            if self._read(f"{place}/{MANIFEST}") != manifest:
                raise _RetiredError

        try:
            build_folder(folder, place.rpartition("/")[2], copy)
        except (_RetiredError, FileNotFoundError):
            return False
        return True

    def _remove(self, place: str) -> None:
        """Remove a publication, its manifest first: what is left has none and counts as nothing."""
        with self._explained("removed"):
            with suppress(FileNotFoundError):
                self._files.delete_file(f"{place}/{MANIFEST}")
            with suppress(FileNotFoundError):
                self._files.delete_dir(place)

    def _names(self, place: str) -> set[str]:
        """Return the publications of which a file is there. Some servers go on listing a folder
        whose files were removed.
        """
        from pyarrow.fs import FileSelector, FileType

        with self._explained("read"):
            found = self._files.get_file_info(
                FileSelector(place, recursive=True, allow_not_found=True)
            )
        files = [each.path for each in found if each.type == FileType.File]
        return {path.removeprefix(f"{place}/").partition("/")[0] for path in files}

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


class _RetiredError(Exception):
    """The publication was removed from the store while it was copied."""


def open_files(url: str) -> "FileSystem":
    """Return the files below `s3://bucket/prefix`. Nothing is asked of the server yet."""
    from pyarrow.fs import S3FileSystem, SubTreeFileSystem

    # pyarrow reads the other variables itself.
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    files = S3FileSystem(endpoint_override=endpoint, allow_delayed_open=True)
    return SubTreeFileSystem(url.removeprefix("s3://"), files)
