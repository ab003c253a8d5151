"""What holds for the repository as a whole, whoever edits it."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from rag_assets_tests.durations import fast_files, read_durations, read_report, slow_files

ROOT = Path(__file__).parents[1]
LEFT_BEHIND = {"__pycache__", "build", "demo", "dist", "node_modules", "platform"}
KEPT_HIDDEN = {".ci", ".gitignore", ".gitattributes", ".pre-commit-config.yaml", ".env.example"}
BINARY = {".npz", ".pdf", ".png", ".parquet", ".gz", ".duckdb"}
# A module is a subject; one with more lines than this holds several.
MOST_LINES = 900


def files(*suffixes: str) -> Iterator[Path]:
    """Yield the files of the repository: not caches, environments or outputs."""
    yield from (path for path in walk(ROOT) if not suffixes or path.suffix in suffixes)


def walk(folder: Path) -> Iterator[Path]:
    for child in sorted(folder.iterdir()):
        hidden = child.name.startswith(".") and child.name not in KEPT_HIDDEN
        if hidden or child.name in LEFT_BEHIND or child.suffix == ".egg-info":
            continue
        if child.is_dir():
            yield from walk(child)
        else:
            yield child


def texts() -> Iterator[tuple[str, str]]:
    for path in files():
        if path.suffix not in BINARY and path != Path(__file__):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


# Written in pieces, so that this file does not hold what it looks for.
FORBIDDEN = {
    "a path of one machine": r"(?<![\w.~\]}])/(?:work|root|home|Users)/\w",
    # server.json has to name the kind of registry; that is no host.
    "a host of packages": r"(?<!\"registryType\": \")pypi|pythonhosted|files\.python"
    r"|download\.pytorch|piwheels|tuna\.tsin",
    "an index option": r"--(?:extra-)?index-url|--find-links|--trusted-host|index-url\s*=",
    "a model hub": r"huggingface\.co|hf\.co/",
    "a plan that is not in the repository": r"\bDESIGN\b",
    "a secret": r"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|ghp_\w{30}",
    "a conflict mark": r"(?m)^(?:<{7} |>{7} )",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}"
        for name, text in texts()
        if name != "LICENSE"
        for match in pattern.finditer(text)
    ]
    assert found == []


def test_walk_sees_the_repository() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in files()}
    assert {".ci/run", "Makefile", "rag_assets/cli/main.py", "configs/rag.yaml"} <= names


def test_no_module_is_larger_than_one_purpose() -> None:
    large = {
        path.relative_to(ROOT).as_posix(): count
        for path in files(".py")
        if path.is_relative_to(ROOT / "rag_assets")
        and (count := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert large == {}


def test_no_room_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert [p for p in files(".py") if drawers & {p.stem, *p.relative_to(ROOT).parts}] == []


def test_every_room_has_tests_of_its_own_or_is_gone_through_by_others() -> None:
    rooms = {path.parent.name for path in (ROOT / "rag_assets").glob("*/__init__.py")}
    tested = {path.parent.name for path in (ROOT / "rag_assets_tests").glob("*/test_*.py")}
    # What only glues Dagster to the capabilities is gone through by the tests of whole runs.
    assert rooms - tested - {"cli", "defs", "running", "storage", "workspace"} == set()


# A range over ideographs, as an escape, a number or the characters themselves.
HAN_RANGE = re.compile(
    r"(?:\\u|0x)(?:3400|4dbf|4e00|9fa5|9fff)|\\u(?:f900|faff)|\\U0002[0-9a-f]{4}|[㐀一]-[龥鿿]",
    re.IGNORECASE,
)
OWN_HAN_RANGES = {
    "rag_assets/model/text.py": "the one notion",
    **dict.fromkeys(
        (
            "rag_assets/parsing/cleaning.py",
            "rag_assets/parsing/pdf/heading_candidates.py",
            "rag_assets/parsing/pdf/heading_words.py",
            "rag_assets/parsing/pdf/title.py",
        ),
        "a narrower range is part of what its parser computes: to be replaced when the parser's "
        "version rises for another reason",
    ),
}


def test_no_module_has_a_notion_of_han_characters_of_its_own() -> None:
    holding = {
        path.relative_to(ROOT).as_posix()
        for path in files(".py")
        if path.relative_to(ROOT).parts[0] in {"rag_assets", "benchmarks"}
        and HAN_RANGE.search(path.read_text(encoding="utf-8"))
    }
    assert holding - OWN_HAN_RANGES.keys() == set(), "use HAN_RANGES and HAN of rag_assets.model"
    assert OWN_HAN_RANGES.keys() - holding == set(), "no exception any more: take it off the list"


class TestPins:
    """constraints.txt is a full, sorted list of pins with hashes and without hosts."""

    @staticmethod
    def entries(name: str = "constraints.txt") -> list[str]:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if not line.startswith("#"))
        return re.split(r"\n(?=\S)", text.strip())

    @pytest.mark.parametrize(
        "name",
        [
            "constraints.txt",
            "constraints-cpu.txt",
            "constraints-cuda.txt",
            "constraints-dev.txt",
            "constraints-platform.txt",
        ],
    )
    def test_every_package_is_one_exact_version_with_hashes(self, name: str) -> None:
        pattern = r"[A-Za-z0-9][\w.\-]*==[\w.]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+"
        assert [entry for entry in self.entries(name) if not re.fullmatch(pattern, entry)] == []

    def test_entries_are_sorted_and_unique(self) -> None:
        names = [entry.split("==")[0].lower() for entry in self.entries()]
        assert names == sorted(set(names))

    def test_every_dependency_is_pinned_within_what_is_declared(self) -> None:
        from packaging.requirements import Requirement
        from packaging.utils import canonicalize_name

        files = ("", "-dev", "-platform")
        entries = [entry for name in files for entry in self.entries(f"constraints{name}.txt")]
        pinned = {
            canonicalize_name(name): version
            for name, version in (entry.split()[0].split("==") for entry in entries)
        }
        assert len(pinned) == len(entries), "a package is in one of the three files"
        content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        extras = content["project"]["optional-dependencies"]
        texts = content["project"]["dependencies"] + content["build-system"]["requires"]
        for name in extras.keys() - {"all", "bo", "chem"}:  # heavy, and nobody's default
            texts += extras[name]
        for group in content["dependency-groups"].values():
            texts += group
        for text in texts:
            wanted = Requirement(text)
            version = pinned.get(canonicalize_name(wanted.name))
            assert version, f"{wanted.name} is in no file of constraints"
            assert wanted.specifier.contains(version), f"{text}, but {version} is pinned"

    def test_make_installs_no_package_without_its_hash(self) -> None:
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        (hashed,) = [line for line in text.splitlines() if line.startswith("HASHED :=")]
        assert "--require-hashes" in hashed
        assert "--no-deps" in hashed
        assert "--only-binary :all:" in hashed
        others = [line for line in text.splitlines() if re.search(r"(pip|\$\(PIP\)) install", line)]
        assert [line.strip() for line in others if line != hashed] == [
            "$(PIP) install --quiet --no-compile --no-deps --no-build-isolation -e ."
        ]

    def test_what_gpu_builds_of_torch_need_is_not_installed_for_a_cpu_build(self) -> None:
        gpu_only = {entry.split("==")[0] for entry in self.entries("constraints-cuda.txt")}
        assert "triton" in gpu_only
        assert gpu_only & {entry.split("==")[0] for entry in self.entries()} == set()


def test_ci_needs_no_input_and_stops_at_the_first_failure() -> None:
    script = ROOT / ".ci" / "run"
    text = script.read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash")
    assert "set -euo pipefail" in text
    assert script.stat().st_mode & 0o111
    for target in ("install", "lint", "types", "contracts", "test"):
        assert re.search(rf"^make {target}$", text, re.MULTILINE), target


def test_pages_name_only_make_targets_that_there_are() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^\$ |^)make ([a-z][\w-]*)", text, re.MULTILINE))
        assert named <= targets, page.name


def test_scripts_that_measure_import_only_modules_that_there_are() -> None:
    folder, missing = ROOT / "benchmarks", []
    for script in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split(".")
                place = ROOT if parts[0] in {"rag_assets", "benchmarks"} else folder
                path = place.joinpath(*parts)
                is_there = path.is_dir() or path.with_suffix(".py").is_file()
                if not is_there and (place is ROOT or find_spec(parts[0]) is None):
                    missing.append(f"{script.name}: {node.module}")
    assert missing == []


def test_what_is_slow_and_what_is_fast_follows_the_table() -> None:
    durations = {"a": 60.0, "b": 9.0, "c": 1.0, "d": 0.5}
    assert slow_files(durations) == {"a", "b"}
    assert fast_files(durations) == {"b", "c", "d"}
    gone = [p for p in read_durations() if not (ROOT / "rag_assets_tests" / p).is_file()]
    assert gone == [], "run `make durations`"


def test_a_report_of_tests_becomes_the_table(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    case = '<testcase classname="rag_assets_tests.lab.test_x" name="{}" time="{}"/>'
    cases = [case.format(*each) for each in (("f[1]", 1.0), ("g", 0.25))]
    report.write_text(f"<s>{''.join(cases)}</s>", encoding="utf-8")
    assert read_report(report) == {"lab/test_x.py": 1.25}
