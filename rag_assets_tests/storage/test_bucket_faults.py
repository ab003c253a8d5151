"""Objects while the network and the server fail: a put that won is never told as lost, nor the
other way round, and nothing is lost or doubled.
"""

import base64
import hashlib
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest

from rag_assets.model import DamagedFileError, LockedError, StorageError
from rag_assets.storage import s3, s3_server, s3_uploads, update
from rag_assets.storage.bucket import WHATEVER
from rag_assets.storage.s3 import S3Bucket, open_bucket
from rag_assets.storage.s3_server import TRIES
from rag_assets_tests.storage.faults import (
    AMBIGUOUS,
    Fault,
    FaultyServer,
    Request,
    failing,
    in_turn,
)
from rag_assets_tests.storage.object_servers import ObjectServer, fresh_url, using
from rag_assets_tests.storage.test_bucket import AsStore, keys, with_pages_of


@pytest.fixture
def server(object_server: ObjectServer) -> Iterator[FaultyServer]:
    """Return each object server behind one that fails."""
    with failing(object_server.url) as server, using(object_server, server.url):
        yield server


@pytest.fixture
def bucket(server: FaultyServer) -> S3Bucket:
    """Return a bucket that has seen already that its server heeds conditions."""
    bucket = opened(fresh_url())
    bucket.put("proven", b"", None)
    return bucket


@pytest.fixture
def another(object_server: ObjectServer, bucket: S3Bucket) -> S3Bucket:
    """Return what a machine would open for which the network does not fail."""
    with using(object_server):
        return copy_of(bucket)


def opened(url: str) -> S3Bucket:
    """Return a bucket that does not wait between its tries."""
    name, _, prefix = url.removeprefix("s3://").partition("/")
    return S3Bucket(name, prefix.strip("/"), lambda seconds: None)


def copy_of(bucket: S3Bucket) -> S3Bucket:
    """Return what another machine would open."""
    return opened(bucket.describe(""))


def content(bucket: S3Bucket, key: str) -> bytes | None:
    found = bucket.get(key)
    return found.data if found else None


def put_theirs(another: S3Bucket, key: str, data: bytes) -> None:
    found = another.get(key)
    assert another.put(key, data, found.version if found else None)


def puts(request: Request) -> bool:
    return request.is_conditional and not request.is_probe


@pytest.mark.parametrize("is_first", [True, False])
def test_a_put_that_won_says_so_whatever_became_of_its_answers(
    server: FaultyServer, bucket: S3Bucket, is_first: bool
) -> None:
    for number, faults in enumerate(product((None, *AMBIGUOUS), AMBIGUOUS)):
        key = f"{number}"
        before = None if is_first else bucket.put(key, b"before", None)
        server.plan = in_turn(*faults[::-1], only=puts)
        assert bucket.put(key, b"after", before), faults
        assert content(bucket, key) == b"after", faults
        server.plan = lambda request: None


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("fault", [None, *AMBIGUOUS])
def test_a_put_that_another_was_faster_than_says_so(
    server: FaultyServer, bucket: S3Bucket, another: S3Bucket, is_first: bool, fault: Fault | None
) -> None:
    """The other is faster than the first try, or than the second after the first was lost."""
    applied = fault in {Fault.CUT_AFTER, Fault.FAIL_AFTER}
    for turn in (0, 1) if fault and not applied else (0,):
        key, tries = f"{turn}", list[Request]()
        before = None if is_first else bucket.put(key, b"before", None)

        def plan(
            request: Request, key: str = key, tries: list[Request] = tries, turn: int = turn
        ) -> Fault | None:
            if not puts(request):
                return None
            if len(tries) == turn:
                put_theirs(another, key, b"theirs")
            tries.append(request)
            return fault if len(tries) == 1 else None

        server.plan = plan
        assert bucket.put(key, b"ours", before) is None
        assert content(bucket, key) == b"theirs"


