"""What of this machine a process may use."""

import os


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
