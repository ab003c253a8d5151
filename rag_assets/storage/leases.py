"""Leases: locks between machines that share nothing but objects.

A lease is an object that names its holder, who renews it. Nobody compares clocks: who waits takes
it over when it has not changed for its whole duration by the waiter's own clock, or at once where
its holder was a process of this machine that is gone. So a holder that was stopped for that long
(a suspended machine, a server out of reach) may find it taken. It can harm nothing: what it writes
after that is conditional, and loses. It learns of it at the end of its block, by `LockedError`.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_assets.model import DamagedFileError, LockedError, StorageError
from rag_assets.storage.bucket import Bucket
from rag_assets.storage.locks import NOTICE_SECONDS, WAIT_SECONDS, Notify

# How long a lease outlives its holder on another machine, at most. It is renewed at each third, so
# that two renewals may fail.
LEASE_SECONDS: Final = 60.0
# Between two looks of who waits: the first, which doubles, and the longest.
_FIRST_LOOK_SECONDS: Final = 0.25
_LONGEST_LOOK_SECONDS: Final = 2.0


class Clock(Protocol):
    """Time that only goes forward, and waiting."""

    def now(self) -> float:
        """Return the seconds since some moment."""

    def rest(self, seconds: float, until: threading.Event) -> bool:
        """Wait so long, or until that event. Returns whether it has come."""


class _MachineClock:
    def now(self) -> float:
        return time.monotonic()

    def rest(self, seconds: float, until: threading.Event) -> bool:
        return until.wait(seconds)


MACHINE_CLOCK: Final = _MachineClock()


class Holder(BaseModel):
    """A process that holds a lease.

    Args:
        place: the boot of a machine, and the space within it that process ids belong to (a
            container has its own); None where the system tells neither.
        started: when the process began, in ticks since that boot; an id alone is used again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    host: str
    process: int
    place: str | None
    started: int | None

    @classmethod
    def here(cls) -> "Holder":
        """Return this process."""
        process = os.getpid()
        return cls(
            host=socket.gethostname(), process=process, place=_place(), started=_started(process)
        )

    def is_gone(self) -> bool:
        """Return whether it was a process of this machine, since this boot, and has ended."""
        if self.place is None or self.started is None or self.place != _place():
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # somebody else's; it may not even be shown
            return False
        return _started(self.process) != self.started

    def __str__(self) -> str:
        """Return how a person finds it."""
        return f"process {self.process} on {self.host}"


