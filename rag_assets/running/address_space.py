"""A process that may use too little memory is refused before it has locked anything."""

import resource

from rag_assets.model import OutOfMemoryError

# Bytes of address space. Measured with one note and the default models: below it native libraries
# end the process, or wait for threads whose stacks find no place; from it on a run that has too
# little says so itself.
_LEAST = 1_000_000_000


def require_address_space() -> None:
    """Refuse to begin a run under a limit (`ulimit -v`) that leaves no room for its libraries.

    Raises:
        OutOfMemoryError: the text says what is allowed and what is needed.
    """
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed not in {resource.RLIM_INFINITY, -1} and allowed < _LEAST:
        raise OutOfMemoryError(
            f"there is not enough memory: this process may use {allowed / 1e6:.0f} MB of address "
            f"space, and a run needs at least {_LEAST / 1e6:.0f} MB. Nothing was begun; raise the "
            "limit (`ulimit -v unlimited`) and run the command again."
        )
