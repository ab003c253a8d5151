"""What a command prints passes here: no text that it shows can act on the terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from rag_assets.model import drop_controls


class _ShownText:
    """A text stream that writes to another what `drop_controls` leaves."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(drop_controls(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def shown_output() -> Iterator[None]:
    """Let what is printed within, by whichever library, have no control character.

    File names, titles and messages come from files; a terminal would obey what stands in them.
    """
    with (
        redirect_stdout(_ShownText(sys.stdout)),
        redirect_stderr(_ShownText(sys.stderr)),
    ):
        yield


def terminal_of(stream: Any) -> TextIO:
    """Return the stream behind one of `shown_output`, for what draws on a terminal itself."""
    terminal: TextIO = getattr(stream, "stream", stream)
    return terminal
