"""Leases on time that the tests make: nothing here waits, and no test asks the machine's clock."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from rag_assets.model import DamagedFileError, LockedError, StorageError
from rag_assets.storage import leases
from rag_assets.storage.bucket import Bucket
from rag_assets.storage.leases import Holder, Lease, hold_lease
from rag_assets.storage.s3 import S3Bucket, open_bucket
from rag_assets_tests.storage.faults import AMBIGUOUS, Fault, failing
from rag_assets_tests.storage.memory_bucket import MemoryBucket
from rag_assets_tests.storage.object_servers import ObjectServer, fresh_url, using

KEY = "locks/record"
SECONDS = 60.0
ELSEWHERE = Holder(host="elsewhere", process=1, place="another boot", started=1)


class MadeClock:
    """Time that passes where somebody rests.

    Args:
        during: called after each rest of who waits, with the time.
        renewals: how often the holder's thread may renew; then it rests until the end.
    """

    def __init__(
        self, during: Callable[[float], None] = lambda now: None, renewals: int = 0
    ) -> None:
        self._now, self._during, self._renewals = 1000.0, during, renewals

    def now(self) -> float:
        return self._now

    def rest(self, seconds: float, until: threading.Event) -> bool:
        if threading.current_thread().name.startswith("lease "):
            assert seconds == pytest.approx(SECONDS / 3)
            self._renewals -= 1
            return until.wait() if self._renewals < 0 else until.is_set()
        self._now += seconds
        self._during(self._now)
        return False


def lease_in(bucket: Bucket) -> Lease:
    found = bucket.get(KEY)
    assert found is not None
    return Lease.model_validate_json(found.data)


def write(bucket: Bucket, holder: Holder | None, beat: int = 1) -> None:
    """Put a lease whatever is there, as its holder does."""
    found = bucket.get(KEY)
    lease = Lease(holder=holder, token="theirs", beat=beat, seconds=SECONDS)
    assert bucket.put(KEY, lease.encode(), found.version if found else None)


def take(bucket: Bucket, clock: MadeClock, **options: float) -> list[str]:
    said = list[str]()
    with hold_lease(bucket, KEY, "a record", said.append, duration=SECONDS, clock=clock, **options):
        assert lease_in(bucket).holder == Holder.here()
    return said


def test_a_free_lease_is_taken_without_a_word_and_given_back() -> None:
    asked = list[str]()
    bucket, clock = MemoryBucket(asked.append), MadeClock()
    for _ in range(2):
        asked.clear()
        with hold_lease(bucket, KEY, "a record", pytest.fail, duration=SECONDS, clock=clock):
            assert asked == ["get", "put"]
            assert lease_in(bucket).holder == Holder.here()
        assert asked[-1] == "put"
        assert lease_in(bucket).holder is None
    assert clock.now() == 1000


def test_a_lease_is_given_back_when_the_work_fails() -> None:
    bucket = MemoryBucket()
    with (
        pytest.raises(ZeroDivisionError),
        hold_lease(bucket, KEY, "a record", pytest.fail, duration=SECONDS, clock=MadeClock()),
    ):
        raise ZeroDivisionError
    assert lease_in(bucket).holder is None


@pytest.mark.parametrize("seconds", [0, 0.5, 100])
def test_a_lease_of_a_living_holder_is_waited_for_aloud_and_ends_in_an_error(
    seconds: float,
) -> None:
    bucket, said, beat = MemoryBucket(), list[str](), 0

    def renew(now: float) -> None:
        nonlocal beat
        if (now - 1000) // 20 > beat:
            beat += 1
            write(bucket, ELSEWHERE, beat)

    write(bucket, ELSEWHERE, 0)
    clock = MadeClock(renew)
    with (
        pytest.raises(LockedError, match=r"locks/record: process 1 on elsewhere has been writing"),
        hold_lease(bucket, KEY, "a record", said.append, seconds, duration=SECONDS, clock=clock),
    ):
        pytest.fail("it is held elsewhere")
    assert clock.now() == pytest.approx(1000 + seconds)
    assert said == ["waiting for another process that is writing a record (process 1 on elsewhere)"]
    assert lease_in(bucket).holder == ELSEWHERE


def test_a_lease_that_nobody_renews_is_taken_over_after_its_duration_and_not_before() -> None:
    bucket = MemoryBucket()
    write(bucket, ELSEWHERE)
    clock = MadeClock(lambda now: write(bucket, ELSEWHERE, int(now * 100)) if now < 1030 else None)
    said = take(bucket, clock)
    # From the last renewal that was seen, and at most the longest pause between two looks later.
    assert 1028 + SECONDS < clock.now() < 1032 + 2 + SECONDS
    assert len(said) == 1


def test_the_duration_is_the_holders_own_not_that_of_who_waits() -> None:
    bucket = MemoryBucket()
    lease = Lease(holder=ELSEWHERE, token="theirs", beat=1, seconds=600)
    bucket.put(KEY, lease.encode(), None)
    clock = MadeClock()
    take(bucket, clock)
    assert 1600 <= clock.now() < 1603


def test_a_lease_that_is_given_back_is_taken_at_the_next_look() -> None:
    bucket = MemoryBucket()
    write(bucket, ELSEWHERE)
    clock = MadeClock(lambda now: write(bucket, None, 2) if 1010 < now < 1013 else None)
    take(bucket, clock)
    assert 1010 < clock.now() < 1015


def test_of_two_who_take_over_together_one_waits_on() -> None:
    """The other is faster between the look and the put."""
    write_once = [True]

    def before(operation: str) -> None:
        if operation == "put" and write_once and threading.current_thread().name == "MainThread":
            write_once.clear()
            write(bucket, ELSEWHERE, 7)

    bucket = MemoryBucket(before)
    clock = MadeClock()
    take(bucket, clock)
    assert clock.now() >= 1000 + SECONDS


HOLDER = """
import sys
from rag_assets.storage import leases
from rag_assets.storage.s3 import open_bucket
if sys.argv[2] == "elsewhere":
    leases._place = lambda: "another boot"