@pytest.mark.parametrize("fault", [Fault.CUT_AFTER, Fault.FAIL_AFTER])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("others", [1, 5])
def test_a_put_that_won_and_was_replaced_before_it_knew_has_won(
    server: FaultyServer,
    bucket: S3Bucket,
    another: S3Bucket,
    fault: Fault,
    is_first: bool,
    others: int,
) -> None:
    before = None if is_first else bucket.put("a", b"before", None)
    tries = list[Request]()

    def plan(request: Request) -> Fault | None:
        if not puts(request):
            return None
        for number in range(others if tries else 0):
            put_theirs(another, "a", f"theirs {number}".encode())
        tries.append(request)
        return fault if len(tries) == 1 else None

    server.plan = plan
    assert bucket.put("a", b"ours", before)
    assert content(bucket, "a") == f"theirs {others - 1}".encode()


def test_a_first_put_is_told_apart_however_often_the_object_was_replaced(
    server: FaultyServer, bucket: S3Bucket
) -> None:
    version = bucket.put("a", b"first", None)
    for number in range(70):
        version = bucket.put("a", f"{number}".encode(), version)
    for fault in (Fault.REFUSE_500, Fault.CUT_AFTER):
        server.plan = in_turn(fault, only=puts)
        assert bucket.put("a", b"late", None) is None
    stored = bucket._head("a")["Metadata"]
    assert sum(len(name) + len(text) for name, text in stored.items()) < 1024  # of 2048


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_put_that_nobody_can_tell_the_fate_of_is_an_error(
    server: FaultyServer, bucket: S3Bucket, another: S3Bucket, is_deleted: bool
) -> None:
    """Deleted, or replaced by somebody who keeps no account of it."""
    before, tries = bucket.put("a", b"before", None), list[Request]()

    def plan(request: Request) -> Fault | None:
        if not puts(request):
            return None
        if tries and is_deleted:
            another.delete("a")
        elif tries:
            another.put("a", b"theirs", WHATEVER)
        tries.append(request)
        return Fault.CUT_AFTER if len(tries) == 1 else None

    server.plan = plan
    with pytest.raises(StorageError, match="answer was lost, and what is there now does not"):
        bucket.put("a", b"ours", before)
    assert len(tries) == 2


def test_a_put_that_is_applied_late_overwrites_nothing(
    server: FaultyServer, bucket: S3Bucket
) -> None:
    for before in (None, b"before"):
        key = f"{before!r}"
        version = None if before is None else bucket.put(key, before, None)
        server.plan = in_turn(Fault.LATE, only=puts)
        ours = bucket.put(key, b"ours", version)
        assert ours
        assert copy_of(bucket).put(key, b"theirs", ours)
        assert server.let_go() == [412]
        assert content(bucket, key) == b"theirs"


def test_a_late_put_that_comes_before_its_second_try_has_won(
    server: FaultyServer, bucket: S3Bucket
) -> None:
    def plan(request: Request) -> Fault | None:
        if not puts(request):
            return None
        return None if server.let_go() else Fault.LATE

    server.plan = plan
    assert bucket.put("a", b"ours", None)
    assert content(bucket, "a") == b"ours"
    assert [len(each.body) for each in server.applied if puts(each)][-1] == 4


def test_a_put_that_a_proxy_sends_twice_has_won(server: FaultyServer, bucket: S3Bucket) -> None:
    server.plan = in_turn(Fault.REPEAT, only=puts)
    version = bucket.put("a", b"1", None)
    assert version
    server.plan = in_turn(Fault.REPEAT, only=puts)
    assert bucket.put("a", b"2", version)


def test_a_put_whose_every_answer_is_lost_has_won_if_it_is_there(
    server: FaultyServer, bucket: S3Bucket
) -> None:
    server.plan = in_turn(*[Fault.CUT_AFTER] * TRIES, only=puts)
    assert bucket.put("a", b"1", None)


