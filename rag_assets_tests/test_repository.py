"""What holds for the repository as a whole, whoever edits it."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

ROOT = Path(__file__).parents[1]
LEFT_BEHIND = {"__pycache__", "build", "demo", "dist", "node_modules"}
KEPT_HIDDEN = {".ci", ".gitignore", ".gitattributes", ".pre-commit-config.yaml", ".env.example"}
BINARY = {".npz", ".pdf", ".png", ".parquet", ".gz", ".duckdb"}
# A module with more lines than this has two purposes.
MOST_LINES = 400


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
    "a host of packages": r"pypi|pythonhosted|files\.python|download\.pytorch|piwheels|tuna\.tsin",
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
    assert rooms - tested - {"assets", "checks", "sensors", "cli", "running", "storage",
                             "workspace"} == set()  # fmt: skip


class TestPins:
    """constraints.txt is a full, sorted list of pins without hosts."""

    lines: ClassVar[list[str]] = [
        line
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]

    def test_every_line_is_one_exact_version(self) -> None:
        pattern = r"[A-Za-z0-9][\w.\-]*==[\w.]+"
        assert [line for line in self.lines if not re.fullmatch(pattern, line)] == []

    def test_lines_are_sorted_and_unique(self) -> None:
        names = [line.split("==")[0].lower() for line in self.lines]
        assert names == sorted(set(names))

    def test_every_dependency_is_pinned_within_what_is_declared(self) -> None:
        from packaging.requirements import Requirement
        from packaging.utils import canonicalize_name

        pinned = {canonicalize_name(n): v for n, v in (line.split("==") for line in self.lines)}
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for text in project["dependencies"] + project["optional-dependencies"]["dev"]:
            wanted = Requirement(text)
            version = pinned.get(canonicalize_name(wanted.name))
            assert version, f"{wanted.name} is not in constraints.txt"
            assert wanted.specifier.contains(version), f"{text}, but {version} is pinned"

    def test_make_installs_the_torch_that_is_pinned(self) -> None:
        pin = next(line for line in self.lines if line.startswith("torch=="))
        assert f"TORCH := {pin}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
        assert "+" not in pin


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
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^\$ |^)make ([a-z][\w-]*)", text, re.MULTILINE))
        assert named <= targets, page.name
