import errno
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rag_assets.model import DamagedFileError, DiskFullError
from rag_assets.storage import (
    VersionedOutput,
    add_to_version,
    find_versions,
    read_json,
    write_version,
)


def write(root: Path, text: str, stem: str = "pack") -> VersionedOutput:
    return write_version(
        root / "outputs",
        stem,
        {".md": text, ".json": json.dumps({"text": text})},
        root / "meta" / "version_log.jsonl",
        root / "outputs.lock",
        "a question 气孔",
        lambda sentence: None,
    )


def log_of(root: Path) -> list[dict[str, str | None]]:
    lines = (root / "meta/version_log.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def test_versions_are_numbered_and_never_overwritten(tmp_path: Path) -> None:
    first, second = write(tmp_path, "one"), write(tmp_path, "two")
    assert (first.version, second.version) == (1, 2)
    assert first.files[".md"].read_text() == "one"
    assert second.files[".json"].name == "pack_v002.json"
    assert [(entry["from"], entry["to"]) for entry in log_of(tmp_path)] == [
        (None, "v001"), ("v001", "v002"),
    ]  # fmt: skip


def test_number_of_a_version_of_which_a_part_was_removed_is_not_used_again(
    tmp_path: Path,
) -> None:
    write(tmp_path, "one")
    second = write(tmp_path, "two")
    second.files[".md"].unlink()
    third = write(tmp_path, "three")
    assert third.version == 3
    assert "two" in second.files[".json"].read_text()


def add(root: Path, path: Path, text: str) -> bool:
    log, lock = root / "meta" / "version_log.jsonl", root / "outputs.lock"
    return add_to_version(path, text, log, lock, "its page", lambda sentence: None)


def test_file_that_is_added_to_a_version_is_logged_and_never_written_over(tmp_path: Path) -> None:
    page = write(tmp_path, "one").files[".md"].with_suffix(".html")
    assert add(tmp_path, page, "page")
    assert not add(tmp_path, page, "another")
    assert page.read_text() == "page"
    assert [(entry["file"], entry["to"]) for entry in log_of(tmp_path)] == [
        ("outputs/pack_v001.md", "v001"), ("outputs/pack_v001.html", "v001"),
    ]  # fmt: skip


def test_number_of_which_only_an_added_file_is_left_is_not_used_again(tmp_path: Path) -> None:
    first = write(tmp_path, "one")
    add(tmp_path, first.files[".md"].with_suffix(".html"), "page")
    for path in first.files.values():
        path.unlink()
    assert write(tmp_path, "two").version == 2


def test_concurrent_writers_get_different_numbers(tmp_path: Path) -> None:
    found: list[VersionedOutput] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(write(tmp_path, f"text {n}")))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(output.version for output in found) == list(range(1, 9))
    texts = {output.files[".md"].read_text() for output in found}
    assert texts == {f"text {n}" for n in range(8)}
    assert len(log_of(tmp_path)) == 8


def test_stems_are_counted_apart_even_where_one_begins_like_the_other(tmp_path: Path) -> None:
    write(tmp_path, "one", "pack")
    assert write(tmp_path, "two", "pack_v001").version == 1
    assert write(tmp_path, "three", "pack.").version == 1
    assert [number for number, _ in find_versions(tmp_path / "outputs", "pack", ".md")] == [1]


def test_half_written_line_of_the_log_harms_no_other(tmp_path: Path) -> None:
    write(tmp_path, "one")
    log = tmp_path / "meta/version_log.jsonl"
    with log.open("ab") as handle:
        handle.write(b'{"file": "outp')
    write(tmp_path, "two")
    lines = log.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["to"] == "v001"
    assert json.loads(lines[2])["to"] == "v002"


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"\xff\xfe"])
def test_damaged_output_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "pack_v001.json"
    path.write_bytes(data)
    with pytest.raises(DamagedFileError, match=r"pack_v001\.json.*evidence pack"):
        read_json(path, "evidence pack")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("file", ["pack_v002.md", "pack_v002.json"])
def test_a_version_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    write(tmp_path, "one")
    before = names_in(tmp_path / "outputs")
    rename = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == file:
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DiskFullError):
        write(tmp_path, "two")
    assert names_in(tmp_path / "outputs") == before
    assert len(log_of(tmp_path)) == 1


def die_after(root: Path, renames: int) -> None:
    """Write a version in a process that is killed after so many of its files were renamed."""
    script = f"""
import os, signal
from pathlib import Path
from rag_assets_tests.storage.test_versioned import write
rename, left = Path.replace, [{renames}]
def dying(self, target):
    if "_v" in target.name and not target.name.startswith("."):
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
    return rename(self, target)
Path.replace = dying
import rag_assets.storage.versioned as versioned
versioned.append_log = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write(Path({str(root)!r}), "dead")
"""
    ran = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[2], check=False)
    assert ran.returncode == -signal.SIGKILL


def test_what_a_killed_writer_left_half_is_taken_away_by_the_next(tmp_path: Path) -> None:
    write(tmp_path, "one")
    die_after(tmp_path, 1)
    assert (tmp_path / "outputs/pack_v002.md").is_file()
    assert not (tmp_path / "outputs/pack_v002.json").exists()
    second = write(tmp_path, "two")
    assert second.version == 2
    assert second.files[".md"].read_text() == "two"
    assert [entry["to"] for entry in log_of(tmp_path)] == ["v001", "v002"]
    left = [name for name in names_in(tmp_path / "outputs") if name.endswith(".begun")]
    assert left == []


def test_a_version_of_which_only_the_log_was_missing_is_kept_and_logged(tmp_path: Path) -> None:
    die_after(tmp_path, 2)
    assert write(tmp_path, "two").version == 2
    assert "dead" in (tmp_path / "outputs/pack_v001.md").read_text()
    assert [entry["to"] for entry in log_of(tmp_path)] == ["v001", "v002"]
