"""Files appear whole or not at all: written beside their place, synced, renamed."""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_assets.storage.trouble import Tried, trouble_of_machine

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
