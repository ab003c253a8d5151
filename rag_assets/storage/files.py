"""Files on disk: whole or not at all, locked, appended to, and trouble of the machine.

A file is written beside its place, synced and renamed. A lock ends with its process, and waiting is
visible. Trouble of the machine is no damage: what is unreadable now may be whole. Every library
says it in its own way (measured with pyarrow 24, pylance 14, DuckDB 2): Python and pyarrow by
`errno`, Lance as a ValueError that ends in `(os error 13)`, DuckDB as an IOException with the C
library's words, memory as MemoryError, ArrowMemoryError or OutOfMemoryException.
"""

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from rag_assets.model import (
    DamagedFileError,
    DiskFullError,
    LockedError,
    OutOfMemoryError,
    RagError,
    StorageError,
)

Tried = Literal["read", "written", "opened", "finished"]

# What the operating system answers where a file is absent, of another kind or asked for places
# that it does not have: of the file, not of the machine.
_OF_THE_FILE = frozenset(
    {
        errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL, errno.ESPIPE,
        errno.ENAMETOOLONG, errno.EEXIST, errno.EXDEV, errno.ENOTEMPTY, errno.EILSEQ,
        errno.EOVERFLOW, errno.EPIPE,
    }
)  # fmt: skip
_RIGHTS = frozenset({errno.EACCES, errno.EPERM})
_OPEN_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
# Said without a number. A thread that cannot start has found no memory for its stack.
_WORDS = {
    os.strerror(number): number
    for number in (
        errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ESTALE,
        errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EROFS,
    )
} | {
    "No space left": errno.ENOSPC,
    "Out of Memory Error": errno.ENOMEM,
    "out of memory": errno.ENOMEM,
    "bad allocation": errno.ENOMEM,
    "bad_alloc": errno.ENOMEM,
    "can't start new thread": errno.ENOMEM,
    "failed to map segment from shared object": errno.ENOMEM,
}  # fmt: skip
_NUMBER = re.compile(r"\[errno (\d+)\]|\(os error (\d+)\)", re.IGNORECASE)


def trouble_of_machine(
    error: BaseException, target: Path | str, tried: Tried = "read"
) -> StorageError | None:
    """Return what is wrong with the machine, with the mend; None where the file is at fault.

    Args:
        error: as a library raised it.
        target: the file or folder, for the sentence.
        tried: what was tried with it; `opened` where that is not known.
    """
    if isinstance(error, RagError):
        # What an object store did not give is not damaged either.
        if isinstance(error, StorageError) and not isinstance(error, DamagedFileError):
            return error
        return None
    if isinstance(error, MemoryError):
        return describe_trouble(errno.ENOMEM, target, tried)
    number = error.errno if isinstance(error, OSError) else None
    return describe_trouble(number or number_in(str(error)), target, tried)


def number_in(text: str) -> int | None:
    """Return the operating system's number of the error that a library's text speaks of."""
    found = _NUMBER.search(text)
    if found:
        return int(found[1] or found[2])
    return next((number for words, number in _WORDS.items() if words in text), None)


def describe_trouble(number: int | None, target: Path | str, tried: Tried) -> StorageError | None:
    """Return the error for a number of the operating system; None where it is no trouble."""
    if number is None or number in _OF_THE_FILE:
        return None
    if number in _NO_ROOM:
        return DiskFullError(f"{target}: the disk is full.")
    again = "and run the command again."
    if number == errno.ENOMEM:
        return OutOfMemoryError(
            f"{target}: cannot be {tried}: there is not enough memory. No file is at fault: close "
            f"other programs or give this one more (`ulimit -v`, a container's limit), {again}"
        )
    problem = os.strerror(number)
    if number == errno.EROFS:
        sentence = (
            "cannot be written: its disk is read-only. Mount it for writing, or copy the "
            "workspace to a disk that can be written,"
        )
    elif number in _RIGHTS:
        right = {"read": "read", "written": "write"}.get(tried, "read and write")
        where = "it" if tried == "read" else "the folder"
        sentence = f"cannot be {tried} ({problem}). Give this user {right} permission on {where}"
    elif number in _OPEN_FILES:
        sentence = (
            f"cannot be {tried}: {problem.lower()}. Close other programs or raise the limit "
            "(`ulimit -n 4096`),"
        )
    else:
        sentence = (
            f"cannot be {tried} ({problem}). Nothing says that it is damaged: check its disk or "
            "network folder,"
        )
    return StorageError(f"{target}: {sentence} {again}")


