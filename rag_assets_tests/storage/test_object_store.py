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


class Machine:
    """A workspace's folder, and the object store as that machine sees it."""

    def __init__(self, root: Path, url: str) -> None:
        self.root, self.index = root, root / "index" / NAMESPACE
        self.parses = root / "data" / NAMESPACE / "parsed"
        self.store = ObjectStore(url, root, NAMESPACE)

    def publish(self, name: str, text: str = "") -> None:
        publish(self.index, name, text)

    def parse(self, name: str, text: str) -> None:
        (self.parses / name).parent.mkdir(parents=True, exist_ok=True)
        (self.parses / name).write_text(text)

    def retire(self, keep: int) -> None:
        retire_publications(self.index, keep=keep, keep_hours=0)

    def fetch(self, keep: int = 3, keep_hours: float = 24.0) -> None:
        self.store.fetch(self.root / "publishing.lock", keep, keep_hours)

    @property
    def seen(self) -> dict[str, str]:
        """The files of the publication that readers of this machine see."""
        return content(current_folder(self.index, NAMESPACE))


@pytest.fixture
def machine(store_url: str, tmp_path: Path) -> Callable[[str], Machine]:
    """Return machines by name, all with the same object store."""
    return lambda name: Machine(tmp_path / name, store_url)


def content(publication: Path) -> dict[str, str]:
    files = sorted(path for path in publication.rglob("*") if path.is_file())
    return {path.relative_to(publication).as_posix(): path.read_text() for path in files}


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


Machines = Callable[[str], Machine]


def test_a_reader_elsewhere_gets_what_was_shared_and_nothing_is_sent_twice(
    machine: Machines,
) -> None:
    here, elsewhere = machine("here"), machine("elsewhere")
    elsewhere.fetch()
    assert not (elsewhere.index / "current.json").exists()
    here.publish("p-1")
    for name in ("a/1.parquet", "b/2.parquet", "b/.tmp-1-00000000.parquet"):
        here.parse(name, f"parse {name}")
    assert not here.store.is_shared()
    here.store.share()
    assert here.store.is_shared()
    elsewhere.fetch()
    assert elsewhere.seen == here.seen
    pointers = [(each.index / "current.json").read_bytes() for each in (here, elsewhere)]
    assert pointers[0] == pointers[1]
    assert content(elsewhere.parses) == {
        "a/1.parquet": "parse a/1.parquet",
        "b/2.parquet": "parse b/2.parquet",
    }

    with failing(here.store, 100) as watched:
        here.store.share()
        looks = ["get_file_info", "open_input_stream", "open_input_stream", "get_file_info"]
        assert watched.log == looks
    with failing(elsewhere.store, 100) as watched:
        elsewhere.fetch()
        assert watched.log == ["open_input_stream"]

    (here.parses / "a/1.parquet").unlink()
    here.parse("b/3.parquet", "another")
    here.publish("p-2")
    with failing(here.store, 100) as watched:
        here.store.share()
    # One parse, the publication's two files and folder, its manifest; and what was removed.
    assert watched.log.count("copy_files") == 4
    assert watched.log.count("delete_file") == 2  # a manifest that is not there, a parse
    elsewhere.fetch()
    assert (elsewhere.parses / "b/3.parquet").is_file()


def test_wherever_a_builder_is_cut_off_readers_see_a_whole_publication(machine: Machines) -> None:
    here = machine("here")
    here.publish("p-1")
    here.store.share()
    before = here.seen
    here.publish("p-2")
    requests, is_done = 0, False
    while not is_done:
        with failing(here.store, requests):
            try:
                here.store.share()
                is_done = True
            except StorageError as error:
                assert here.store.url in str(error)
        elsewhere = machine(f"elsewhere-{requests}")
        elsewhere.fetch()
        assert elsewhere.seen in (before, here.seen)
        requests += 1
    assert elsewhere.seen == here.seen
    assert requests > 8


