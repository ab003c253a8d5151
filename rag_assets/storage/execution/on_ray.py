"""Ray as an engine: jobs, claims and results stay with this process, workers live in actors.

Each lane of `LocalExecution` speaks to one actor, which has opened the same worker that the lane
would have opened here. So order, claims, waiting and the end of the work are those of this machine.
"""

import logging
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from logging import LogRecord
from pathlib import Path
from typing import Any, Generic, cast

from rag_assets import __version__
from rag_assets.model import ConfigurationError, ServiceError, usable_processors
from rag_assets.storage import Notify
from rag_assets.storage.execution.contract import (
    JobT,
    Kind,
    Limits,
    OnPart,
    ResultT,
    Worker,
    WorkerStoppedError,
)  # fmt: skip
from rag_assets.storage.execution.local import LocalExecution

# Names a cluster that runs already; Ray's own variable.
ADDRESS_VARIABLE = "RAY_ADDRESS"
# Jobs and results in flight: texts, vectors, reports. What is large is written by the workers.
_STORE_BYTES = 200_000_000


def connect() -> Any:
    """Return the module `ray`, connected to a cluster until this process ends.

    Without RAY_ADDRESS Ray is started on this machine, for this process alone.

    Raises:
        ConfigurationError: Ray is not installed.
        ServiceError: the cluster does not answer, or none can be started.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise ConfigurationError(
            "'engine: ray' needs an extra: run `pip install 'rag-assets[ray]'`, or write "
            "`engine: local` into config.yaml."
        ) from error
    if ray.is_initialized():
        return ray
    # Ray tells its makers how it is used unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray would print what its own processes log to standard output, which is a command's.
    quiet: dict[str, Any] = {"logging_level": "warning", "log_to_driver": False}
    address = os.environ.get(ADDRESS_VARIABLE)
    try:
        # Workers run in the folder that is the current one here, and import from it first of all.
        with chdir("/"):
            if address:
                ray.init(address, **quiet)
            else:
                ray.init(
                    "local", num_cpus=usable_processors(), include_dashboard=False,
                    object_store_memory=_STORE_BYTES, **quiet,
                )  # fmt: skip
    except Exception as error:  # Ray raises just that where a machine is too busy to start it
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        if not address:
            raise ServiceError(
                f"Ray does not start on this machine: {reason}. Run again when there is less to "
                "do, or write `engine: local` into config.yaml."
            ) from error
        raise ServiceError(
            f"No Ray cluster answers ({ADDRESS_VARIABLE}={address}): {reason}. Start it (`ray "
            f"start --head`), correct {ADDRESS_VARIABLE}, set RAY_AUTH_MODE=token where the "
            "cluster asks for a token, or write `engine: local` into config.yaml."
        ) from error
    return ray


def deaths() -> tuple[type[Exception], ...]:
    """Return the errors by which Ray says that a worker died, and its job or result with it."""
    from ray import exceptions

    return (
        exceptions.RayActorError,
        exceptions.NodeDiedError,
        exceptions.OutOfMemoryError,  # Ray's own watch over a machine's memory
        exceptions.ObjectLostError,
    )


def describe_death(error: Exception) -> str:
    """Return how a worker ended, on one line: as Ray says it, and where to look for the rest.

    Of a process that the system ended Ray knows no more than that it is gone.
    """
    first, *more = str(error).strip().splitlines()
    if not any("OOM killer" in line for line in more):
        return first
    where = [line.strip() for line in more if line.strip().startswith(("pid:", "ip:"))]
    return (
        f"{first.rstrip('.')} ({', '.join(where)}). Either the system ended its process for want "
        "of memory, which `dmesg` there tells, or the process crashed"
    )


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        # As text: neither the arguments nor a traceback survive pickling for sure.
        text = self.format(record)
        self.records.append(logging.makeLogRecord({**_plain(record), "msg": text}))


def _plain(record: logging.LogRecord) -> dict[str, object]:
    names = (
        "name",
        "levelno",
        "levelname",
        "created",
        "msecs",
        "pathname",
        "filename",
        "lineno",
        "funcName",
    )
    return {name: getattr(record, name) for name in names}


@contextmanager
def kept_logs() -> Iterator[Sequence[logging.LogRecord]]:
    """Yield a list of the warnings and errors that are logged inside the block, as plain values."""
    kept = _Kept()
    logging.getLogger().addHandler(kept)
    try:
        yield kept.records
    finally:
        logging.getLogger().removeHandler(kept)


# How often a job is given to a worker that dies. A machine that goes away costs a try, too.
TRIES = 3
# Between two looks at a job that is being done: for its parts, and whether it was stopped.
_LOOK_SECONDS = 0.2


class RayExecution:
    """Actors of Ray, on the cluster that RAY_ADDRESS names or on this machine.

    Actors are kept for the next `map` of the same kind, with the models that they have loaded,
    until the block ends: `with RayExecution() as engine`.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._idle: list[tuple[object, Any]] = []
        # Lanes tell in turn: who listens need not be safe for threads.
        self.telling = threading.Lock()

    def __enter__(self) -> "RayExecution":
        return self

    def __exit__(self, *_: object) -> None:
        """End the actors. Ray itself ends with this process."""
        with self._guard:
            idle, self._idle = self._idle, []
        for kept in idle:
            end_host(kept[1])

    def at_once(self, kind: Kind[JobT, ResultT]) -> int:
        """Return how many actors of a kind there are room for.

        A job that takes every core here has one there: Ray tells an actor how many.

        Raises:
            ConfigurationError: Ray is not installed.
            ServiceError: the cluster does not answer.
        """
        ray = connect()
        cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        most = kind.limits.at_once
        return max(1, sum(min(most or count, count) for count in cores))

    def map(
        self,
        kind: Kind[JobT, ResultT],
        jobs: Iterable[JobT],
        notify: Notify,
        *,
        on_part: OnPart[JobT] | None = None,
    ) -> Iterator[ResultT]:
        """Yield the result of every job as it comes; see `Execution.map`."""
        waiting = list(jobs)
        if waiting:  # else Ray need not be started
            placed = _Placed(kind, self, notify, self.at_once(kind))
            yield from LocalExecution().map(placed, waiting, notify, on_part=on_part)

    def take_host(self, kind: object) -> Any:
        """Return an actor for a kind; those of other kinds give their cores back."""
        # Want of memory ends actors without a job, too: that is no try of the next one's.
        while (host := self._kept_host(kind)) is not None:
            if _lives(host):
                return host
        # A second thread answers for parts while the first does the job.
        options = {"num_cpus": 1, "max_concurrency": 2, "scheduling_strategy": "SPREAD"}
        return connect().remote(**options)(Host).remote(kind, __version__)

    def _kept_host(self, kind: object) -> Any:
        with self._guard:
            idle, self._idle = self._idle, []
            fitting = [host for known, host in idle if known == kind]
            self._idle = [(kind, host) for host in fitting[1:]]
        for known, host in idle:
            if known != kind:
                end_host(host)
        return fitting[0] if fitting else None

    def take_back(self, kind: object, host: Any) -> None:
        """Keep an actor whose jobs are done."""
        with self._guard:
            self._idle.append((kind, host))


