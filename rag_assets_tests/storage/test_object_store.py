"""Publications in an object store: readers elsewhere always see one that is whole."""

import errno
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.fs
import pytest

from rag_assets.model import DiskFullError, StorageError
from rag_assets.storage import (
    MANIFEST,
    ObjectStore,
    build_folder,
    current_folder,
    point_at,
    retire_publications,
)

NAMESPACE = "library"


def publish(folder: Path, name: str, text: str = "") -> None:
    """Make a publication of a few files, one of them in a folder, and point at it."""

    def fill(target: Path) -> None:
        (target / "chunks.lance" / "data").mkdir(parents=True)
        (target / "chunks.lance" / "data" / "1.lance").write_text(f"rows of {name} {text}")
        (target / "catalogue.duckdb").write_text(f"catalogue of {name} {text}")
        told = {"publication": name, "created_at": 1.0, "text": text}
        (target / MANIFEST).write_text(json.dumps(told))

    build_folder(folder, name, fill)
    point_at(folder, name, {"inventory": name})


def fetch(store: ObjectStore, folder: Path, keep: int = 3, keep_hours: float = 24.0) -> None:
    store.fetch(NAMESPACE, folder, folder.with_suffix(".lock"), keep, keep_hours)


def content(publication: Path) -> dict[str, str]:
    files = sorted(path for path in publication.rglob("*") if path.is_file())
    return {path.relative_to(publication).as_posix(): path.read_text() for path in files}


def seen(folder: Path) -> dict[str, str]:
    """Return the files of the publication that readers of a folder see."""
    return content(current_folder(folder, NAMESPACE))


class Failing:
    """The store's file system, whose nth request and all after it fail as a lost network does.

    Args:
        requests: how many are answered.
    """

    def __init__(self, files: Any, requests: int) -> None:
        self.files, self.left, self.log = files, requests, list[str]()

    def __getattr__(self, name: str) -> Any:
        real = getattr(self.files, name)
        return self.counted(name, real) if callable(real) else real

    def counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if not self.left:
                raise OSError(f"AWS Error NETWORK_CONNECTION during {name}")
            self.left -= 1
            self.log.append(name)
            return real(*arguments, **named)

        return call


@contextmanager
def failing(store: ObjectStore, requests: int) -> Iterator[Failing]:
    """Let a store answer so many requests and no more."""
    real, copy = store._files, pyarrow.fs.copy_files
    failing = Failing(real, requests)

    def copy_files(source: str, destination: str, **systems: Any) -> None:
        bare = {key: real if one is failing else one for key, one in systems.items()}
        failing.counted("copy_files", copy)(source, destination, **bare)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(store.__dict__, "_files", failing)
        patch.setattr(pyarrow.fs, "copy_files", copy_files)
        yield failing


def test_a_reader_elsewhere_gets_what_was_shared_and_nothing_is_sent_twice(
    store_url: str, tmp_path: Path
) -> None:
    here, elsewhere, store = tmp_path / "here", tmp_path / "elsewhere", ObjectStore(store_url)
    fetch(store, elsewhere)
    assert not (elsewhere / "current.json").exists()
    publish(here, "p-1")
    assert not store.is_shared(NAMESPACE, here)
    store.share(NAMESPACE, here)
    assert store.is_shared(NAMESPACE, here)
    fetch(store, elsewhere)
    assert seen(elsewhere) == seen(here)
    assert (elsewhere / "current.json").read_bytes() == (here / "current.json").read_bytes()

    with failing(store, 100) as watched:
        store.share(NAMESPACE, here)
        assert watched.log == ["open_input_stream", "open_input_stream", "get_file_info"]
        watched.log.clear()
        fetch(store, elsewhere)
        assert watched.log == ["open_input_stream"]


def test_wherever_a_builder_is_cut_off_readers_see_a_whole_publication(
    store_url: str, tmp_path: Path
) -> None:
    here, store = tmp_path / "here", ObjectStore(store_url)
    publish(here, "p-1")
    store.share(NAMESPACE, here)
    before = seen(here)
    publish(here, "p-2")
    requests, is_done = 0, False
    while not is_done:
        with failing(store, requests):
            try:
                store.share(NAMESPACE, here)
                is_done = True
            except StorageError as error:
                assert store_url in str(error)
        fetch(store, tmp_path / f"elsewhere-{requests}")
        found = seen(tmp_path / f"elsewhere-{requests}")
        assert found in (before, seen(here))
        requests += 1
    assert found == seen(here)
    assert requests > 8


