"""More time for a document, asked for by the parser that reads it.

A page that is read by text recognition costs seconds where another costs milliseconds. The limit
of a document would have to be that of the longest scan; so a page adds its own when it is begun.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Grant = Callable[[float], None]

_grant: ContextVar[Grant | None] = ContextVar("grant", default=None)


@contextmanager
def granting(grant: Grant) -> Iterator[None]:
    """Let `ask_for_seconds` reach `grant` inside of the block."""
    token = _grant.set(grant)
    try:
        yield
    finally:
        _grant.reset(token)


def ask_for_seconds(seconds: float) -> None:
    """Lengthen the time of the document at hand; outside of a worker there is no limit.

    Args:
        seconds: of wall time, for the piece of work that begins now.
    """
    grant = _grant.get()
    if grant is not None:
        grant(seconds)