@dataclass(frozen=True)
class _Placed(Generic[JobT, ResultT]):
    """A kind whose workers are actors."""

    kind: Kind[JobT, ResultT]
    engine: RayExecution
    notify: Notify
    lanes: int

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def limits(self) -> Limits:
        return Limits(self.lanes)

    def open_worker(self) -> "_Lane[JobT, ResultT]":
        return _Lane(self)

    def claim(self, job: JobT) -> Path | None:
        return self.kind.claim(job)

    def give_up(self, job: JobT, trouble: str) -> ResultT:
        return self.kind.give_up(job, trouble)


@dataclass
class _Lane(Generic[JobT, ResultT]):
    """The side of this process of one actor, which is replaced when it dies."""

    placed: _Placed[JobT, ResultT]
    stopped: threading.Event = field(default_factory=threading.Event)
    host: Any = None

    def do(self, job: JobT, on_part: OnPart[JobT] | None) -> ResultT:
        """Return the result of a job; a worker that dies of it is replaced, `TRIES` in all."""
        from ray.exceptions import RayTaskError

        trouble = ""
        for left in reversed(range(TRIES)):
            if self.host is None:
                self.host = self.placed.engine.take_host(self.placed.kind)
            try:
                return self._ask(job, on_part)
            except RayTaskError as error:
                # What the worker raised, as it would have been raised here.
                raise error.cause from error
            except deaths() as error:
                self.host, trouble = None, describe_death(error)
            if left:
                self.placed.notify(
                    f"a worker to {self.placed.name} died; its job is given to another one "
                    f"({left} tries left): {trouble}"
                )
        return self.placed.give_up(job, trouble)

    def stop(self) -> None:
        """End the job at hand."""
        self.stopped.set()

    def close(self) -> None:
        """Leave the actor to the next one who needs it, or end it with the job that it does."""
        host, self.host = self.host, None
        if host is None:
            return
        if self.stopped.is_set():
            end_host(host)
        else:
            self.placed.engine.take_back(self.placed.kind, host)

    def _ask(self, job: JobT, on_part: OnPart[JobT] | None) -> ResultT:
        import ray

        told = 0
        answer = self.host.do.remote(job, on_part is not None)
        while not ray.wait([answer], timeout=_LOOK_SECONDS)[0]:
            if self.stopped.is_set():
                raise WorkerStoppedError
            if on_part is None:
                continue
            part, _ = ray.wait([asked := self.host.part.remote()], timeout=_LOOK_SECONDS)
            if part and (done := ray.get(asked)) > told:
                told = done
                self._tell(on_part, job, told)
        result, last, logged = ray.get(answer)
        # Log here what was logged in the other process.
        for record in logged:
            logger = logging.getLogger(record.name)
            if logger.isEnabledFor(record.levelno):
                logger.handle(record)
        if on_part is not None and last > told:
            self._tell(on_part, job, last)
        return cast("ResultT", result)

    def _tell(self, on_part: OnPart[JobT], job: JobT, part: int) -> None:
        with self.placed.engine.telling:
            on_part(job, part)


