"""`make demo` brings the reader, and says what is lost where it cannot."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOST = "only\none that stands in its source word for word is OK"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Commands in the place of our own, which write down what they were asked and do it not."""
    if shutil.which("make") is None:
        pytest.skip("make is not on this machine")
    folder = tmp_path / "bin"
    folder.mkdir()
    replace(folder / "python", "exit 0")
    replace(folder / "rag", f'echo "$*" >> {tmp_path}/asked; [ "$1" != init ] || mkdir "$2"')
    return folder


def replace(command: Path, script: str) -> None:
    command.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    command.chmod(0o755)


def make_demo(tools: Path, *given: str) -> tuple[str, list[str]]:
    """Return what `make demo` prints, and what `rag` was asked."""
    demo = tools.parent / "demo"
    done = subprocess.run(
        ["make", "-o", ".venv/.installed", f"BIN={tools}", f"DEMO={demo}", *given, "demo"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, (tools.parent / "asked").read_text(encoding="utf-8").splitlines()


def is_audited(asked: list[str]) -> bool:
    return any("verify-citations" in words for words in asked)


def test_the_reader_is_there_before_the_draft_is_audited(tools: Path) -> None:
    printed, asked = make_demo(tools)
    (added,) = [number for number, words in enumerate(asked) if words == "models add"]
    assert not is_audited(asked[:added])
    assert is_audited(asked[added:])
    assert LOST not in printed


def test_without_a_network_the_demo_goes_on_and_says_what_is_lost(tools: Path) -> None:
    script = (tools / "rag").read_text(encoding="utf-8") + '[ "$1" != models ]\n'
    (tools / "rag").write_text(script, encoding="utf-8")
    printed, asked = make_demo(tools)
    assert "it could not be added" in printed
    assert LOST in printed
    assert is_audited(asked)


def test_nothing_is_downloaded_where_llama_cpp_does_not_load(tools: Path) -> None:
    replace(tools / "python", "exit 1")
    printed, asked = make_demo(tools)
    assert "does not load on this machine" in printed
    assert "models add" not in asked
    assert is_audited(asked)


def test_nothing_is_downloaded_where_that_is_not_wanted(tools: Path) -> None:
    printed, asked = make_demo(tools, "READER=no")
    assert LOST in printed
    assert "models add" not in asked
