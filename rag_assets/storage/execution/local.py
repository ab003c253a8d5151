"""The machine at hand as an engine: a few lanes with a worker each, or the thread that asks."""

import os
import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from rag_assets.model import LockedError
from rag_assets.storage import Notify, hold_lock
from rag_assets.storage.execution.contract import JobT, Kind, OnPart, ResultT, WorkerStoppedError

# Between two looks at jobs that another run does.
_LOOK_SECONDS = 0.2


class LocalExecution:
    """The workers of this machine."""

    def at_once(self, kind: Kind[JobT, ResultT]) -> int:
        """Return how many jobs of a kind are done at a time; see `Execution.at_once`."""
        at_once = kind.limits.at_once
        return 1 if at_once is None else at_once or os.cpu_count() or 1

    def map(
        self,
        kind: Kind[JobT, ResultT],
        jobs: Iterable[JobT],
        notify: Notify,
        *,
        on_part: OnPart[JobT] | None = None,
    ) -> Iterator[ResultT]:
        """Yield the result of every job as it comes; see `Execution.map`."""
        if kind.limits.at_once is None:
            with closing(kind.open_worker()) as worker:
                for job in jobs:
                    yield worker.do(job, on_part)
        else:
            at_once = self.at_once(kind)
            pending = _Pending(kind, deque(jobs), notify)
            total = len(pending.jobs)
            outcomes: queue.SimpleQueue[_Done[ResultT] | BaseException] = queue.SimpleQueue()
            lanes = [_Lane(kind, pending, outcomes, on_part) for _ in range(min(total, at_once))]
            try:
                for lane in lanes:
                    lane.start()
                for _ in range(total):
                    outcome = outcomes.get()
                    if isinstance(outcome, BaseException):
                        raise outcome
                    yield outcome.result
                for lane in lanes:  # nothing is left for them
                    lane.finish()
            finally:
                pending.stopped.set()
                for lane in lanes:
                    lane.stop()


@dataclass(frozen=True, slots=True)
class _Done(Generic[ResultT]):
    result: ResultT


class _Pending(Generic[JobT, ResultT]):
    """The jobs that no lane has taken yet."""

    def __init__(self, kind: Kind[JobT, ResultT], jobs: deque[JobT], notify: Notify) -> None:
        self.jobs = jobs
        self.stopped = threading.Event()
        self._kind, self._notify = kind, notify
        self._guard = threading.Lock()
        self._has_said = False

    def take(self) -> tuple[JobT, ExitStack] | None:
        """Return a job that nobody does, and its claim; None where none is left.

        What another run does is put off to the end, and then waited for.
        """
        while not self.stopped.is_set():
            for _ in range(len(self.jobs)):
                try:
                    job = self.jobs.popleft()
                except IndexError:  # another lane took the last one
                    return None
                claim = _take_claim(self._kind.claim(job))
                if claim is not None:
                    return job, claim
                self.jobs.append(job)
            if not self.jobs:
                return None
            with self._guard:
                if not self._has_said:
                    self._has_said = True
                    left = f"{len(self.jobs)} of the jobs to {self._kind.name}"
                    self._notify(f"waiting for another process that does {left}")
            self.stopped.wait(_LOOK_SECONDS)
        return None


def _take_claim(path: Path | None) -> ExitStack | None:
    """Return what gives a claim back, None where another run has it."""
    claim = ExitStack()
    if path is None:
        return claim
    try:
        claim.enter_context(hold_lock(path, "a job", lambda _: None, seconds=0))
    except LockedError:
        return None
    except OSError:
        # A place that takes no lock takes no result: the worker meets the trouble, and tells it.
        return claim
    claim.callback(path.unlink, missing_ok=True)
    return claim


class _Lane(Generic[JobT, ResultT]):
    """A thread with a worker."""

    def __init__(
        self,
        kind: Kind[JobT, ResultT],
        pending: _Pending[JobT, ResultT],
        outcomes: "queue.SimpleQueue[_Done[ResultT] | BaseException]",
        on_part: OnPart[JobT] | None,
    ) -> None:
        self._pending, self._outcomes, self._on_part = pending, outcomes, on_part
        self._worker = kind.open_worker()
        self._thread = threading.Thread(target=self._run, name=f"rag-{kind.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        self._thread.join()

    def stop(self) -> None:
        self._worker.stop()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            with closing(self._worker):
                while (taken := self._pending.take()) is not None:
                    job, claim = taken
                    with claim:
                        result = self._worker.do(job, self._on_part)
                    self._outcomes.put(_Done(result))
        except WorkerStoppedError:
            return
        except BaseException as error:  # noqa: BLE001 - raised again by the consumer's thread
            self._outcomes.put(error)
