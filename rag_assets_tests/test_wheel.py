"""The built wheel, without the checkout: what a person has who installs the package alone.

The packages that it depends on are those of the environment that runs the test; an installation
with all of them from the package index is told in `CONTRIBUTING.md`.
"""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"


def _run(command: list[str], folder: Path) -> str:
    """Run a command of the installed package, far from the checkout and its settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**kept, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel as b; print(b(sys.argv[1]))"
    name = subprocess.run(
        [sys.executable, "-c", build, str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.split()[-1]
    return folder / name


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of commands of an environment that holds the wheel, and no checkout."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    install = ["install", "--quiet", "--no-deps", "--no-compile", "--no-index"]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(folder), *install, str(wheel)], check=True
    )
    # A folder named in a .pth file is searched, its own .pth files are not read: the checkout,
    # which is installed by one, stays out.
    (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")
    return folder / "bin"


def test_the_wheel_holds_every_file_that_is_not_code(wheel: Path) -> None:
    assert wheel.stat().st_size < 80e6
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "rag_assets").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ""}
    }
    wanted |= {
        f"rag_assets/_configs/{path.relative_to(ROOT / 'configs').as_posix()}"
        for path in (ROOT / "configs").rglob("*")
        if path.is_file()
    }
    assert wanted <= held
    assert not any(name.startswith(("rag_assets_tests", "benchmarks", "samples")) for name in held)


def test_the_installed_package_is_the_one_of_the_wheel(commands: Path, tmp_path: Path) -> None:
    told = _run(
        [str(commands / "python"), "-c", "import rag_assets; print(rag_assets.__file__)"], tmp_path
    )
    assert Path(told.strip()).is_relative_to(commands.parent)


@pytest.mark.model
def test_a_library_is_made_and_asked_with_the_wheel_alone(commands: Path, tmp_path: Path) -> None:
    rag = str(commands / "rag")
    _run([rag, "init", "library"], tmp_path)
    library = tmp_path / "library"
    source = SAMPLES / "raw" / "evidence" / "green-roofs-2024.pdf"
    target = library / "raw" / "evidence" / source.name
    target.write_bytes(source.read_bytes())
    _run([rag, "ingest"], library)
    found = json.loads(
        _run([rag, "query", "How much water do green roofs hold?", "--json"], library)
    )
    assert found["items"][0]["doc_uid"] == "green-roofs-2024"
