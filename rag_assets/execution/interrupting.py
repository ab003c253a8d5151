"""How a person or a system ends what serves."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the block, and what asks a process or its terminal to end do the same.

    A shell that starts us in the background makes SIGINT ignored, and a child inherits that: then
    nothing could end it but SIGKILL.
    """
    asked = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, signal.default_int_handler) for each in asked}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
