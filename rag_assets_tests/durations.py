"""How long files of tests take, which `make test` leaves out, and which `make check` runs.

`make durations` runs every test and writes durations.tsv: the seconds of each file. Files that are
not in the table yet count as fast. conftest.py marks the tests of slow files; as a pytest plugin
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
# Seconds. A file that takes longer than the first is slow: with these left out `make test` takes
# five minutes on two cores. The fastest files together stay below the second, for `make check`.
SLOW, BUDGET = 8.0, 25.0
# Slow, and run all the same: what the specification of packs and audits accepts, from end to end.
ALWAYS = frozenset({"e2e/test_acceptance.py"})


def read_durations() -> dict[str, float]:
    """Return seconds by path below this folder."""
    lines = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {path: float(seconds) for path, seconds in lines}


def slow_files(durations: Mapping[str, float]) -> frozenset[str]:
    """Return the files that `make test` leaves out."""
    return frozenset(p for p, seconds in durations.items() if seconds > SLOW) - ALWAYS


def fast_files(durations: Mapping[str, float]) -> frozenset[str]:
    """Return as many files as there is time for, the shortest first."""
    spent, chosen = 0.0, set()
    for seconds, path in sorted((seconds, path) for path, seconds in durations.items()):
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
        module = case.attrib["classname"].removeprefix(f"{HERE.name}.").split(".Test")[0]
        seconds[f"{module.replace('.', '/')}.py"] += float(case.attrib["time"])
    return dict(sorted(seconds.items()))


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
    TABLE.write_text("".join(f"{p}\t{s:.1f}\n" for p, s in found.items()), encoding="utf-8")


if __name__ == "__main__":
    main()
