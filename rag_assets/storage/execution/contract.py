"""What a stage and an engine know of each other: kinds of work, plain jobs, plain results.

A job and its result are values: they survive pickling and equal their copy, so that an engine may
send them to another process or machine. What it takes to do a job (a process with limits, a loaded
model) is a worker's, which is opened where the jobs are done.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from rag_assets.storage import Notify

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")
JobT_contra = TypeVar("JobT_contra", contravariant=True)
ResultT_co = TypeVar("ResultT_co", covariant=True)

# Told a job and how much of it is done, in units of its kind, by engines that know.
OnPart = Callable[[JobT, int], None]


class WorkerStoppedError(Exception):
    """A worker was asked for a job after it was stopped; nobody waits for the result."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may take. The worker keeps time and memory; an engine may place jobs by them.

    Args:
        at_once: jobs at a time on one machine, each with a worker of its own; 0 for one a core.
            None: one after the other in the thread that asks, since a job takes every core.
        seconds: of wall time for one job; None where nothing ends it.
        megabytes: of memory (10⁶ bytes) beyond what the worker takes; None for no limit.
    """

    at_once: int | None = None
    seconds: float | None = None
    megabytes: int | None = None


class Worker(Protocol[JobT, ResultT_co]):
    """Does jobs of one kind, one at a time. Opening it is cheap: the first job pays."""

    def do(self, job: JobT, on_part: OnPart[JobT] | None) -> ResultT_co:
        """Return the result of a job. What happens to the job alone is in its result.

        Raises:
            WorkerStoppedError: it was stopped.
            RagError: trouble of the machine or the configuration, which ends the whole run.
        """

    def stop(self) -> None:
        """End the job at hand, from another thread; its result is of no use to anybody."""

    def close(self) -> None:
        """Give back what it holds."""


class Kind(Protocol[JobT, ResultT_co]):
    """A kind of work: a plain value too, with the settings that hold for all of its jobs."""

    @property
    def name(self) -> str:
        """A verb, for messages."""

    @property
    def limits(self) -> Limits:
        """What one job may take."""

    def open_worker(self) -> Worker[JobT, ResultT_co]:
        """Return what does jobs of this kind, on the machine on which this is called."""

    def claim(self, job: JobT) -> Path | None:
        """Return the lock file of who does this job now; None where nobody else could.

        It keeps two runs on one machine from doing a job twice. Correctness is not its matter: the
        second looks at what the first has stored, and records are compared under their own lock.
        """

    def give_up(self, job: JobT, trouble: str) -> ResultT_co:
        """Return the result of a job whose workers died, each of them, with its process.

        Only engines that have the worker in another process ask for it.

        Args:
            trouble: how the last one ended, as the engine says it.

        Raises:
            RagError: the run cannot go on without the job.
        """


class Execution(Protocol):
    """An engine: does jobs somewhere."""

    def at_once(self, kind: Kind[JobT, ResultT]) -> int:
        """Return how many jobs of a kind it does at a time, so that work is cut for all of them.

        Raises:
            RagError: trouble of the machine or the configuration.
        """

    def map(
        self,
        kind: Kind[JobT, ResultT],
        jobs: Iterable[JobT],
        notify: Notify,
        *,
        on_part: OnPart[JobT] | None = None,
    ) -> Iterator[ResultT]:
        """Yield the result of every job as it comes, in any order.

        Failures and crashed workers arrive as results. Closing the iterator ends the work.

        Args:
            notify: told once when all that is left is being done by another run.
            on_part: told of parts of jobs, where the engine knows.

        Raises:
            RagError: trouble of the machine or the configuration.
        """


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
