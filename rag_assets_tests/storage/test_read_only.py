"""A place that cannot be written is told in a sentence, wherever the first write is tried."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from filelock import FileLock

from rag_assets.cli.main import build_cli
from rag_assets.model import StorageError
from rag_assets.running import serving
from rag_assets.running.examining import examine
from rag_assets.storage import hold_lock
from rag_assets.workspace import Workspace, create_workspace


def refuse(*_: Any, **__: Any) -> Any:
    """As a file system that is mounted for reading does."""
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/some/where")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return create_workspace(tmp_path / "library", "thesis")[0]


@pytest.fixture
def rag(workspace: Workspace) -> Callable[..., Result]:
    def run(*arguments: str) -> Result:
        at = ["--workspace", str(workspace.root)]
        return CliRunner().invoke(build_cli(), [*at, *arguments], prog_name="rag")

    return run


def test_a_lock_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileLock, "acquire", refuse)
    with (
        pytest.raises(StorageError, match=r"a\.lock: cannot be written: its disk is read-only"),
        hold_lock(tmp_path / "a.lock", "something", pytest.fail),
    ):
        pytest.fail("there is no lock")


def test_what_the_block_raises_is_not_taken_for_the_lock(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="/some/where"), hold_lock(tmp_path / "l", "x", pytest.fail):
        refuse()


@pytest.mark.parametrize(
    "command",
    [("decide", "more", "--reason", "why"), ("meta", "set", "roofs", "year=2020")],
)
def test_commands_that_lock_say_what_is_wrong(
    rag: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(FileLock, "acquire", refuse)
    ran = rag(*command)
    assert ran.exit_code == 1, ran.output
    assert "read-only" in ran.output
    assert "run the command again" in ran.output


def test_a_write_of_another_library_is_told_too(
    rag: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_assets.cli.setup.open_namespaces", refuse)
    ran = rag("namespace", "list")
    assert ran.exit_code == 1
    assert "error: /some/where: cannot be written: its disk is read-only" in ran.output


def test_init_says_that_there_nothing_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(folder: str) -> Result:
        return CliRunner().invoke(build_cli(), ["init", folder], prog_name="rag")

    ran = init("/proc/rag-library")
    assert ran.exit_code == 1, ran.output
    assert "error: /proc/rag-library" in ran.output
    assert "cannot be made" in ran.output
    (tmp_path / "file").write_text("x")
    ran = init(str(tmp_path / "file" / "library"))
    assert ran.exit_code == 3
    assert f"{tmp_path / 'file'} is a file" in ran.output
    monkeypatch.setattr(Path, "mkdir", refuse)
    ran = init(str(tmp_path / "library"))
    assert ran.exit_code == 1
    assert "read-only" in ran.output


def test_the_ui_is_not_announced_where_it_cannot_start(
    rag: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "require_writable", lambda *_: refuse())
    ran = rag("ui", "--port", "39817")
    assert ran.exit_code == 1
    assert "serves" not in ran.output


def test_the_ui_is_not_announced_on_a_port_that_is_taken(rag: Callable[..., Result]) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = rag("ui", "--port", str(taken.getsockname()[1]))
    assert ran.exit_code == 3
    assert "is taken" in ran.output
    assert "serves" not in ran.output


def test_doctor_says_that_the_workspace_cannot_be_written(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "touch", refuse)
    (found,) = [each for each in examine(str(workspace.root)) if each.what == "writing"]
    assert not found.is_fine
    assert "read-only" in found.found
    assert found.mend is not None
    assert "mount it for writing" in found.mend


def test_doctor_without_a_workspace_finds_nothing_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAG_WORKSPACE", raising=False)
    found = examine(None)[-1]
    assert (found.what, found.is_fine, found.mend) == ("workspace", True, None)
    assert "rag init DIR" in found.found
    assert not examine(str(tmp_path))[-1].is_fine