# A name that starts so is unfinished work; `rag gc` removes those whose process is gone.
TEMPORARY_PREFIX = ".tmp-"
# Of a file that may hold secrets: read and written by its owner alone.
PRIVATE_MODE = 0o600


def temporary_name(suffix: str = "") -> str:
    """Return a fresh name that holds this process's id and a random part."""
    return f"{TEMPORARY_PREFIX}{os.getpid()}-{secrets.token_hex(4)}{suffix}"


def sync_path(path: Path) -> None:
    """Make a file's bytes, or a rename in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def explained_errors(target: Path, tried: Tried = "written") -> Iterator[None]:
    """Turn trouble of the machine into a StorageError that names the file and the mend."""
    try:
        yield
    except (OSError, MemoryError, RuntimeError, ValueError) as error:  # Lance raises each of them
        trouble = trouble_of_machine(error, target, tried)
        if trouble is None or trouble is error:
            raise
        raise trouble from error


def require_writable(folder: Path, needed_bytes: int = 0) -> None:
    """Refuse a folder in which no file can be made, before work is begun that would need one.

    Args:
        needed_bytes: size of the file that is tried. It is written, since what a disk says is free
            need not be this user's (a quota, a reserve for the administrator).

    Raises:
        DiskFullError: there is no room for so many bytes.
        StorageError: its disk is read-only, or this user may not write there.
    """
    with explained_errors(folder):
        probe = folder / temporary_name()
        try:
            probe.touch()
            probe.write_bytes(bytes(needed_bytes))
            sync_path(probe)
        finally:
            probe.unlink(missing_ok=True)


@contextmanager
def replace_file(target: Path) -> Iterator[Path]:
    """Yield a temporary path; when the block ends well it becomes `target`, synced.

    Raises:
        StorageError: the disk is full or refuses the write; `target` is as it was.
    """
    with explained_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.parent / temporary_name(target.suffix)
        try:
            yield temporary
            with temporary.open("rb+") as handle:
                os.fsync(handle.fileno())
            temporary.replace(target)
            sync_path(target.parent)
        finally:
            temporary.unlink(missing_ok=True)


def file_identity(path: Path) -> tuple[int, int, int] | None:
    """Return what is another where a file was replaced or written to; None without one."""
    try:
        known = path.stat()
    except FileNotFoundError:
        return None
    return known.st_ino, known.st_size, known.st_mtime_ns


def remove_folder(path: Path) -> None:
    """Remove a folder; renamed first, since one that is half removed must never look whole."""
    doomed = path.parent / temporary_name()
    path.rename(doomed)
    shutil.rmtree(doomed)


def rewrite_bytes(target: Path, data: bytes) -> None:
    """Write `data` in place of a person's file, whole or not at all; its permissions stay."""
    mode = target.stat().st_mode
    with replace_file(target) as temporary:
        temporary.touch(PRIVATE_MODE)
        temporary.write_bytes(data)
        temporary.chmod(stat.S_IMODE(mode))


