"""Trouble of the machine, told from damage: what is unreadable now may be whole.

Every library says it in its own way (measured with pyarrow 24, pylance 14, DuckDB 2): Python and
pyarrow by `errno`, Lance as a ValueError that ends in `(os error 13)`, DuckDB as an IOException
with the C library's words, memory as MemoryError, ArrowMemoryError or OutOfMemoryException.
"""

import errno
import os
import re
from pathlib import Path
from typing import Literal

from rag_assets.model import (
    DamagedFileError,
    DiskFullError,
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
