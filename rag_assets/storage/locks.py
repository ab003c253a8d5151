"""Locks between processes. A lock dies with its process; waiting is visible."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag_assets.model import LockedError
from rag_assets.storage.atomic import explained_errors

# Silence is unfriendly after this long; a first try that succeeds at once says nothing.
NOTICE_SECONDS = 1.0
# A build of a large library may hold a record for long; beyond this something is wrong.
WAIT_SECONDS = 6 * 3600.0

Notify = Callable[[str], None]


@contextmanager
def hold_lock(
    path: Path, what: str, notify: Notify, seconds: float = WAIT_SECONDS
) -> Iterator[None]:
    """Hold the lock file `path` while the block runs.

    Args:
        path: the lock file; it stays behind, empty or with the holder's process id.
        what: what is locked, for the message a waiting person reads.
        notify: told once when the lock is not free at once.
        seconds: how long to wait at most.

    Raises:
        LockedError: another process held it all that time.
        StorageError: the disk is full or refuses the lock file.
    """
    with explained_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        _acquire(lock, path, what, notify, seconds)
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock, path: Path, what: str, notify: Notify, seconds: float) -> None:
    try:
        lock.acquire(timeout=min(NOTICE_SECONDS, seconds), poll_interval=0.05)
    except Timeout:
        notify(f"waiting for another process that is writing {what} ({path.name})")
        try:
            lock.acquire(timeout=seconds, poll_interval=0.2)
        except Timeout as error:
            raise LockedError(
                f"{path}: another process has been writing {what} for over {seconds:.0f} s. "
                "See the running jobs in the UI, end the one that hangs, and try again."
            ) from error