def test_what_an_upload_of_another_build_left_is_not_mixed_with_this_one(
    machine: Machines,
) -> None:
    """Lance names its files at random, and its list of them always alike."""
    one, other, elsewhere = machine("one"), machine("other"), machine("elsewhere")
    one.publish("p-1", "by one")
    with failing(one.store, 6), pytest.raises(StorageError):
        one.store.share()
    other.publish("p-1", "by another")
    other.store.share()
    elsewhere.fetch()
    assert elsewhere.seen == other.seen


def test_retired_publications_go_from_the_store_and_from_each_copy(machine: Machines) -> None:
    here, elsewhere = machine("here"), machine("elsewhere")
    for number in range(4):
        here.publish(f"p-{number}")
        here.store.share()
        elsewhere.fetch()
    (here.index / "p-1.pin").touch()
    here.retire(keep=2)
    here.store.share()
    stored = here.store._sizes(f"index/{NAMESPACE}")
    assert {name.partition("/")[0] for name in stored} == {"p-1", "p-2", "p-3", "current.json"}
    here.publish("p-4")
    here.store.share()
    elsewhere.fetch(keep=2, keep_hours=0)
    assert {path.name for path in elsewhere.index.glob("p-*")} == {"p-3", "p-4"}


def test_a_publication_that_comes_back_is_sent_again(machine: Machines) -> None:
    here, elsewhere = machine("here"), machine("elsewhere")
    for name in ("p-1", "p-2"):
        here.publish(name)
        here.store.share()
    here.retire(keep=1)
    here.store.share()
    here.publish("p-1")
    here.store.share()
    elsewhere.fetch()
    assert elsewhere.seen == here.seen


def test_a_reader_whose_publication_is_retired_while_it_copies_takes_the_next_one(
    machine: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = machine("here"), machine("elsewhere")
    here.publish("p-1")
    here.store.share()
    real, left = pyarrow.fs.copy_files, ["p-2"]

    def overtaken(source: str, destination: str, **systems: Any) -> None:
        real(source, destination, **systems)
        if left and source.endswith("p-1"):
            here.publish(left.pop())
            here.retire(keep=1)
            here.store.share()

    monkeypatch.setattr(pyarrow.fs, "copy_files", overtaken)
    elsewhere.fetch()
    assert elsewhere.seen == here.seen
    assert [path.name for path in elsewhere.index.glob("[p.]*-*")] == ["p-2"]


def test_a_publication_that_is_not_there_is_told_with_what_to_run(machine: Machines) -> None:
    """So where an older version kept a workspace's files in another form."""
    here, elsewhere = machine("here"), machine("elsewhere")
    here.publish("p-1")
    here.store.share()
    here.store._remove(f"index/{NAMESPACE}/p-1")
    with pytest.raises(StorageError, match=r"p-1: .* not there whole\. Run `rag ingest --names"):
        elsewhere.fetch()
    here.store.share()
    elsewhere.fetch()
    assert elsewhere.seen == here.seen


def test_a_full_disk_of_the_reader_is_no_fault_of_the_store(
    machine: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = machine("here"), machine("elsewhere")
    here.publish("p-1")
    here.store.share()

    def fill(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(pyarrow.fs, "copy_files", fill)
        with pytest.raises(DiskFullError, match=re.escape(str(elsewhere.index))):
            elsewhere.fetch()
    assert list(elsewhere.index.iterdir()) == []

    here.parse("a/1.parquet", "parse")
    here.store.share()
    with monkeypatch.context() as patch:
        patch.setattr(pyarrow.fs, "copy_files", fill)
        with pytest.raises(DiskFullError, match=re.escape(str(elsewhere.parses))):
            elsewhere.fetch()


def test_a_server_that_cannot_be_reached_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    with pytest.raises(StorageError, match=r"^s3://tests/library: cannot be read \(.*AWS_ENDPOINT"):
        Machine(tmp_path, "s3://tests/library").fetch()
