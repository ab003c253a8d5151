"""How long tests take, which of them `make test` leaves out, and which `make check` runs.

`make durations` runs every test and writes durations.tsv: the seconds of each file, and of each
test function that takes at least `SLOW`, fixtures included. Tests that are not in the table yet
count as fast. conftest.py marks those that are slow; as a pytest plugin
(`-p rag_assets_tests.durations`) this module leaves out all files but the fastest.
"""

import functools
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
TABLE = HERE / "durations.tsv"
# Seconds. A test function from the first on is slow, and all of a file whose other tests take
# longer than the second: with these left out `make test` takes five minutes on two cores. The
# fastest files together stay below the third, for `make check`.
SLOW, SLOW_FILE, BUDGET = 1.5, 7.0, 45.0


def read_durations() -> dict[str, float]:
    """Return seconds by `path` and `path::function`."""
    lines = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {test: float(seconds) for test, seconds in lines}


def slow_tests(durations: Mapping[str, float]) -> frozenset[str]:
    """Return the slow functions, as `path::function`, and the files that are slow without them."""
    functions = {test: seconds for test, seconds in durations.items() if "::" in test}
    rest = {test: seconds for test, seconds in durations.items() if "::" not in test}
    for test, seconds in functions.items():
        rest[test.partition("::")[0]] -= seconds
    return frozenset(functions) | {path for path, seconds in rest.items() if seconds > SLOW_FILE}


def fast_files(durations: Mapping[str, float]) -> frozenset[str]:
    """Return as many files as there is time for, the shortest first."""
    spent, chosen = 0.0, set()
    for seconds, path in sorted((s, test) for test, s in durations.items() if "::" not in test):
        spent += seconds
        if spent > BUDGET:
            break
        chosen.add(path)
    return frozenset(chosen)


@functools.cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    durations = read_durations()
    return frozenset(durations), fast_files(durations)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the files that are not among the fastest."""
    if not collection_path.match("test_*.py"):
        return None
    path, (known, fast) = collection_path.relative_to(HERE).as_posix(), _known()
    return True if path in known and path not in fast else None


def read_report(report: Path) -> dict[str, float]:
    """Return the table of a JUnit report of pytest."""
    seconds: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it
        module = case.attrib["classname"].removeprefix(f"{HERE.name}.").replace(".", "/")
        took = float(case.attrib["time"])
        seconds[f"{module}.py"] += took
        seconds[f"{module}.py::{case.attrib['name'].partition('[')[0]}"] += took
    return {t: s for t, s in sorted(seconds.items()) if s >= SLOW or "::" not in t}


def main() -> None:
    """Run every test and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--numprocesses", "2", "--dist", "loadfile",
             f"--junit-xml={report}", str(HERE)],
            cwd=HERE.parent, check=False,
        )  # fmt: skip
        found = read_report(report)
    TABLE.write_text("".join(f"{t}\t{s:.1f}\n" for t, s in found.items()), encoding="utf-8")


if __name__ == "__main__":
    main()
