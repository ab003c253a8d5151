import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.model import LockedError
from rag_assets.storage import hold_lock

# Holds the lock, says so, and waits for its input to end.
_HOLDER = """
import sys
from pathlib import Path
from rag_assets.storage import hold_lock
with hold_lock(Path(sys.argv[1]), "a record", print):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold_elsewhere(lock: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_lock_of_another_process_is_waited_for_aloud_and_ends_in_an_error(tmp_path: Path) -> None:
    lock = tmp_path / "deep" / "record.lock"
    said: list[str] = []
    with (
        hold_elsewhere(lock) as process,
        pytest.raises(LockedError, match=r"record\.lock: another process"),
        hold_lock(lock, "a record", said.append, seconds=0.1),
    ):
        pytest.fail("the lock is held elsewhere")
    assert process.poll() is not None
    assert said == ["waiting for another process that is writing a record (record.lock)"]


def test_lock_dies_with_its_process(tmp_path: Path) -> None:
    lock = tmp_path / "record.lock"
    with hold_elsewhere(lock) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert lock.exists()
    with hold_lock(lock, "a record", pytest.fail, seconds=5):
        pass


def test_free_lock_is_taken_without_a_word_and_given_back(tmp_path: Path) -> None:
    lock = tmp_path / "record.lock"
    for _ in range(2):
        with hold_lock(lock, "a record", pytest.fail, seconds=0.1):
            pass


def test_lock_is_given_back_when_the_work_fails(tmp_path: Path) -> None:
    lock = tmp_path / "record.lock"
    with pytest.raises(ZeroDivisionError), hold_lock(lock, "a record", pytest.fail):
        raise ZeroDivisionError
    with hold_lock(lock, "a record", pytest.fail, seconds=0.1):
        pass