with leases.hold_lease(open_bucket(sys.argv[1]), "locks/record", "a record", print):
    print("held", flush=True)
    sys.stdin.read()
"""


def killed_holder(url: str, where: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, url, where],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_lease_of_a_process_of_this_machine_that_was_killed_is_free_at_once(
    bucket_url: str,
) -> None:
    killed_holder(bucket_url, "here")
    clock = MadeClock()
    assert take(open_bucket(bucket_url), clock) == []
    assert clock.now() == 1000


def test_a_lease_of_a_process_of_another_machine_that_was_killed_is_free_after_its_duration(
    bucket_url: str,
) -> None:
    killed_holder(bucket_url, "elsewhere")
    clock = MadeClock()
    assert len(take(open_bucket(bucket_url), clock)) == 1
    assert SECONDS <= clock.now() - 1000 < SECONDS + 3


def test_only_a_process_that_is_certainly_gone_counts_as_gone() -> None:
    here = Holder.here()
    if here.place is None:
        pytest.skip("this system does not tell its boot and process space; leases run out instead")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    changed = Holder.model_validate
    assert not here.is_gone()
    assert changed(here.model_dump() | {"process": ended.pid}).is_gone()
    # The same number, given to a later process.
    assert changed(here.model_dump() | {"started": (here.started or 0) - 1}).is_gone()
    # Another boot, another container, a system that tells nothing.
    for place in ("another boot", None):
        assert not changed(here.model_dump() | {"process": ended.pid, "place": place}).is_gone()
    # A process of somebody else, whom this user may not even see.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "kill", raising(PermissionError))
        assert not changed(here.model_dump() | {"started": 1}).is_gone()


def raising(error: type[Exception]) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_a_process_that_nobody_has_waited_for_is_gone(tmp_path: Path) -> None:
    if Holder.here().place is None:
        pytest.skip("this system does not tell its boot and process space; leases run out instead")
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()  # ends when the process does
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    zombie = Holder.here().model_copy(update={"process": process.pid, "started": 1})
    assert leases._started(process.pid) is None
    assert zombie.is_gone()
    process.communicate()


def test_a_holder_renews_its_lease_and_goes_on_after_a_server_that_failed() -> None:
    renewed, failures = threading.Event(), [StorageError("down"), StorageError("down")]

    def before(operation: str) -> None:
        if operation == "put" and threading.current_thread().name.startswith("lease "):
            if failures:
                raise failures.pop()
            renewed.set()

    bucket = MemoryBucket(before)
    with hold_lease(
        bucket, KEY, "a record", pytest.fail, duration=SECONDS, clock=MadeClock(renewals=3)
    ):
        assert renewed.wait(60)
    # Taken, twice not renewed, renewed, given back.
    assert (lease_in(bucket).beat, lease_in(bucket).holder) == (5, None)


def test_a_renewal_that_was_stored_although_it_failed_is_the_holders_own() -> None:
    is_stored = threading.Event()

    class Forgetful(MemoryBucket):
        def put(self, key: str, data: bytes | Path, expected: object) -> str | None:
            version = super().put(key, data, expected)  # type: ignore[arg-type]
            if threading.current_thread().name.startswith("lease ") and not is_stored.is_set():
                is_stored.set()
                raise StorageError("the answer was lost")
            return version

    bucket = Forgetful()
    with hold_lease(
        bucket, KEY, "a record", pytest.fail, duration=SECONDS, clock=MadeClock(renewals=1)
    ):
        assert is_stored.wait(60)
    assert lease_in(bucket).holder is None


@pytest.mark.parametrize("renewals", [0, 1])
def test_a_holder_whose_lease_was_taken_learns_it_at_the_end(renewals: int) -> None:
    bucket = MemoryBucket()
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(LockedError, match="has taken over the lease of a reco"))
        clock = MadeClock(renewals=renewals)
        stack.enter_context(
            hold_lease(bucket, KEY, "a record", pytest.fail, duration=SECONDS, clock=clock)
        )
        for beat in range(20):  # a renewal may come between the look and the put
            found = bucket.get(KEY)
            theirs = Lease(holder=ELSEWHERE, token="theirs", beat=beat, seconds=SECONDS)
            if bucket.put(KEY, theirs.encode(), found.version if found else None):
                break
    assert lease_in(bucket).holder == ELSEWHERE


def test_a_failure_inside_a_lease_that_was_taken_stays_what_it_is() -> None:
    bucket = MemoryBucket()
    with (
        pytest.raises(ZeroDivisionError) as raised,
        hold_lease(bucket, KEY, "a record", pytest.fail, duration=SECONDS, clock=MadeClock()),
    ):
        write(bucket, ELSEWHERE)
        raise ZeroDivisionError
    assert "has taken over the lease" in raised.value.__notes__[0]


def test_a_lease_that_cannot_be_given_back_is_told_and_ends_by_itself() -> None:
    is_down, said = threading.Event(), list[str]()

    def before(operation: str) -> None:
        if is_down.is_set():
            raise StorageError("the server is down")

    bucket = MemoryBucket(before)
    with hold_lease(bucket, KEY, "a record", said.append, duration=SECONDS, clock=MadeClock()):
        is_down.set()
    (told,) = said
    assert told.startswith("the lease of a record could not be given back and ends by itself in 60")
    assert told.endswith("the server is down")


def test_what_is_no_lease_is_not_overwritten() -> None:
    bucket = MemoryBucket()
    bucket.put(KEY, b"{}", None)
    with pytest.raises(DamagedFileError, match="locks/record: this is no lease"):
        take(bucket, MadeClock())
    found = bucket.get(KEY)
    assert found is not None
    assert found.data == b"{}"


class HastyClock:
    """The machine's time, with pauses too short to feel."""

    now = staticmethod(leases.MACHINE_CLOCK.now)

    def rest(self, seconds: float, until: threading.Event) -> bool:
        return until.wait(min(seconds, 0.002))