class Lease(BaseModel):
    """What the object of a lease holds. No two are equal, so that each has a version of its own.

    Args:
        holder: None where it was given back.
        token: of this holding.
        beat: how often it was renewed.
        seconds: after which without a renewal it is anybody's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    holder: Holder | None
    token: str
    beat: int
    seconds: float

    def encode(self) -> bytes:
        """Return the content of its object."""
        return self.model_dump_json().encode()


@contextmanager
def hold_lease(
    bucket: Bucket,
    key: str,
    what: str,
    notify: Notify,
    seconds: float = WAIT_SECONDS,
    *,
    duration: float = LEASE_SECONDS,
    clock: Clock = MACHINE_CLOCK,
) -> Iterator[None]:
    """Hold the lease at `key` while the block runs; a thread renews it meanwhile.

    Args:
        what: what is locked, for the message a waiting person reads.
        notify: told once when the lease is not free at once, and where it cannot be given back.
        seconds: how long to wait at most; 0 tries once.
        duration: of the lease, in seconds.

    Raises:
        LockedError: another process held it all that time, or has taken it over during the block,
            which then may have worked beside this one.
        DamagedFileError: the object is no lease.
        StorageError: the server cannot be reached, or refuses it.
    """
    holding = _take(bucket, key, what, notify, seconds, duration, clock)
    ended = threading.Event()
    renewing = threading.Thread(
        target=holding.keep, args=(clock, ended), name=f"lease {key}", daemon=True
    )
    renewing.start()
    failed: BaseException | None = None
    try:
        yield
    except BaseException as error:
        failed = error
        raise
    finally:
        ended.set()
        renewing.join()
        _give_back(holding, what, notify, failed)


def _give_back(
    holding: "_Holding", what: str, notify: Notify, failed: BaseException | None
) -> None:
    try:
        is_mine = holding.write(None)
    except StorageError as error:
        notify(
            f"the lease of {what} could not be given back and ends by itself in "
            f"{holding.seconds:.0f} s: {error}"
        )
        return
    if is_mine:
        return
    taken = (
        f"{holding.place}: another process has taken over the lease of {what}, since it had not "
        f"been renewed for {holding.seconds:.0f} s: this machine was suspended, or the server out "
        "of reach. Nothing that the other has written was overwritten; run the command again."
    )
    if failed is None:
        raise LockedError(taken)
    failed.add_note(taken)


class _Holding:
    """A lease that this process holds, as far as it knows."""

    def __init__(self, bucket: Bucket, key: str, seconds: float) -> None:
        self._bucket, self._key, self.seconds = bucket, key, seconds
        self._holder, self._token = Holder.here(), secrets.token_hex(8)
        self._version: str | None = None
        self._beat = 0

    @property
    def place(self) -> str:
        return self._bucket.describe(self._key)

    def take(self, version: str | None) -> bool:
        """Put it in the place of that version. Returns False where another was faster."""
        self._version = version
        return self._put(self._holder)

    def write(self, holder: Holder | None) -> bool:
        """Renew it, or give it back. Returns False where it is another's."""
        if self._put(holder):
            return True
        found = self._bucket.get(self._key)
        if found is None or _read(found.data, self.place).token != self._token:
            return False
        # A renewal that ended in an error had been stored all the same.
        self._version = found.version
        return self._put(holder)

    def keep(self, clock: Clock, ended: threading.Event) -> None:
        """Renew it until then, or until it is another's."""
        while not clock.rest(self.seconds / 3, ended):
            try:
                if not self.write(self._holder):
                    return
            except StorageError:
                # Tried again at the next third. Where that lasts, another may take it over, and
                # the end of the block, which looks again, tells so.
                continue

    def _put(self, holder: Holder | None) -> bool:
        self._beat += 1
        lease = Lease(holder=holder, token=self._token, beat=self._beat, seconds=self.seconds)
        version = self._bucket.put(self._key, lease.encode(), self._version)
        if version is not None:
            self._version = version
        return version is not None


def _take(
    bucket: Bucket, key: str, what: str, notify: Notify, seconds: float, duration: float,
    clock: Clock,
) -> _Holding:  # fmt: skip
    holding, never = _Holding(bucket, key, duration), threading.Event()
    begun, look, is_told = clock.now(), _FIRST_LOOK_SECONDS, False
    watched, since = "", begun
    while True:
        # Before the answer where time has to have passed, after it where it begins.
        asked = clock.now()
        found = bucket.get(key)
        lease = None if found is None else _read(found.data, holding.place)
        holder = None if lease is None else lease.holder
        if found is not None and found.version != watched:
            watched, since = found.version, clock.now()
        is_stale = lease is not None and asked - since >= lease.seconds
        is_free = holder is None or is_stale or holder.is_gone()
        if is_free and holding.take(None if found is None else found.version):
            return holding
        waited = clock.now() - begun
        if waited >= min(NOTICE_SECONDS, seconds) and not is_told:
            notify(f"waiting for another process that is writing {what} ({holder or key})")
            is_told = True
        if waited >= seconds:
            raise LockedError(
                f"{holding.place}: {holder or 'another process'} has been writing {what} for over "
                f"{seconds:.0f} s. See the running jobs in the UI, end the one that hangs, and try "
                "again."
            )
        clock.rest(min(look, seconds - waited), never)
        look = min(2 * look, _LONGEST_LOOK_SECONDS)


def _read(data: bytes, place: str) -> Lease:
    try:
        return Lease.model_validate_json(data)
    except ValidationError as error:
        raise DamagedFileError(
            f"{place}: this is no lease that this release can read. When nothing works on the "
            "workspace, delete the object and run the command again."
        ) from error


def _place() -> str | None:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        space = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return None
    # Copies of a virtual machine that runs have the same boot; their hosts' names may differ.
    return f"{socket.gethostname()} {boot} {space}"


def _started(process: int) -> int | None:
    """Return when a process began, None where it has ended or the system does not tell."""
    try:
        text = Path(f"/proc/{process}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return None
    # proc(5): the name stands in brackets and may hold anything; state is the third field, the
    # start the 22nd. One that ended and was not waited for (Z) holds nothing any more.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])
