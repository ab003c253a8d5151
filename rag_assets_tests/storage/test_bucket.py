"""What holds of every place for objects: moto, SeaweedFS, and the memory that other tests use."""

import os
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rag_assets.model import ConfigurationError, StorageError
from rag_assets.storage import s3, s3_uploads, update
from rag_assets.storage.bucket import WHATEVER, Bucket
from rag_assets.storage.s3 import S3Bucket, open_bucket
from rag_assets_tests.storage.faults import Fault, failing
from rag_assets_tests.storage.memory_bucket import MemoryBucket
from rag_assets_tests.storage.object_servers import ObjectServer, fresh_url, using

# Names that servers sort, escape or take apart in ways of their own.
KEYS = ("a", "a b", "a+b%20c", "b-d", "b/.hidden", "b/c", "b/c.parquet", "b/d/e", "q?=&#", "叶/片")
PREFIXES = ("", "a", "b", "b/", "b/c", "b/d/", "b/x/", "叶/", "z")


@pytest.fixture(params=["memory", "moto", "seaweedfs"])
def bucket(request: pytest.FixtureRequest) -> Iterator[Bucket]:
    if request.param == "memory":
        yield MemoryBucket()
        return
    with using(request.getfixturevalue(f"{request.param}_server")):
        yield open_bucket(fresh_url())


def keys(bucket: Bucket, prefix: str = "") -> list[str]:
    return [each.key for each in bucket.list(prefix)]


@pytest.mark.parametrize("seed", range(2))
def test_a_bucket_is_a_dictionary_whose_writers_must_know_what_they_replace(
    bucket: Bucket, tmp_path: Path, seed: int
) -> None:
    dice, model, versions = random.Random(seed), dict[str, bytes](), dict[str, set[str]]()
    for number in range(40):
        key, data = dice.choice(KEYS), dice.choice((b"", b"1", b"\x00\xff" * number))
        held = bucket.get(key)
        assert (held.data if held else None) == model.get(key)
        current = held.version if held else None
        versions.setdefault(key, set()).update({current} - {None})
        match dice.choice(("absent", "unchanged", "stale", "whatever", "copy", "delete")):
            case "absent":
                assert (bucket.put(key, data, None) is not None) == (key not in model)
                model.setdefault(key, data)
            case "unchanged" if current:
                written = bucket.put(key, data, current)
                model[key] = data
                found = bucket.find(key)
                assert found is not None
                assert (found.key, found.size, found.version) == (key, len(data), written)
            case "stale":
                for version in versions[key] - {current}:
                    assert bucket.put(key, data, version) is None
            case "whatever":
                (tmp_path / "content").write_bytes(data)
                assert bucket.put(key, tmp_path / "content", WHATEVER)
                model[key] = data
            case "copy":
                source = dice.choice([each for each in KEYS if each != key])
                assert bucket.copy(source, key) == (source in model)
                model |= {key: model[source]} if source in model else {}
                copied = bucket.get(key)
                assert (copied.data if copied else None) == model.get(key)
            case "delete":
                bucket.delete(key)
                model.pop(key, None)
    for prefix in PREFIXES:
        listed = [(each.key, each.size) for each in bucket.list(prefix)]
        assert listed == sorted((k, len(v)) for k, v in model.items() if k.startswith(prefix))
    for each in bucket.list(""):
        assert bucket.find(each.key) == each


def test_a_known_version_is_not_fetched_again(bucket: Bucket, tmp_path: Path) -> None:
    target = tmp_path / "target"
    assert bucket.download("a", target) is None
    assert bucket.download("a", target, known="0") is None
    first = bucket.put("a", b"first" * 1000, None)
    assert bucket.download("a", target) == first
    assert target.read_bytes() == b"first" * 1000
    target.unlink()
    assert bucket.download("a", target, first) == first
    assert not target.exists()
    second = bucket.put("a", b"second", first)
    assert bucket.download("a", target, first) == second
    assert target.read_bytes() == b"second"