def write_text(target: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    write_bytes(target, text.encode("utf-8"))


def write_private(target: Path, text: str) -> None:
    """Write `text` as `write_text` does, readable for this user alone from its first byte."""
    with replace_file(target) as temporary:
        temporary.touch(PRIVATE_MODE)
        temporary.write_text(text, encoding="utf-8")


def write_bytes(target: Path, data: bytes) -> None:
    """Write `data`, whole or not at all."""
    with replace_file(target) as temporary:
        temporary.write_bytes(data)


# Silence is unfriendly after this long; a first try that succeeds at once says nothing.
NOTICE_SECONDS = 1.0
# A build of a large library may hold a record for long; beyond this something is wrong.
WAIT_SECONDS = 6 * 3600.0

# What a disk answers that knows no locks of folders; NFS wants a file that is open for writing.
_NO_FOLDER_LOCKS = frozenset(
    {errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
)

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
    try:
        yield
    finally:
        lock.release()


@contextmanager
def changing_folder(path: Path) -> Iterator[None]:
    """Be the only one who changes a folder's values, for the time of one comparison and rename.

    The folder itself is locked, so that no lock file stays behind; where the disk cannot do that,
    a hidden file in it. Readers never wait: a rename shows them the old or the new.
    """
    folder = path.parent
    with explained_errors(path):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in _NO_FOLDER_LOCKS:
                    raise
                with hold_lock(folder / ".store.lock", folder.name, lambda _: None):
                    yield
            else:
                try:
                    yield
                finally:
                    # Not by closing alone: a process that was forked meanwhile holds it open.
                    fcntl.flock(handle, fcntl.LOCK_UN)
        finally:
            os.close(handle)


def read_journal_lines(path: Path) -> list[str]:
    """Return the whole lines of a journal; none where there is no file.

    Raises:
        DamagedFileError: a line is not UTF-8; names it.
    """
    whole, _ = _parted(path)
    try:
        # Not splitlines(): a text may hold U+2028 or U+0085, which end no line here.
        return whole.decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError as error:
        line = whole[: error.start].count(b"\n") + 1
        raise DamagedFileError(
            f"{path}, line {line}: not UTF-8. Restore the file from a backup or delete this line."
        ) from error


def describe_torn_line(path: Path) -> str | None:
    """Return what a crash left of a last line, in words; None where the journal is whole."""
    _, torn = _parted(path)
    if not torn:
        return None
    begun = torn.decode("utf-8", "replace")[:60]
    return f"{path}: the last line was half-written ({len(torn)} bytes: {begun!r})"


def mend_journal(path: Path) -> str | None:
    """Cut a half-written last line, which a crash leaves behind; call with the lock held.

    Returns:
        What was cut, for the log; None when the journal was whole. Nobody was told that the line
        is kept.
    """
    told = describe_torn_line(path)
    if told is None:
        return None
    whole, _ = _parted(path)
    with explained_errors(path), path.open("rb+") as handle:
        handle.truncate(len(whole))
        handle.flush()
        os.fsync(handle.fileno())
    return f"{told}; cut."


def append_journal_lines(path: Path, lines: Sequence[str]) -> None:
    """Append lines in one synced write; call with the lock held and the journal mended.

    Args:
        lines: none of them holds a line feed.

    Raises:
        StorageError: the disk is full or refuses the write; the journal is as it was.
    """
    if not lines:
        return
    with explained_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with taken_back_if_failed(path):
            with path.open("ab") as handle:
                handle.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
                handle.flush()
                os.fsync(handle.fileno())
            if is_new:
                sync_path(path.parent)


@contextmanager
def taken_back_if_failed(path: Path) -> Iterator[None]:
    """Cut what the block appended to a journal if it fails; call with the lock held."""
    size = path.stat().st_size if path.exists() else None
    try:
        yield
    except BaseException:
        if size is None:
            path.unlink(missing_ok=True)
        elif path.exists():
            os.truncate(path, size)
        raise


def _parted(path: Path) -> tuple[bytes, bytes]:
    """Return the whole lines of a file, and what stands behind them."""
    try:
        with explained_errors(path, "read"):
            data = path.read_bytes()
    except FileNotFoundError:
        return b"", b""
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]
