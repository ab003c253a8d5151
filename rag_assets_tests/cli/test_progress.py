"""Progress: lines with times where nobody draws, and a stream that a run cannot take away."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets import cli
from rag_assets.cli.progress import ProgressLines, show_seconds, shown_progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def report(clock: Clock, told: list[str]) -> Callable[[str, int, int], None]:
    return ProgressLines(lambda line: told.append(line.partition(" ")[2]), clock)


def test_what_takes_a_moment_is_not_told(
    report: Callable[[str, int, int], None], clock: Clock, told: list[str]
) -> None:
    for done in range(5):
        clock.now += 1
        report("parsing", done, 5)
    assert told == []


def test_a_long_stage_is_estimated_as_soon_as_its_pace_is_known(
    report: Callable[[str, int, int], None], clock: Clock, told: list[str]
) -> None:
    clock.now = 1
    report("encoding passages", 0, 600)
    clock.now = 3
    report("encoding passages", 4, 600)
    assert told == ["encoding passages: 4 of 600, 2.0 a second, 5 min left"]


def test_then_a_line_comes_every_ten_seconds(
    report: Callable[[str, int, int], None], clock: Clock, told: list[str]
) -> None:
    for second in range(1, 32):
        clock.now = second
        report("encoding passages", second, 40)
    assert [line.split(",")[0] for line in told] == [
        "encoding passages: 2 of 40",
        "encoding passages: 12 of 40",
        "encoding passages: 22 of 40",
    ]


def test_news_are_told_at_once(report: Callable[[str, int, int], None], told: list[str]) -> None:
    report("thesis can be asked now", 0, 0)
    assert told == ["thesis can be asked now"]


def test_a_run_that_captures_the_error_stream_does_not_stop_it(tmp_path: Path) -> None:
    seen, captured = tmp_path / "seen", tmp_path / "captured"
    kept, before = os.dup(2), sys.stderr
    try:
        with seen.open("wb") as file:
            os.dup2(file.fileno(), 2)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        with shown_progress() as report:
            with captured.open("wb") as file:
                os.dup2(file.fileno(), 2)
            report("can be asked now", 0, 0)
    finally:
        sys.stderr = before
        os.dup2(kept, 2)
        os.close(kept)
    assert "can be asked now" in seen.read_text(encoding="utf-8")
    assert captured.read_bytes() == b""


@pytest.mark.parametrize(("seconds", "said"), [(41.2, "41 s"), (300, "5 min"), (7500, "2 h 5 min")])
def test_seconds_are_said_as_a_person_would(seconds: float, said: str) -> None:
    assert show_seconds(seconds) == said


def test_a_left_call_of_a_local_model_ends_the_process_with_its_exit_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    left, ended = threading.Event(), list[int]()
    monkeypatch.setattr(cli, "build_cli", lambda: lambda: sys.exit(3))
    monkeypatch.setattr(os, "_exit", ended.append)
    call = threading.Thread(target=left.wait, name="language model", daemon=True)
    call.start()
    with pytest.raises(SystemExit):
        cli.main()
    left.set()
    call.join()
    assert ended == [3]
