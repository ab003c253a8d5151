"""How long each file of tests takes, and which are fast enough for `make check`.

`make durations` measures the files that durations.tsv does not know (`ALL=--all`: every one) in
processor seconds, children included, which bear a busy machine. A file that takes longer than
`TOO_LONG` is not measured to its end. As a pytest plugin (`-p rag_assets_tests.durations`) this
module leaves out all files but the fast ones, or measures where RAG_DURATIONS names a folder.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TABLE = HERE / "durations.tsv"
# Processor seconds. A file beyond the first is never fast; all fast ones together stay below the
# second, so that two cores run them in a minute.
TOO_LONG, BUDGET = 3.0, 80.0
_FOLDER = "RAG_DURATIONS"
_MEASURED = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}


def files_of_tests() -> list[str]:
    """Return the paths of all files of tests below this folder, sorted."""
    return sorted(path.relative_to(HERE).as_posix() for path in HERE.rglob("test_*.py"))


def read_durations() -> dict[str, float]:
    """Return processor seconds by path, infinity for what took too long."""
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    return {path: float(seconds) for path, seconds in (line.split("\t") for line in lines)}


def choose_fast(durations: dict[str, float]) -> list[str]:
    """Return as many files as there is time for, the shortest first."""
    chosen, spent = [], 0.0
    for path, seconds in sorted(durations.items(), key=lambda each: (each[1], each[0])):
        spent += seconds
        if spent > BUDGET or seconds > TOO_LONG:
            break
        chosen.append(path)
    return chosen


def measure(files: list[str]) -> dict[str, float]:
    """Run the tests of some files, those marked slow left out, and return their durations."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "rag_assets_tests.durations", "-m",
             "not slow", "--numprocesses", "2", "--dist", "loadfile",
             *(str(HERE / path) for path in files)],
            cwd=HERE.parent, env=os.environ | {_FOLDER: folder}, check=False,
        )  # fmt: skip
        if ran.returncode not in _MEASURED:
            sys.exit(f"Not measured: pytest ended with exit code {ran.returncode}.")
        found = dict.fromkeys(files, 0.0)
        for part in Path(folder).glob("*.json"):
            found |= json.loads(part.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Measure what is missing and write the table."""
    files, known = files_of_tests(), read_durations()
    if "--all" in sys.argv:
        known = {}
    missing = [path for path in files if path not in known]
    known |= measure(missing) if missing else {}
    lines = (f"{path}\t{known[path]:.1f}\n" for path in files)
    TABLE.write_text("".join(lines), encoding="utf-8")
    told = f"{len(missing)} measured; {len(choose_fast(known))} of {len(files)} files are fast"
    sys.stdout.write(f"{told}\n")


_spent: dict[str, float] = defaultdict(float)


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def _is_measuring() -> bool:
    return _FOLDER in os.environ


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what is not fast."""
    if _is_measuring() or not collection_path.match("test_*.py"):
        return None
    return collection_path.relative_to(HERE).as_posix() not in _fast_now() or None


@functools.cache
def _fast_now() -> frozenset[str]:
    return frozenset(choose_fast(read_durations()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Count what a test takes, with the fixtures that are made for it."""
    began = _processor_seconds()
    try:
        return (yield)
    finally:
        _spent[item.path.relative_to(HERE).as_posix()] += _processor_seconds() - began


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give up on a file that has taken too long already."""
    path = item.path.relative_to(HERE).as_posix()
    if _is_measuring() and _spent[path] > TOO_LONG:
        _spent[path] = float("inf")
        pytest.skip(f"{path} takes more than {TOO_LONG} processor seconds: it is not fast")


def pytest_sessionfinish() -> None:
    """Hand over what was counted in this process."""
    if _is_measuring() and _spent:
        name = os.environ.get("PYTEST_XDIST_WORKER", "alone")
        target = Path(os.environ[_FOLDER]) / f"{name}.json"
        target.write_text(json.dumps(_spent), encoding="utf-8")


if __name__ == "__main__":
    main()