@pytest.mark.parametrize("is_first", [True, False])
def test_of_many_writers_one_wins(
    bucket: Bucket, is_first: bool, request: pytest.FixtureRequest
) -> None:
    # SeaweedFS lets whoever meets a lock of another put wait for a second: fewer suffice there.
    writers, rounds = (4, 6) if "seaweedfs" in request.node.name else (8, 10)
    with ThreadPoolExecutor(writers) as pool:
        for number in range(rounds):
            key, start = f"race/{number}", threading.Barrier(writers)
            before = None if is_first else bucket.put(key, b"before", None)
            assert is_first or before

            def write(
                who: int,
                key: str = key,
                before: str | None = before,
                start: threading.Barrier = start,
            ) -> str | None:
                start.wait()
                return bucket.put(key, f"by {who}".encode(), before)

            won = list(pool.map(write, range(writers)))
            (winner,) = [who for who, version in enumerate(won) if version is not None]
            found = bucket.get(key)
            assert found is not None
            assert (found.data, found.version) == (f"by {winner}".encode(), won[winner])


class AsStore:
    """What `update` asks of a store, of a bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.get = bucket.get

    def put_if_absent(self, key: str, data: bytes) -> str | None:
        return self._bucket.put(key, data, None)

    def put_if_unchanged(self, key: str, data: bytes, version: str) -> str | None:
        return self._bucket.put(key, data, version)

    def place(self, key: str) -> Any:
        return self._bucket.describe(key)


def count(bucket: Bucket, times: int) -> None:
    for _ in range(times):
        update(
            AsStore(bucket),  # type: ignore[arg-type]
            "deep/counter",
            lambda data: str(int(data or b"0") + 1).encode(),
        )


COUNT = """
import sys
from rag_assets.storage.s3 import open_bucket
from rag_assets_tests.storage.test_bucket import count
count(open_bucket(sys.argv[1]), int(sys.argv[2]))
"""


def test_no_change_is_lost_between_processes(bucket_url: str) -> None:
    command = [sys.executable, "-c", COUNT, bucket_url, "20"]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    found = open_bucket(bucket_url).get("deep/counter")
    assert found is not None
    assert found.data == b"60"


@pytest.fixture
def s3_bucket(bucket_url: str) -> S3Bucket:
    return open_bucket(bucket_url)


def with_pages_of(bucket: S3Bucket, number: int) -> S3Bucket:
    events = bucket._server._client.meta.events
    events.register(
        "provide-client-params.s3.ListObjectsV2", lambda params, **_: {**params, "MaxKeys": number}
    )
    return bucket


def test_a_listing_of_many_pages_is_whole_and_sorted(s3_bucket: S3Bucket) -> None:
    for key in KEYS:
        s3_bucket.put(key, b"1", WHATEVER)
    for size in (1, 3):
        assert keys(with_pages_of(s3_bucket, size)) == sorted(KEYS)
        assert keys(s3_bucket, "b") == ["b-d", "b/.hidden", "b/c", "b/c.parquet", "b/d/e"]


def test_a_listing_shows_no_folder_of_a_console_and_no_probe(
    s3_bucket: S3Bucket, bucket_url: str, object_server: ObjectServer
) -> None:
    s3_bucket.put("a", b"1", None)
    name, _, prefix = bucket_url.removeprefix("s3://").partition("/")
    object_server.client().put_object(Bucket=name, Key=f"{prefix}/folder/", Body=b"")
    assert keys(s3_bucket) == ["a"]


def test_a_large_file_goes_in_parts(
    s3_bucket: S3Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (s3, s3_uploads):  # the smallest that S3 takes
        monkeypatch.setattr(module, "PART_BYTES", 5 * 1024**2)
    data = random.Random(1).randbytes(11 * 1024**2)
    (tmp_path / "large").write_bytes(data)
    version = s3_bucket.put("large", tmp_path / "large", WHATEVER)
    found = s3_bucket.find("large")
    assert found is not None
    assert (found.size, found.version) == (len(data), version)
    assert s3_bucket.download("large", tmp_path / "again") == version
    assert (tmp_path / "again").read_bytes() == data
    assert s3_bucket.put("large", b"small", version)


def test_an_object_of_another_program_is_read_and_replaced(
    s3_bucket: S3Bucket, bucket_url: str, object_server: ObjectServer
) -> None:
    name, _, prefix = bucket_url.removeprefix("s3://").partition("/")
    object_server.client().put_object(Bucket=name, Key=f"{prefix}/a", Body=b"theirs")
    found = s3_bucket.get("a")
    assert found is not None
    assert found.data == b"theirs"
    assert s3_bucket.put("a", b"ours", found.version)


def test_a_file_that_is_too_large_for_one_request_is_refused_before_it_is_sent(
    s3_bucket: S3Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "MOST_PUT_BYTES", 4)
    (tmp_path / "large").write_bytes(b"12345")
    with pytest.raises(StorageError, match=r"s3://.*/a: .* 5 GiB in one request.* `hex_digits`"):
        s3_bucket.put("a", tmp_path / "large", None)
    assert keys(s3_bucket) == []


@pytest.mark.parametrize("key", ["", "/a", "a/", "a//b", "a/../b", "."])
def test_what_cannot_be_a_key_is_refused(s3_bucket: S3Bucket, key: str) -> None:
    for ask in (s3_bucket.get, s3_bucket.find, s3_bucket.delete):
        with pytest.raises(ValueError, match="cannot be a key"):
            ask(key)


def test_a_pickle_opens_the_same_place(s3_bucket: S3Bucket) -> None:
    s3_bucket.put("a", b"1", None)
    copy = pickle.loads(pickle.dumps(s3_bucket))  # noqa: S301
    assert keys(copy) == ["a"]
    assert copy.describe("a") == s3_bucket.describe("a")


def test_a_fork_does_not_share_the_connections_of_its_parent(
    s3_bucket: S3Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = s3_bucket._server._connected()
    assert s3_bucket._server._connected() is client
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert s3_bucket._server._connected() is not client


def operations(bucket: S3Bucket, folder: Path) -> list[Callable[[], object]]:
    return [
        lambda: bucket.get("a"),
        lambda: bucket.find("a"),
        lambda: bucket.download("a", folder / "a"),
        lambda: bucket.put("a", b"", None),
        lambda: bucket.put("a", b"", "0"),
        lambda: bucket.put("a", b"", WHATEVER),
        lambda: keys(bucket),
        lambda: bucket.delete("a"),
    ]


def test_a_bucket_that_is_not_there_is_an_error_of_every_operation(
    object_server: ObjectServer, tmp_path: Path
) -> None:
    for ask in operations(open_bucket("s3://nowhere/x"), tmp_path):
        with pytest.raises(StorageError, match=r"^s3://nowhere/x/\S*: .*such (a )?bucket"):
            ask()


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("AWS_ACCESS_KEY_ID", r"does not take these keys \(InvalidAccessKeyId\)"),
        ("AWS_SECRET_ACCESS_KEY", r"does not take these keys \(SignatureDoesNotMatch\)"),
    ],
)
def test_wrong_keys_are_named_and_never_shown(
    seaweedfs_server: ObjectServer, monkeypatch: pytest.MonkeyPatch, variable: str, said: str
) -> None:
    with using(seaweedfs_server):
        monkeypatch.setenv(variable, "wrong-and-secret")
        with pytest.raises(StorageError, match=said) as raised:
            open_bucket(fresh_url()).get("a")
    for text in ("wrong-and-secret", seaweedfs_server.secret):
        assert text not in str(raised.value)


def test_a_machine_without_keys_is_told_which_to_set(
    seaweedfs_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with using(seaweedfs_server):
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        with pytest.raises(StorageError, match=r"no keys for .* Set AWS_ACCESS_KEY_ID and"):
            open_bucket(fresh_url()).get("a")


def test_a_server_that_cannot_be_reached_is_tried_five_times(moto_server: ObjectServer) -> None:
    waits = list[float]()
    with using(moto_server, "http://127.0.0.1:1"):
        bucket = S3Bucket("tests", "x", waits.append)
        with pytest.raises(StorageError, match=r"^s3://tests/x/a: http://127.0.0.1:1 failed 5 tim"):
            bucket.get("a")
    assert len(waits) == 4
    assert sum(waits) < 3


def test_a_clock_that_is_off_is_said_to_be(
    moto_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from botocore.exceptions import ClientError

    answer = {
        "Error": {"Code": "RequestTimeTooSkewed", "Message": "The difference is too large."},
        "ResponseMetadata": {"HTTPStatusCode": 403},
    }

    def refuse(*_: object, **__: object) -> None:
        raise ClientError(answer, "GetObject")  # type: ignore[arg-type]

    with using(moto_server):
        bucket = open_bucket(fresh_url())
        monkeypatch.setattr(bucket._server, "ask", refuse)
        with pytest.raises(StorageError, match="refuses this machine's clock"):
            bucket.get("a")


@pytest.mark.parametrize(
    "url", ["s3://", "s3:///x", "http://a/b", "s3://user:secret@a/b", "s3://a/b?c=d", "s3://a/b//c"]
)
def test_what_is_no_place_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="s3://bucket/prefix") as raised:
        open_bucket(url)
    assert "secret" not in str(raised.value).partition(": a place")[0]


def test_an_address_that_is_none_is_refused(moto_server: ObjectServer) -> None:
    with using(moto_server, "no address"), pytest.raises(ConfigurationError, match="ENDPOINT_URL"):
        open_bucket("s3://a/b")


def test_without_the_extra_the_command_that_installs_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ConfigurationError, match=r"`pip install 'rag-assets\[s3\]'`"):
        open_bucket("s3://a/b")


def test_a_server_that_knows_no_conditions_is_refused_by_writers_alone(
    moto_server: ObjectServer,
) -> None:
    with failing(moto_server.url) as server, using(moto_server, server.url):
        server.plan = lambda request: Fault.WITHOUT_CONDITIONS
        bucket = open_bucket(fresh_url())
        assert bucket.get("a") is None
        with pytest.raises(StorageError, match="stores objects whatever their condition"):
            bucket.put("a", b"1", None)
        assert keys(bucket) == []


def test_a_server_that_only_knows_the_condition_of_a_first_put_is_refused(
    moto_server: ObjectServer,
) -> None:
    with failing(moto_server.url) as server, using(moto_server, server.url):
        server.plan = lambda request: (
            Fault.WITHOUT_CONDITIONS if "if-match" in request.headers else None
        )
        with pytest.raises(StorageError, match="stores objects whatever their condition"):
            open_bucket(fresh_url()).put("a", b"1", None)


def test_each_operation_is_one_request(object_server: ObjectServer, tmp_path: Path) -> None:
    with failing(object_server.url) as server, using(object_server, server.url):
        url = fresh_url()
        bucket = open_bucket(url)
        first = bucket.put("a", b"1", None)
        assert len(server.requests) == 4  # three look, once a process, whether conditions hold
        second = bucket.put("a", b"2", first)
        assert bucket.put("b", b"2", WHATEVER)
        bucket.get("a"), bucket.find("a"), bucket.download("a", tmp_path / "a", second)
        keys(bucket), bucket.delete("b")
        assert len(server.requests) == 4 + 7
        open_bucket(url).put("a", b"3", second)  # which asks first what it replaces
        assert len(server.requests) == 4 + 7 + 2
        assert bucket.put("a", b"4", second) is None  # and looks whether it was its own doing
        assert len(server.requests) == 4 + 7 + 2 + 2