def test_what_an_upload_of_another_build_left_is_not_mixed_with_this_one(
    store_url: str, tmp_path: Path
) -> None:
    """Lance names its files at random, and its list of them always alike."""
    one, other, store = tmp_path / "one", tmp_path / "other", ObjectStore(store_url)
    publish(one, "p-1", "by one")
    with failing(store, 5), pytest.raises(StorageError):
        store.share(NAMESPACE, one)
    publish(other, "p-1", "by another")
    store.share(NAMESPACE, other)
    fetch(store, tmp_path / "elsewhere")
    assert seen(tmp_path / "elsewhere") == seen(other)


def test_retired_publications_go_from_the_store_and_from_each_copy(
    store_url: str, tmp_path: Path
) -> None:
    here, elsewhere, store = tmp_path / "here", tmp_path / "elsewhere", ObjectStore(store_url)
    for number in range(4):
        publish(here, f"p-{number}")
        store.share(NAMESPACE, here)
        fetch(store, elsewhere)
    (here / "p-1.pin").touch()
    retire_publications(here, keep=2, keep_hours=0)
    store.share(NAMESPACE, here)
    assert store._names(f"index/{NAMESPACE}") == {"p-1", "p-2", "p-3", "current.json"}
    publish(here, "p-4")
    store.share(NAMESPACE, here)
    fetch(store, elsewhere, keep=2, keep_hours=0)
    assert {path.name for path in elsewhere.glob("p-*")} == {"p-3", "p-4"}


def test_a_publication_that_comes_back_is_sent_again(store_url: str, tmp_path: Path) -> None:
    here, store = tmp_path / "here", ObjectStore(store_url)
    for name in ("p-1", "p-2"):
        publish(here, name)
        store.share(NAMESPACE, here)
    retire_publications(here, keep=1, keep_hours=0)
    store.share(NAMESPACE, here)
    publish(here, "p-1")
    store.share(NAMESPACE, here)
    fetch(store, tmp_path / "elsewhere")
    assert seen(tmp_path / "elsewhere") == seen(here)


def test_a_reader_whose_publication_is_retired_while_it_copies_takes_the_next_one(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere, store = tmp_path / "here", tmp_path / "elsewhere", ObjectStore(store_url)
    publish(here, "p-1")
    store.share(NAMESPACE, here)
    real, left = pyarrow.fs.copy_files, ["p-2"]

    def overtaken(source: str, destination: str, **systems: Any) -> None:
        real(source, destination, **systems)
        if left and source.endswith("p-1"):
            publish(here, left.pop())
            retire_publications(here, keep=1, keep_hours=0)
            ObjectStore(store_url).share(NAMESPACE, here)

    monkeypatch.setattr(pyarrow.fs, "copy_files", overtaken)
    fetch(store, elsewhere)
    assert seen(elsewhere) == seen(here)
    assert [path.name for path in elsewhere.glob("[p.]*-*")] == ["p-2"]


def test_a_publication_that_is_not_there_is_told_with_what_to_run(
    store_url: str, tmp_path: Path
) -> None:
    """So where an older version kept a workspace's files in another form."""
    here, store = tmp_path / "here", ObjectStore(store_url)
    publish(here, "p-1")
    store.share(NAMESPACE, here)
    store._remove(f"index/{NAMESPACE}/p-1")
    with pytest.raises(StorageError, match=r"p-1: .* not there whole\. Run `rag ingest --names"):
        fetch(store, tmp_path / "elsewhere")
    store.share(NAMESPACE, here)
    fetch(store, tmp_path / "elsewhere")


def test_a_full_disk_of_the_reader_is_no_fault_of_the_store(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere, store = tmp_path / "here", tmp_path / "elsewhere", ObjectStore(store_url)
    publish(here, "p-1")
    store.share(NAMESPACE, here)

    def fill(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(pyarrow.fs, "copy_files", fill)
        with pytest.raises(DiskFullError, match=re.escape(str(elsewhere))):
            fetch(store, elsewhere)
    assert list(elsewhere.iterdir()) == []


def test_a_server_that_cannot_be_reached_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    with pytest.raises(StorageError, match=r"^s3://tests/library: cannot be read \(.*AWS_ENDPOINT"):
        fetch(ObjectStore("s3://tests/library"), tmp_path)
