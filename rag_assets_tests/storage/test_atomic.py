import errno
import os
from pathlib import Path

import pytest

from rag_assets.model import StorageError
from rag_assets.storage import (
    TEMPORARY_PREFIX,
    explained_errors,
    remove_unfinished,
    replace_file,
    temporary_name,
    write_text,
)


class InterruptedWriteError(Exception):
    pass


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_written_file_replaces_the_old_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er" / "file.txt"
    write_text(target, "old")
    write_text(target, "新")
    assert target.read_text(encoding="utf-8") == "新"
    assert names_in(target.parent) == ["file.txt"]


@pytest.mark.parametrize("error", [InterruptedWriteError, KeyboardInterrupt, OSError])
def test_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    target = tmp_path / "file.txt"
    write_text(target, "old")
    with pytest.raises(error), replace_file(target) as temporary:
        temporary.write_text("half")
        raise error
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["file.txt"]


def test_old_file_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "file.txt"
    write_text(target, "old")
    with replace_file(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
        assert temporary.name.startswith(f"{TEMPORARY_PREFIX}{os.getpid()}-")
    assert target.read_text() == "new"


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "cannot be written"),
        (errno.EACCES, "cannot be written"),
    ],
)
def test_refused_write_names_the_file_and_the_mend(tmp_path: Path, number: int, words: str) -> None:
    with pytest.raises(StorageError, match=words) as caught, explained_errors(tmp_path / "x.bin"):
        raise OSError(number, os.strerror(number))
    assert str(tmp_path / "x.bin") in str(caught.value)
    assert "run the command again" in str(caught.value)


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), explained_errors(tmp_path):
        raise FileNotFoundError(errno.ENOENT, "gone")


def test_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file.txt"
    write_text(target, "old")

    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StorageError, match="disk is full"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["file.txt"]


def test_temporary_names_differ() -> None:
    assert len({temporary_name(".txt") for _ in range(100)}) == 100


def test_unfinished_work_of_dead_processes_goes_and_that_of_living_ones_stays(
    tmp_path: Path,
) -> None:
    dead, alive = tmp_path / f"{TEMPORARY_PREFIX}1-ab.parquet", tmp_path / f"{TEMPORARY_PREFIX}2-cd"
    folder = tmp_path / "deep" / f"{TEMPORARY_PREFIX}1-ef"
    folder.mkdir(parents=True)
    (folder / "half").touch()
    dead.touch()
    alive.touch()
    (tmp_path / f"{TEMPORARY_PREFIX}notes.txt").touch()
    gone = remove_unfinished(tmp_path, lambda process: process == 2)
    assert sorted(gone) == sorted([str(dead), str(folder)])
    assert names_in(tmp_path) == [alive.name, f"{TEMPORARY_PREFIX}notes.txt", "deep"]
