"""Files of a workspace that is the cache of a bucket: never blindly written, never asked twice."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from rag_assets.model import DamagedFileError, LockedError, StorageError
from rag_assets.storage import (
    DERIVED_LOCKS,
    Computed,
    Entry,
    LocalStore,
    build_folder,
    current_folder,
    hold_lock,
    is_complete,
    list_publications,
    match_keys,
    mount_store,
    mount_told,
    point_at,
    put,
    read_entries,
    read_manifest,
    read_pointer,
    read_rows,
    refresh_record,
    remove_unfinished,
    replace_file,
    retire_publications,
    told_mount,
    update,
    write_manifest,
)
from rag_assets_tests.storage.buckets import URL, Killed, WatchedBucket, watched_bucket

SCHEMA = pa.schema([("content_hash", pa.string()), ("text", pa.string())])
RECORD = "data/lib/chunks/0.parquet"
PARSE = "data/lib/parsed/0/abc.parquet"


@pytest.fixture
def bucket() -> Iterator[WatchedBucket]:
    with watched_bucket() as found:
        yield found


@pytest.fixture
def here(tmp_path: Path, bucket: WatchedBucket) -> Iterator[Path]:
    yield from machine(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path, bucket: WatchedBucket) -> Iterator[Path]:
    yield from machine(tmp_path / "there")


def machine(root: Path) -> Iterator[Path]:
    root.mkdir()
    mount_store(root, URL)
    yield root
    mount_store(root, None)


def refresh(root: Path, wanted: dict[str, str], during: object = None) -> None:
    def compute(stale: list[str]) -> Iterator[Computed]:
        if callable(during):
            during()
        for content in stale:
            rows = pa.table({"content_hash": [content], "text": [wanted[content]]}, SCHEMA)
            yield content, Entry(wanted[content], wanted[content], 1), rows

    lock = root.joinpath(*DERIVED_LOCKS, "lib.chunks.0.lock")
    refresh_record(root / RECORD, lock, SCHEMA, wanted, tuple, compute, lambda _: None)


def texts(root: Path) -> list[str]:
    return sorted(read_rows(root / RECORD, SCHEMA, None)["text"].to_pylist())


def publish(root: Path, name: str, text: str = "one") -> Path:
    folder = root / "index" / "lib"

    def build(temporary: Path) -> None:
        (temporary / "chunks.lance" / "data").mkdir(parents=True)
        (temporary / "chunks.lance" / "data" / "a.lance").write_text(text)
        (temporary / "catalogue.duckdb").write_text(f"catalogue of {text}")
        write_manifest(temporary, {"publication": name, "created_at": 1.0})

    build_folder(folder, name, build)
    point_at(folder, name, {"inventory": text})
    return folder


def test_a_record_is_seen_by_another_machine_and_fetched_once(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    refresh(here, {"a": "first"})
    assert texts(there) == ["first"]
    refresh(here, {"a": "second"})
    assert texts(there) == ["second"]
    bucket.sent.clear()
    assert texts(there) == ["second"]
    assert read_entries(there / RECORD)["a"].fingerprint == "second"
    assert bucket.sent == {}


def test_what_is_unchanged_is_neither_put_nor_locked(here: Path, bucket: WatchedBucket) -> None:
    refresh(here, {"a": "first"})
    bucket.requests.clear()
    refresh(here, {"a": "first"})
    assert bucket.requests == {"download": 1}


def test_a_record_that_another_wrote_though_it_was_locked_is_not_overwritten(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    refresh(here, {"a": "first"})

    def steal() -> None:
        """Write from another machine, to which the lease seemed to have ended."""
        (lease,) = [key for key in bucket._objects if key.startswith("locks/")]
        bucket._objects.pop(lease)
        refresh(there, {"a": "first", "b": "theirs"})

    with pytest.raises(LockedError, match="another process has written it"):
        refresh(here, {"a": "first", "c": "ours"}, steal)
    assert texts(here) == texts(there) == ["first", "theirs"]
    refresh(here, {"a": "first", "b": "theirs", "c": "ours"})
    assert texts(there) == ["first", "ours", "theirs"]


def test_a_reader_that_fetches_meanwhile_does_not_change_what_a_writer_replaces(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    """Two processes share the cache; one refreshes the copy while the other holds the lease."""
    refresh(here, {"a": "first"})

    def steal() -> None:
        (lease,) = [key for key in bucket._objects if key.startswith("locks/")]
        bucket._objects.pop(lease)
        refresh(there, {"a": "first", "b": "theirs"})
        from threading import Thread

        reader = Thread(target=texts, args=(here,))
        reader.start()
        reader.join()

    with pytest.raises(LockedError):
        refresh(here, {"a": "first", "c": "ours"}, steal)
    assert texts(there) == ["first", "theirs"]


@pytest.mark.parametrize("when", ["asked", "answered"])
def test_a_writer_that_dies_at_its_put_leaves_a_whole_record(
    here: Path, there: Path, bucket: WatchedBucket, when: str
) -> None:
    refresh(here, {"a": "first"})

    def die(operation: str, key: str) -> None:
        if (operation, key) == ("put", RECORD):
            raise Killed

    setattr(bucket, when, die)
    with pytest.raises(Killed):
        refresh(here, {"a": "second"})
    setattr(bucket, when, lambda operation, key: None)
    left = ["second"] if when == "answered" else ["first"]
    assert texts(here) == texts(there) == left
    refresh(here, {"a": "second"})
    assert texts(there) == ["second"]


@pytest.mark.parametrize("damage", ["gone", "cut", "another", "note gone", "note cut"])
def test_a_copy_of_which_nothing_is_known_is_fetched(
    here: Path, bucket: WatchedBucket, damage: str
) -> None:
    refresh(here, {"a": "first"})
    path = here / RECORD
    note = path.parent / ".versions" / f"{path.name}.json"
    if damage == "gone":
        path.unlink()
    elif damage.startswith("note"):
        note.write_text("{") if damage.endswith("cut") else note.unlink()
    else:
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data[:50] if damage == "cut" else b"P" * len(data))
    assert texts(here) == ["first"]
    refresh(here, {"a": "second"})
    assert texts(here) == ["second"]


def test_a_record_that_is_damaged_in_the_bucket_is_made_anew(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    refresh(here, {"a": "first"})

    def spoil(operation: str, key: str) -> None:
        if (operation, key) == ("download", RECORD):
            raise DamagedFileError("what came is not what had been stored")

    bucket.asked = spoil
    refresh(there, {"a": "first", "b": "second"})
    bucket.asked = lambda operation, key: None
    assert texts(here) == texts(there) == ["first", "second"]


def test_an_object_that_is_gone_is_gone_here_too(here: Path, bucket: WatchedBucket) -> None:
    refresh(here, {"a": "first"})
    bucket.delete(RECORD)
    assert read_entries(here / RECORD) == {}
    assert not (here / RECORD).exists()
    refresh(here, {"a": "second"})
    assert texts(here) == ["second"]


def test_what_its_key_names_is_asked_for_once_and_the_first_one_put_holds(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    for root, text in ((here, b"ours"), (there, b"theirs")):
        with replace_file(root / PARSE) as temporary:
            temporary.write_bytes(text)
    assert (there / PARSE).read_bytes() == b"ours"
    bucket.requests.clear()
    assert LocalStore(there).get(PARSE)
    assert LocalStore(there).find(PARSE)
    assert bucket.requests == {}


def test_a_damaged_object_is_replaced_by_who_made_it_anew(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    bucket.put(PARSE, b"damaged", None)
    assert LocalStore(here).get(PARSE)  # a copy of it, which its reader then refuses
    with replace_file(here / PARSE) as temporary:
        temporary.write_bytes(b"whole")
    assert LocalStore(there)._path(PARSE).exists() is False
    found = LocalStore(there).get(PARSE)
    assert found is not None
    assert found.data == b"whole"


def test_a_parse_that_gc_took_elsewhere_is_put_again_where_it_is_used_again(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    with replace_file(here / PARSE) as temporary:
        temporary.write_bytes(b"parse")
    LocalStore(there).delete(PARSE)
    assert LocalStore(here).find(PARSE, anew=True) is None
    LocalStore(here).renew(PARSE)
    assert LocalStore(there).get(PARSE)
    bucket.age(7200)
    before = LocalStore(here).find(PARSE, anew=True)
    LocalStore(here).renew(PARSE)
    after = LocalStore(here).find(PARSE, anew=True)
    assert before and after
    assert after.changed_at > before.changed_at + 3600


def test_small_values_lose_no_writer(here: Path, there: Path, bucket: WatchedBucket) -> None:
    key = "data/lib/notes.json"
    ours, theirs = LocalStore(here), LocalStore(there)
    put(ours, key, b"0")

    def change(data: bytes | None) -> bytes:
        if data == b"0":
            update(theirs, key, lambda found: (found or b"") + b" theirs")
        return (data or b"") + b" ours"

    update(ours, key, change)
    for store in (ours, theirs):
        found = store.get(key)
        assert found is not None
        assert found.data == b"0 theirs ours"


def test_a_small_value_is_changed_though_another_was_faster_under_a_lease(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    key = "index/lib/current.json"
    with hold_lock(here / "data" / "some.lock", "something", lambda _: None):
        put(LocalStore(here), key, b"0")
        put(LocalStore(there), key, b"1")
        update(LocalStore(here), key, lambda data: (data or b"") + b"2")
    found = LocalStore(there).get(key)
    assert found is not None
    assert found.data == b"12"


def test_listings_are_of_the_bucket_and_need_not_know_the_newest(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    put(LocalStore(here), "data/lib/a.json", b"1")
    bucket.stale = list(bucket.list(""))
    put(LocalStore(here), "data/lib/b.json", b"2")
    assert [each.key for each in match_keys(LocalStore(here), "data/lib/*.json")] == [
        "data/lib/a.json", "data/lib/b.json",
    ]  # fmt: skip
    assert [each.key for each in match_keys(LocalStore(there / "data"), "lib/*.json")] == [
        "lib/a.json"
    ]
    bucket.stale = None
    assert LocalStore(there).used("data/lib") == 2


def test_a_publication_is_fetched_whole_by_another_machine(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    publish(here, "p-1")
    folder = there / "index" / "lib"
    assert read_manifest(folder / "p-1")["publication"] == "p-1"
    assert not (folder / "p-1").exists(), "the manifest alone fetches nothing"
    found = current_folder(folder, "lib")
    assert (found / "chunks.lance" / "data" / "a.lance").read_text() == "one"
    bucket.requests.clear()
    current_folder(folder, "lib")
    assert bucket.requests == {"download": 1}, "the pointer alone is looked at"


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("when", ["asked", "answered"])
def test_a_publisher_that_dies_leaves_readers_the_publication_before(
    here: Path, there: Path, bucket: WatchedBucket, when: str, number: int
) -> None:
    """Two files, the list, the pointer: at each of them, and after none."""
    publish(here, "p-1")
    left = number

    def die(operation: str, key: str) -> None:
        nonlocal left
        left -= operation == "put"
        if left < 0:
            raise Killed

    setattr(bucket, when, die)
    if number < 4:
        with pytest.raises(Killed):
            publish(here, "p-2", "two")
    else:
        publish(here, "p-2", "two")
    setattr(bucket, when, lambda operation, key: None)
    is_switched = number == 4 or (number, when) == (3, "answered")
    for root in (here, there):
        found = current_folder(root / "index" / "lib", "lib")
        assert found.name == ("p-2" if is_switched else "p-1")
        assert (found / "catalogue.duckdb").is_file()
    publish(here, "p-2", "two")
    assert current_folder(there / "index" / "lib", "lib").name == "p-2"


def test_files_that_were_never_listed_go_when_they_are_old(
    here: Path, bucket: WatchedBucket
) -> None:
    def die(operation: str, key: str) -> None:
        if key.endswith(".json"):
            raise Killed

    bucket.asked = die
    with pytest.raises(Killed):
        publish(here, "p-1")
    bucket.asked = lambda operation, key: None
    assert len(bucket.keys("index/lib/p-1/")) == 2
    folder = here / "index" / "lib"
    assert remove_unfinished(folder, lambda _: True) == ()
    bucket.age(2 * 24 * 3600)
    assert remove_unfinished(folder, lambda _: True) == (f"{URL}/index/lib/p-1/",)
    assert bucket.keys() == set()


def test_a_publication_whose_files_are_another_is_not_read(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    publish(here, "p-1")
    key = min(bucket.keys("index/lib/p-1/"))
    bucket._objects[key] = bucket._objects[key][0][::-1], 0.0  # of the same size
    folder = there / "index" / "lib"
    with pytest.raises(StorageError, match="rag index"):
        current_folder(folder, "lib")
    assert not (folder / "p-1").exists()
    # Whoever builds it there puts it whole again.
    assert is_complete(folder, "p-1") is False
    publish(there, "p-1")
    assert current_folder(folder, "lib").name == "p-1"


def test_retired_publications_go_in_the_bucket_and_in_every_cache(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    folder, other = publish(here, "p-1"), there / "index" / "lib"
    assert current_folder(other, "lib").name == "p-1"
    bucket.stale = list(bucket.list(""))  # a listing that knows p-1 for ever
    publish(here, "p-2", "two")
    assert retire_publications(folder, keep=1, keep_hours=0.0) == ("p-1",)
    assert {key.split("/")[2] for key in bucket.keys("index/")} == {
        "p-2", "publications", "current.json",
    }  # fmt: skip
    assert list_publications(folder) == ["p-2"]
    assert is_complete(other, "p-1") is False, "a copy alone is none: it must not be pointed at"
    assert current_folder(other, "lib").name == "p-2"
    assert list_publications(other) == ["p-2"]
    assert not (other / "p-1").exists()


def test_locks_of_derived_files_are_leases_and_all_others_are_files(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    derived = "/".join((*DERIVED_LOCKS, "lib.chunks.0.lock"))
    with hold_lock(here / derived, "a record", lambda _: None):
        with (
            pytest.raises(LockedError),
            hold_lock(there / derived, "a record", lambda _: None, seconds=0),
        ):
            pytest.fail("two machines hold one lock")
        asked = bucket.requests.total()
        for lock in ("meta/locks/lib.inventory.lock", "meta/locks/outputs.lock"):
            with hold_lock(here / lock, "the inventory", lambda _: None, seconds=0):
                assert (here / lock).is_file()
        assert bucket.requests.total() == asked
    assert not (here / derived).exists()


def test_leases_of_jobs_go_when_they_are_old(here: Path, bucket: WatchedBucket) -> None:
    with hold_lock(here / "data/lib/parsed/0/.abc.lock", "a job", lambda _: None):
        bucket.age(23 * 3600)
        remove_unfinished(here / "data" / "lib", lambda _: True)
    lease = "locks/data/lib/parsed/0/.abc.lock"
    assert bucket.find(lease)
    bucket.age(2 * 24 * 3600)
    remove_unfinished(here / "data" / "lib", lambda _: True)
    assert bucket.find(lease) is None


def test_a_laboratory_stays_on_its_machine(here: Path, bucket: WatchedBucket) -> None:
    for _ in range(2):
        with replace_file(here / "data" / "lab" / "worker.json") as temporary:
            temporary.write_text("{}")
    assert bucket.requests == {}
    assert (here / "data" / "lab" / "worker.json").read_text() == "{}"


def test_a_large_value_is_filled_whatever_its_key_has(
    here: Path, there: Path, bucket: WatchedBucket
) -> None:
    for root in (here, there, here):
        with LocalStore(root).filling("data/lib/answers/abc-1/pages.zip") as stream:
            stream.write(root.name.encode())
    with LocalStore(there).reading("data/lib/answers/abc-1/pages.zip") as stream:
        assert stream.read() == b"here"


def test_what_a_library_had_before_is_put_there_once(
    tmp_path: Path, there: Path, bucket: WatchedBucket
) -> None:
    root = tmp_path / "library"
    refresh(root, {"a": "first"})
    with replace_file(root / PARSE) as temporary:
        temporary.write_bytes(b"parse")
    publish(root, "p-1")
    assert bucket.keys() == set()
    mount_store(root, URL)

    def die(operation: str, key: str) -> None:
        if (operation, key) == ("put", PARSE):
            raise Killed

    bucket.asked = die
    with pytest.raises(Killed):
        read_entries(root / RECORD)
    bucket.asked = lambda operation, key: None
    assert read_entries(root / RECORD).keys() == {"a"}
    assert bucket.sent == {}, "nothing of it is fetched"
    assert texts(there) == ["first"]
    assert LocalStore(there).get(PARSE)
    assert current_folder(there / "index" / "lib", "lib").name == "p-1"
    mount_store(root, None)
    mount_store(root, URL)
    bucket.requests.clear()
    read_entries(root / RECORD)
    assert bucket.requests == {"download": 1}
    mount_store(root, None)


def test_what_a_library_had_gives_way_to_what_the_bucket_has(
    tmp_path: Path, there: Path, bucket: WatchedBucket
) -> None:
    root = tmp_path / "library"
    refresh(root, {"a": "old"})
    publish(root, "p-old", "old")
    refresh(there, {"a": "new"})
    publish(there, "p-new", "new")
    mount_store(root, URL)
    assert texts(root) == ["new"]
    assert current_folder(root / "index" / "lib", "lib").name == "p-new"
    pointer = read_pointer(there / "index" / "lib")
    assert pointer is not None
    assert [entry.publication for entry in pointer.history] == ["p-new"]
    mount_store(root, None)


def test_a_bucket_that_cannot_be_reached_is_no_damage(here: Path, bucket: WatchedBucket) -> None:
    refresh(here, {"a": "first"})

    def refuse(operation: str, key: str) -> None:
        raise StorageError("the server does not answer")

    bucket.asked = refuse
    for read in (texts, lambda root: read_entries(root / RECORD)):
        with pytest.raises(StorageError, match="does not answer"):
            read(here)
    with pytest.raises(StorageError, match="does not answer"):
        refresh(here, {"a": "second"})
    bucket.asked = lambda operation, key: None
    assert texts(here) == ["first"]


def test_a_worker_elsewhere_is_told_what_a_folder_is(tmp_path: Path, here: Path) -> None:
    told = told_mount(here / "data" / "lib" / "parsed")
    mount_store(here, None)
    assert told_mount(here / "data" / "lib" / "parsed") is None
    mount_told(json.loads(json.dumps(told)))
    assert told_mount(here / "data" / "lib" / "parsed") == told
    assert told_mount(tmp_path / "elsewhere" / "data") is None