def test_a_server_that_stays_down_is_an_error_after_five_tries(
    server: FaultyServer, bucket: S3Bucket, tmp_path: Path
) -> None:
    version = bucket.put("a", b"1", None)
    before = len(server.requests)
    server.plan = lambda request: Fault.REFUSE_503
    for ask in (
        lambda: bucket.get("a"), lambda: bucket.find("a"), lambda: keys(bucket),
        lambda: bucket.delete("a"), lambda: bucket.download("a", tmp_path / "a"),
        lambda: bucket.put("a", b"", WHATEVER),
    ):  # fmt: skip
        with pytest.raises(StorageError, match=r"failed 5 times, at last with (SlowDown|503)"):
            ask()
    assert len(server.requests) - before == 6 * TRIES
    server.plan = lambda request: Fault.REFUSE_503 if puts(request) else None
    with pytest.raises(StorageError, match="failed 5 times, at last with SlowDown"):
        bucket.put("a", b"2", version)
    assert content(bucket, "a") == b"1"


def test_a_server_that_is_silent_is_an_error_after_five_times_its_time(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_server, "_READ_SECONDS", 0.05)
    bucket = opened(fresh_url())
    server.plan = lambda request: Fault.HOLD
    with pytest.raises(StorageError, match="failed 5 times, at last with ReadTimeoutError"):
        bucket.get("a")
    assert len(server.requests) == TRIES


def test_a_conflict_is_tried_again_and_ends(server: FaultyServer, bucket: S3Bucket) -> None:
    server.plan = in_turn(Fault.CONFLICT, Fault.CONFLICT, only=puts)
    assert bucket.put("a", b"1", None)
    server.plan = lambda request: Fault.CONFLICT if puts(request) else None
    with pytest.raises(LockedError, match="others were writing it each of 5 times"):
        bucket.put("b", b"1", None)
    assert bucket.find("b") is None


def test_half_of_a_content_is_no_object(server: FaultyServer, bucket: S3Bucket) -> None:
    server.plan = in_turn(*[Fault.CUT_CONTENT] * TRIES, only=lambda r: r.method == "PUT")
    with pytest.raises(StorageError, match="failed 5 times"):
        bucket.put("a", b"12345678" * 10_000, None)
    server.plan = in_turn(*[Fault.CUT_CONTENT] * TRIES, only=lambda r: r.method == "PUT")
    with pytest.raises(StorageError, match="failed 5 times"):
        bucket.put("b", b"12345678" * 10_000, WHATEVER)
    assert bucket.find("a") is None
    assert bucket.find("b") is None


def test_a_download_that_breaks_off_or_is_wrong_is_fetched_again_and_never_taken(
    server: FaultyServer, bucket: S3Bucket, tmp_path: Path
) -> None:
    data = random.Random(1).randbytes(300_000)
    version = bucket.put("a", data, None)
    target = tmp_path / "target"
    for fault in (Fault.HALF_ANSWER, Fault.WRONG_BYTES, Fault.REFUSE_500, Fault.CUT_BEFORE):
        server.plan = in_turn(fault, fault)
        assert bucket.download("a", target) == version
        assert target.read_bytes() == data
        server.plan = in_turn(fault, fault)
        assert content(bucket, "a") == data
    server.plan = lambda request: Fault.HALF_ANSWER
    with pytest.raises(StorageError, match="failed 5 times"):
        bucket.download("a", target)
    server.plan = lambda request: Fault.WRONG_BYTES
    for ask in (lambda: bucket.download("a", target), lambda: bucket.get("a")):
        with pytest.raises(DamagedFileError, match=r"a: what came is not what had been stored"):
            ask()


