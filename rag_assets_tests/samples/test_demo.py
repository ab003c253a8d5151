"""`make demo` audits the draft with what comes along."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Commands instead of our own, which write down what they were asked and do it not."""
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


def make_demo(tools: Path) -> list[str]:
    """Return what `rag` was asked by `make demo`."""
    demo = tools.parent / "demo"
    done = subprocess.run(
        ["make", "-o", ".venv/.installed", f"BIN={tools}", f"DEMO={demo}", "demo"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return (tools.parent / "asked").read_text(encoding="utf-8").splitlines()


def is_audited(asked: list[str]) -> bool:
    return any("verify-citations" in words for words in asked)


def test_the_draft_is_audited_and_nothing_is_downloaded(tools: Path) -> None:
    asked = make_demo(tools)
    assert is_audited(asked)
    assert not [words for words in asked if words.startswith("models")]