class Host:
    """In an actor: a worker of one kind, and how much it has told of the job at hand."""

    def __init__(self, kind: Kind[Any, Any], version: str) -> None:
        self._kind, self._version = kind, version
        self._worker: Worker[Any, Any] | None = None
        self._part = 0

    def do(self, job: Any, tells: bool) -> tuple[Any, int, Sequence[LogRecord]]:
        """Return the result of a job, the last that was told of its parts, and what was logged."""
        if self._version != __version__:
            raise ConfigurationError(
                f"A worker of the Ray cluster has rag-assets {__version__}, the run has "
                f"{self._version}: install the same version on every machine."
            )
        self._worker = self._worker or self._kind.open_worker()
        self._part = 0
        with kept_logs() as logged:
            result = self._worker.do(job, self._note if tells else None)
        return result, self._part, logged

    def part(self) -> int:
        """Return what was last told of the job at hand."""
        return self._part

    def close(self) -> None:
        """Give back what the worker holds."""
        if self._worker is not None:
            self._worker.close()

    def _note(self, _: Any, done: int) -> None:
        self._part = done


def _lives(host: Any) -> bool:
    try:
        connect().get(host.part.remote())
    except deaths():
        return False
    return True


def end_host(host: Any) -> None:
    """End an actor; a parser's own process ends when its pipe closes."""
    connect().kill(host)
