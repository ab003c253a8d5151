"""Values by key: what holds for any sequence of operations, any two writers and any crash."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import LockedError, StorageError
from rag_assets.storage import (
    TEMPORARY_PREFIX,
    LocalStore,
    match_keys,
    point_at,
    put,
    read_pointer,
    remove_unfinished,
    update,
)

KEYS = ("a", "a.json", "b/c", "b/c.parquet", "b/d/e", "b-d", "叶/片")
PREFIXES = ("", "a", "b", "b/", "b/c", "b/d/", "b/d/e", "b/x/", "叶/", "z")
values = st.sampled_from((b"", b"1", b"2", b"\x00\xff"))
operations = st.lists(
    st.tuples(
        st.sampled_from(("absent", "unchanged", "stale", "put", "delete")),
        st.sampled_from(KEYS),
        values,
    ),
    max_size=12,
)


def keys(store: LocalStore, prefix: str = "") -> list[str]:
    return [each.key for each in store.list(prefix)]


@given(operations)
def test_a_store_is_a_dictionary_whose_writers_must_know_what_they_replace(
    asked: list[tuple[str, str, bytes]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store, model = LocalStore(Path(folder)), dict[str, bytes]()
        versions: dict[str, set[str]] = {key: set() for key in KEYS}
        for operation, key, data in asked:
            held = store.get(key)
            assert (held.data if held else None) == model.get(key)
            current = held.version if held else None
            if current:
                versions[key].add(current)
            if operation == "absent":
                assert (store.put_if_absent(key, data) is not None) == (key not in model)
                model.setdefault(key, data)
            elif operation == "unchanged" and current:
                written = store.put_if_unchanged(key, data, current)
                model[key] = data
                found = store.get(key)
                assert found is not None
                assert written == found.version
            elif operation == "stale":
                for version in versions[key] - {current}:
                    assert store.put_if_unchanged(key, data, version) is None
            elif operation == "put":
                assert put(store, key, data) == (model.get(key) != data)
                model[key] = data
            elif operation == "delete":
                assert store.delete(key) == (key in model)
                model.pop(key, None)
        for prefix in PREFIXES:
            listed = [(each.key, each.size) for each in store.list(prefix)]
            assert listed == sorted((k, len(v)) for k, v in model.items() if k.startswith(prefix))
        for key in KEYS:
            listed_alone = store.find(key)
            assert (listed_alone.size if listed_alone else None) == (
                len(model[key]) if key in model else None
            )


@given(st.permutations(["get 1", "get 2", "put 1", "put 2"]), st.booleans())
def test_of_two_writers_who_read_the_same_one_wins(steps: list[str], is_first: bool) -> None:
    """In any order of their steps; a writer who reads after the other has written wins too."""
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        if not is_first:
            put(store, "current.json", b"before")
        read, order, won = dict[str, str | None](), list[str](), list[str]()
        for step in steps:
            what, who = step.split()
            if what == "get":
                found = store.get("current.json")
                read[who] = found.version if found else None
            elif who in read:
                version, data = read[who], who.encode()
                written = (
                    store.put_if_absent("current.json", data)
                    if version is None
                    else store.put_if_unchanged("current.json", data, version)
                )
                order.append(who)
                won += [who] if written else []
        if order:
            has_read_late = len(order) == 2 and steps.index(f"get {order[1]}") > steps.index(
                f"put {order[0]}"
            )
            assert won == (order if has_read_late else order[:1])
            found = store.get("current.json")
            assert found is not None
            assert found.data == won[-1].encode()


def count(store: LocalStore) -> None:
    for _ in range(25):
        update(store, "deep/counter", lambda data: str(int(data or b"0") + 1).encode())


def test_no_change_is_lost_between_threads(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(count, store) for _ in range(4)]:
            done.result()
    found = store.get("deep/counter")
    assert found is not None
    assert found.data == b"100"


# What another process does: counts on, or puts a value and is killed meanwhile.
ANOTHER = """
import os, signal, sys
from pathlib import Path
from rag_assets.storage import LocalStore, put, update

