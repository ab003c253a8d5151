"""How far a command has come: a bar on a terminal, lines with times everywhere else."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from rag_assets.cli.options import terminal_of
from rag_assets.model import Progress, drop_controls

_SHOWN_CHARACTERS = 60
# Off a terminal a line is written when so much time has passed since the last one, or at once
# where this much is still to come: nobody wants lines of what takes a moment.
_SECONDS_BETWEEN = 10.0
_LONG_SECONDS = 30.0


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show progress on standard error; the run may capture what else is written there."""
    with _own_stream() as stream:
        if stream.isatty():
            yield from _bars(stream)
        else:
            yield ProgressLines(lambda line: print(line, file=stream, flush=True))


@contextmanager
def shown_steps() -> Iterator[Callable[[str], None]]:
    """Show what a command does now, with its seconds, on a terminal; lines everywhere else."""
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    with _own_stream() as stream:
        if not stream.isatty():
            yield lambda said: print(said, file=stream, flush=True) if said else None
            return
        columns = SpinnerColumn(), TextColumn("{task.description}", markup=False)
        with Bars(
            *columns, TimeElapsedColumn(), console=Console(file=stream), transient=True
        ) as bars:
            shown = bars.add_task("", total=None)

            def step(said: str) -> None:
                if said:
                    bars.reset(shown, description=_short(drop_controls(said), 200))

            yield step


@contextmanager
def _own_stream() -> Iterator[TextIO]:
    """Yield standard error as it is now, whatever its descriptor is pointed at meanwhile."""
    stream = terminal_of(sys.stderr)
    descriptor = None
    with suppress(OSError, AttributeError):  # in memory: it has no descriptor to be pointed away
        descriptor = os.dup(stream.fileno())
    if descriptor is None:
        yield stream
        return
    with os.fdopen(descriptor, "w", encoding=stream.encoding, errors="replace") as own:
        yield own


def _bars(stream: TextIO) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: object) -> Text:
            speed = getattr(task, "speed", None)
            return Text(f"{speed:.1f}/s" if speed else "")

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), Speed(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Bars(*columns, console=Console(file=stream), transient=True) as bars:
        shown = bars.add_task("starting", total=None)
        stage = "starting"

        def report(what: str, done: int, total: int) -> None:
            nonlocal shown, stage
            if what != stage:
                # A new bar: speed and time left are those of this stage alone.
                bars.remove_task(shown)
                shown, stage = bars.add_task(_short(what), total=None), what
            if not total:
                bars.console.print(_short(what, 200), markup=False, highlight=False)
            bars.update(shown, completed=done, total=total or None)

        yield report


class ProgressLines:
    """Writes a line now and then.

    Args:
        write: takes a line.
        clock: seconds of a clock that never goes back.
    """

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._clock = clock
        self._stage = ""
        self._begun = self._told = clock()
        self._before = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report a stage, how much of it is done, and of how much; 0 of 0 is plain news."""
        now = self._clock()
        if not total:
            self._write(f"{time.strftime('%H:%M:%S')} {_short(what, 200)}")
            return
        if what != self._stage:
            self._stage, self._begun, self._before = what, now, done
            is_new = True
        else:
            is_new = False
        passed = now - self._begun
        speed = (done - self._before) / passed if passed > 0 else 0.0
        left = (total - done) / speed if speed else None
        is_due = now - self._told >= _SECONDS_BETWEEN
        if is_new or not (is_due or self._is_long_news(left)):
            return
        self._told = now
        pace = f", {speed:.1f} a second, {show_seconds(left)} left" if left is not None else ""
        self._write(f"{time.strftime('%H:%M:%S')} {_short(what)}: {done} of {total}{pace}")

    def _is_long_news(self, left: float | None) -> bool:
        """Say whether nothing was told of this stage yet, and it will take long."""
        return left is not None and left >= _LONG_SECONDS and self._told < self._begun


def show_seconds(seconds: float) -> str:
    """Return a time as a person says it: `40 s`, `12 min`, `3 h 5 min`."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _short(text: str, most: int = _SHOWN_CHARACTERS) -> str:
    return drop_controls(text)[:most]
