"""What a process may read and use."""

import os

# How large a file may be.

_BYTES_PER_MEGABYTE = 1_000_000


def size_problem(size: int, max_megabytes: int) -> str | None:
    """Say why a file of `size` bytes is not read; None where it is. A megabyte is 10⁶ bytes.

    Args:
        max_megabytes: the setting `parse.max_megabytes`.
    """
    if size <= max_megabytes * _BYTES_PER_MEGABYTE:
        return None
    return (
        f"The file has {size / _BYTES_PER_MEGABYTE:.1f} MB, parse.max_megabytes allows "
        f"{max_megabytes}: raise the setting in config.yaml or split the document, then build "
        "again."
    )


# How many processors a process may use.


def usable_processors() -> int:
    """Return how many processors this process may use.

    OMP_NUM_THREADS lowers it where it is a number: so a scheduler that runs several processes on
    one machine says how many each may take.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if hasattr(os, "sched_getaffinity"):
        found = len(os.sched_getaffinity(0))
    else:
        found = os.cpu_count() or 1
    return min(found, max(1, int(asked))) if asked.isdecimal() else found