folder, what = sys.argv[1:]
store = LocalStore(Path(folder))
real_write, real_replace = Path.write_bytes, Path.replace

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def write_half(path, data):
    real_write(path, data[: len(data) // 2])
    die()

def replace_and_die(path, target):
    real_replace(path, target)
    die()

if what == "count":
    for _ in range(25):
        update(store, "deep/counter", lambda data: str(int(data or b"0") + 1).encode())
elif what == "write":
    Path.write_bytes = write_half
else:
    Path.replace = die if what == "rename" else replace_and_die
put(store, "b/c", b"new" * 1000)
"""


def start_another(folder: Path, what: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", ANOTHER, str(folder), what])


def test_no_change_is_lost_between_processes(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    processes = [start_another(tmp_path, "count") for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    found = store.get("deep/counter")
    assert found is not None
    assert found.data == b"50"


def test_of_two_publications_that_are_pointed_at_together_none_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second writer swaps between the first one's reading and its swap."""
    point_at(tmp_path, "p-1", {})
    real, others = LocalStore.put_if_unchanged, ["p-2"]

    def overtaken(store: LocalStore, key: str, data: bytes, version: str) -> str | None:
        if others:
            point_at(tmp_path, others.pop(), {"inventory": "other"})
        return real(store, key, data, version)

    monkeypatch.setattr(LocalStore, "put_if_unchanged", overtaken)
    assert point_at(tmp_path, "p-3", {"configuration": "mine"}) is True
    pointer = read_pointer(tmp_path)
    assert pointer is not None
    assert [entry.publication for entry in pointer.history] == ["p-3", "p-2", "p-1"]
    assert dict(pointer.built_from) == {"inventory": "other", "configuration": "mine"}


def test_a_writer_who_always_loses_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LocalStore(tmp_path)
    put(store, "a", b"1")
    monkeypatch.setattr(LocalStore, "put_if_unchanged", lambda *_: None)
    with pytest.raises(LockedError, match="other processes have changed it"):
        put(store, "a", b"2")


# Where a process is killed, and whether the new value stands then.
CRASHES = {"write": False, "rename": False, "renamed": True}


@pytest.mark.parametrize("place", CRASHES)
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_killed_writer_leaves_the_old_value_or_the_new_one(
    tmp_path: Path, place: str, before: bytes | None
) -> None:
    store, new = LocalStore(tmp_path), b"new" * 1000
    if before is not None:
        put(store, "b/c", before)

    assert start_another(tmp_path, place).wait() == -signal.SIGKILL
    found = store.get("b/c")
    assert (found.data if found else None) == (new if CRASHES[place] else before)
    assert keys(store) == ([] if before is None and not CRASHES[place] else ["b/c"])
    # Its lock died with it, and what it left is of a process that is gone.
    assert put(store, "b/c", b"next") is True
    remove_unfinished(tmp_path, lambda _: False)
    assert [*tmp_path.rglob(f"{TEMPORARY_PREFIX}*")] == []
    assert keys(store, "b/") == ["b/c"]


@pytest.mark.parametrize("key", ["", "/a", "a/", "a//b", "../a", "a/../b", ".tmp-1", "a/.b", "a\0"])
def test_what_leads_out_of_the_store_or_is_hidden_is_no_key(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="cannot be a key"):
        LocalStore(tmp_path).get(key)


def test_a_folder_is_no_value_and_what_is_hidden_is_not_listed(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    put(store, "a/b", b"1")
    (tmp_path / "a" / ".nfs01").touch()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "b").touch()
    assert keys(store) == ["a/b"]
    assert store.find("a") is None
    assert store.get("a/b/c") is None
    assert store.delete("a") is False
    assert store.delete("x/y") is False
    assert store.put_if_unchanged("x/y", b"1", "0" * 64) is None
    assert not (tmp_path / "x").exists()


def test_what_the_machine_refuses_is_told_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StorageError, match=r"a: cannot be written: its disk is read-only"):
        put(LocalStore(tmp_path), "a", b"1")
    assert keys(LocalStore(tmp_path)) == []


def test_a_disk_without_locks_of_folders_gets_a_lock_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock

    def refuse_folders(handle: int, operation: int) -> None:
        if Path(f"/proc/self/fd/{handle}").is_dir():
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", refuse_folders)
    store = LocalStore(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(count, store) for _ in range(2)]:
            done.result()
    found = store.get("deep/counter")
    assert found is not None
    assert found.data == b"50"
    assert keys(store) == ["deep/counter"]


def test_a_star_stands_for_anything_within_one_part(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    for key in ("d/a.json", "d/b.json", "d/c.txt", "d/e/a.json", "d.json"):
        put(store, key, b"1")
    (tmp_path / "d" / ".h.json").touch()
    assert [each.key for each in match_keys(store, "d/*.json")] == ["d/a.json", "d/b.json"]
    assert [each.key for each in match_keys(store, "*/*/a.json")] == ["d/e/a.json"]
    assert [each.key for each in match_keys(store, "d.json")] == ["d.json"]
    assert match_keys(store, "x/*") == []


def test_a_folder_goes_with_what_is_hidden_in_it_and_was_counted(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    put(store, "a/b/c", b"123")
    put(store, "a/d", b"4")
    (tmp_path / "a" / "b" / f"{TEMPORARY_PREFIX}1-00000000").write_bytes(b"56")
    assert store.used("a") == 6
    assert store.used("x") == 0
    store.delete_folder("a/b")
    assert keys(store) == ["a/d"]
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["d"]


@pytest.mark.parametrize("broken", ["get", "delete", "find", "list"])
def test_a_value_that_cannot_be_looked_at_is_told_and_never_taken_for_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    store = LocalStore(tmp_path)
    put(store, "b/c", b"1")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    if broken == "list":
        monkeypatch.setattr(os, "scandir", refuse)
    else:
        place = {"get": "read_bytes", "delete": "unlink", "find": "stat"}[broken]
        monkeypatch.setattr(Path, place, refuse)
    asked: dict[str, Callable[[], object]] = {
        "get": lambda: store.get("b/c"),
        "delete": lambda: store.delete("b/c"),
        "find": lambda: store.find("b/c"),
        "list": lambda: keys(store, "b/"),
    }
    with pytest.raises(StorageError, match="cannot be"):
        asked[broken]()
