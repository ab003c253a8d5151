"""This machine as an engine, with jobs that do what a test wants."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rag_assets.model import RagError
from rag_assets.storage import hold_lock
from rag_assets.storage.execution import Limits, LocalExecution, OnPart, WorkerStoppedError


@dataclass
class Doing:
    """A worker that calls what the test gave."""

    act: Callable[[int], int]
    stopped: threading.Event = field(default_factory=threading.Event)
    closed: int = 0

    def do(self, job: int, on_part: OnPart[int] | None) -> int:
        if self.stopped.is_set():
            raise WorkerStoppedError
        if on_part:
            on_part(job, 1)
        return self.act(job)

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        self.closed += 1


@dataclass
class Numbers:
    """A kind whose jobs are numbers; those in `folder` are claimed."""

    act: Callable[[int], int] = lambda job: -job
    at_once: int | None = 2
    folder: Path | None = None
    name: str = "count"
    opened: list[Doing] = field(default_factory=list)

    @property
    def limits(self) -> Limits:
        return Limits(at_once=self.at_once)

    def open_worker(self) -> Doing:
        self.opened.append(Doing(self.act))
        return self.opened[-1]

    def claim(self, job: int) -> Path | None:
        return self.folder / f"{job}.lock" if self.folder else None


@pytest.fixture
def engine() -> LocalExecution:
    return LocalExecution()


@pytest.mark.parametrize("at_once", [None, 0, 1, 3])
def test_every_job_has_its_result_and_every_worker_is_closed(
    engine: LocalExecution, at_once: int | None
) -> None:
    kind, told = Numbers(at_once=at_once), list[tuple[int, int]]()
    found = engine.map(kind, range(7), pytest.fail, on_part=lambda *part: told.append(part))
    assert sorted(found) == [-6, -5, -4, -3, -2, -1, 0]
    assert sorted(told) == [(job, 1) for job in range(7)]
    assert kind.opened
    assert {worker.closed for worker in kind.opened} == {1}


def test_jobs_without_lanes_are_done_in_order_by_the_thread_that_asks(
    engine: LocalExecution,
) -> None:
    done: list[threading.Thread] = []

    def act(job: int) -> int:
        done.append(threading.current_thread())
        return job

    assert list(engine.map(Numbers(act, None), [3, 1, 2], pytest.fail)) == [3, 1, 2]
    assert set(done) == {threading.main_thread()}


def test_trouble_of_one_lane_ends_the_others(engine: LocalExecution) -> None:
    def act(job: int) -> int:
        if job == 2:
            raise RagError("no disk")
        return job

    kind = Numbers(act)
    with pytest.raises(RagError, match="no disk"):
        list(engine.map(kind, range(1000), pytest.fail))
    assert all(worker.stopped.is_set() and worker.closed for worker in kind.opened)


def test_closing_early_stops_the_workers(engine: LocalExecution) -> None:
    results = engine.map(kind := Numbers(), range(1000), pytest.fail)
    assert isinstance(results, Iterator)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert all(worker.stopped.is_set() and worker.closed for worker in kind.opened)


def test_what_another_run_does_comes_last_and_is_waited_for_aloud(
    engine: LocalExecution, tmp_path: Path
) -> None:
    said: list[str] = []
    kind = Numbers(at_once=1, folder=tmp_path)
    other = hold_lock(tmp_path / "0.lock", "a job", pytest.fail)
    other.__enter__()

    def notify(sentence: str) -> None:
        said.append(sentence)
        other.__exit__(None, None, None)

    assert list(engine.map(kind, range(4), notify)) == [-1, -2, -3, 0]
    assert said == ["waiting for another process that does 1 of the jobs to count"]
    assert list(tmp_path.iterdir()) == []


def test_closing_ends_the_wait_for_another_run(engine: LocalExecution, tmp_path: Path) -> None:
    waits = threading.Event()
    kind = Numbers(at_once=1, folder=tmp_path)
    with hold_lock(tmp_path / "0.lock", "a job", pytest.fail):
        results = engine.map(kind, range(2), lambda _: waits.set())
        assert next(results) == -1
        assert waits.wait(60)
        results.close()  # type: ignore[attr-defined]
    assert {worker.closed for worker in kind.opened} == {1}


def test_a_place_that_takes_no_lock_is_for_the_worker_to_tell(
    engine: LocalExecution, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    kind = Numbers(folder=tmp_path / "file")
    assert sorted(engine.map(kind, range(3), pytest.fail)) == [-2, -1, 0]
