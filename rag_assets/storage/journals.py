"""Append-only files of lines that cannot be rebuilt: synced, readable, mended after a crash."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag_assets.model import DamagedFileError
from rag_assets.storage.atomic import explained_errors, sync_path


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