def exclude(bucket: Bucket, writers: int, times: int) -> None:
    inside, entered = list[int](), list[int]()

    def work(who: int) -> None:
        for _ in range(times):
            with hold_lease(bucket, KEY, "a record", lambda text: None, clock=HastyClock()):
                inside.append(who)
                entered.append(len(inside))
                bucket.find("anything")  # others may run
                inside.pop()

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(work, range(writers)))
    assert entered == [1] * (writers * times)


def test_one_at_a_time_is_inside() -> None:
    exclude(MemoryBucket(), writers=4, times=25)


def test_one_at_a_time_is_inside_on_a_server(bucket_url: str) -> None:
    exclude(open_bucket(bucket_url), writers=3, times=3)


@pytest.mark.parametrize("seed", range(2))
def test_one_at_a_time_is_inside_whatever_fails(object_server: ObjectServer, seed: int) -> None:
    dice, faults = random.Random(seed), (*AMBIGUOUS, Fault.CONFLICT, Fault.REPEAT)
    with failing(object_server.url) as server, using(object_server, server.url):
        name, _, prefix = fresh_url().removeprefix("s3://").partition("/")
        bucket = S3Bucket(name, prefix, lambda seconds: None)
        server.plan = lambda request: (
            dice.choice(faults) if request.path.endswith(KEY) and dice.random() < 0.15 else None
        )
        exclude(bucket, writers=3, times=4)
        server.plan = lambda request: None
        assert lease_in(bucket).holder is None