def test_a_large_file_survives_a_fault_of_every_part_of_its_upload(
    server: FaultyServer, bucket: S3Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (s3, s3_uploads):
        monkeypatch.setattr(module, "PART_BYTES", 5 * 1024**2)
    data = random.Random(2).randbytes(6 * 1024**2)
    (tmp_path / "large").write_bytes(data)
    for fault in (Fault.CUT_AFTER, Fault.REFUSE_500):
        # begin, two parts, the end, and the look at what has come of it
        server.plan = in_turn(fault, None, fault, None, fault, None, fault, None, fault)
        version = bucket.put("large", tmp_path / "large", WHATEVER)
        server.plan = lambda request: None
        assert bucket.download("large", tmp_path / "again") == version
        assert (tmp_path / "again").read_bytes() == data
        bucket.delete("large")


def test_an_upload_that_the_server_knows_no_more_is_there_or_an_error(
    server: FaultyServer, bucket: S3Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As AWS may answer when an upload is ended for the second time."""
    for module in (s3, s3_uploads):
        monkeypatch.setattr(module, "PART_BYTES", 5 * 1024**2)
    (tmp_path / "large").write_bytes(bytes(6 * 1024**2))

    def ends(request: Request) -> bool:
        return request.method == "POST" and "uploadId=" in request.path

    server.plan = in_turn(Fault.CUT_AFTER, Fault.NO_UPLOAD, only=ends)
    assert bucket.put("large", tmp_path / "large", WHATEVER)
    (tmp_path / "large").write_bytes(bytes(7 * 1024**2))
    server.plan = in_turn(Fault.NO_UPLOAD, only=ends)
    with pytest.raises(StorageError, match="its upload was taken away at the server"):
        bucket.put("large", tmp_path / "large", WHATEVER)
    found = bucket.find("large")
    assert found is not None
    assert found.size == 6 * 1024**2


def test_every_content_is_sent_with_its_hash_and_again_if_it_arrives_as_another(
    server: FaultyServer,
    bucket: S3Bucket,
    object_server: ObjectServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (s3, s3_uploads):
        monkeypatch.setattr(module, "PART_BYTES", 5 * 1024**2)
    (tmp_path / "large").write_bytes(bytes(6 * 1024**2))
    del server.requests[:]
    bucket.put("a", b"12345", None)
    bucket.put("large", tmp_path / "large", WHATEVER)
    sent = [each for each in server.requests if each.method == "PUT"]
    assert [len(each.body) for each in sent] == [5, 5 * 1024**2, 1024**2]
    for each in sent:
        md5 = hashlib.md5(each.body, usedforsecurity=False).digest()
        assert each.headers["content-md5"] == base64.b64encode(md5).decode()
    if object_server.name == "moto":  # which believes what it is sent
        return
    server.plan = in_turn(Fault.WRONG_CONTENT, Fault.WRONG_CONTENT, only=puts)
    assert bucket.put("b", b"12345", None)
    assert content(bucket, "b") == b"12345"


def test_an_upload_that_fails_leaves_no_object(
    server: FaultyServer, bucket: S3Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (s3, s3_uploads):
        monkeypatch.setattr(module, "PART_BYTES", 5 * 1024**2)
    (tmp_path / "large").write_bytes(bytes(6 * 1024**2))
    server.plan = lambda request: Fault.REFUSE_500 if "partNumber=2" in request.path else None
    with pytest.raises(StorageError, match="failed 5 times"):
        bucket.put("large", tmp_path / "large", WHATEVER)
    assert bucket.find("large") is None
    assert [r.method for r in server.applied if "uploadId=" in r.path][-1] == "DELETE"


def test_a_stale_listing_is_passed_on_and_nothing_else_follows_it(
    server: FaultyServer, bucket: S3Bucket
) -> None:
    bucket.put("x/old", b"1", None)
    assert keys(bucket, "x/") == ["x/old"]
    bucket.delete("x/old")
    bucket.put("x/new", b"1", None)
    server.plan = lambda request: Fault.STALE_LISTING
    assert keys(bucket, "x/") == ["x/old"]
    assert bucket.find("x/old") is None
    assert bucket.find("x/new")
    assert bucket.put("x/new", b"2", None) is None


def test_a_server_that_repeats_a_page_of_a_listing_is_left(
    server: FaultyServer, bucket: S3Bucket
) -> None:
    for key in "abc":
        bucket.put(f"x/{key}", b"", None)
    server.plan = lambda request: Fault.STALE_LISTING
    with pytest.raises(StorageError, match="repeats one page of its listing"):
        keys(with_pages_of(bucket, 1), "x/")


WRITERS, CHANGES = 4, 12
# Not those whose outcome nobody can tell in the end, which the writers here take for an error.
LIKELY = (*AMBIGUOUS, Fault.CONFLICT, Fault.REPEAT, Fault.HALF_ANSWER, Fault.WRONG_BYTES)


@pytest.mark.parametrize("seed", range(2))
def test_no_change_is_lost_or_doubled_whatever_fails(
    server: FaultyServer, bucket: S3Bucket, seed: int
) -> None:
    dice = random.Random(seed)
    injected = Counter[Fault]()

    def plan(request: Request) -> Fault | None:
        if request.path.endswith("/log") and dice.random() < 0.25:
            fault = dice.choice(LIKELY)
            injected[fault] += 1
            return fault
        return None

    server.plan = plan

    def write(who: int) -> tuple[list[str], list[str]]:
        store, done, unknown = AsStore(copy_of(bucket)), list[str](), list[str]()
        for number in range(CHANGES):
            name = f"{who}.{number} "
            try:
                update(store, "log", lambda data, name=name: (data or b"") + name.encode())  # type: ignore[arg-type,misc]
                done.append(name.strip())
            except StorageError:
                unknown.append(name.strip())
        return done, unknown

    with ThreadPoolExecutor(WRITERS) as pool:
        results = list(pool.map(write, range(WRITERS)))
    server.plan = lambda request: None
    stored = Counter((content(bucket, "log") or b"").decode().split())
    for done, unknown in results:
        assert {name: stored.pop(name) for name in done} == dict.fromkeys(done, 1)
        for name in unknown:
            assert stored.pop(name, 0) <= 1
        # Each has its order.
        assert done == sorted(done, key=lambda name: int(name.partition(".")[2]))
    assert not stored
    assert len(injected) > len(LIKELY) / 2
    assert sum(len(unknown) for _, unknown in results) <= WRITERS * CHANGES / 4


# Puts, and is killed when half of the content is sent.
KILLED = """
import io, os, signal, sys
from botocore.auth import S3SigV4Auth
from rag_assets.storage import s3_content
from rag_assets.storage.bucket import WHATEVER
from rag_assets.storage.s3 import open_bucket

class Half(io.BytesIO):
    sent = 0

    def read(self, size=-1):
        data = super().read(size if size and size > 0 else 1 << 16)
        Half.sent += len(data)
        if not data or Half.sent > KILL_AT:
            os.kill(os.getpid(), signal.SIGKILL)
        return data

url, what = sys.argv[1:]
data = b"new" * 1_000_000
bucket = open_bucket(url)
bucket.put("proven", b"", None)
KILL_AT = len(data) // 2
found = bucket.find("a")
s3_content.BytesIO = Half
# Else the content would be read for its signature, before it is sent.
S3SigV4Auth._should_sha256_sign_payload = lambda self, request: False
bucket.put("a", data, {"first": None, "replaced": found and found.version}.get(what, WHATEVER))
"""


@pytest.mark.parametrize("what", ["first", "replaced", "whatever"])
def test_a_process_that_is_killed_inside_a_put_leaves_what_was_there(
    bucket_url: str, what: str
) -> None:
    bucket = open_bucket(bucket_url)
    version = None if what == "first" else bucket.put("a", b"old", None)
    killed = subprocess.run([sys.executable, "-c", KILLED, bucket_url, what], check=False)
    assert killed.returncode == -signal.SIGKILL
    found = bucket.get("a")
    assert (found.data if found else None) == (None if what == "first" else b"old")
    assert bucket.put("a", b"new", version)
