"""How large the repository is: code lines, modules, functions, packages, tests, words of docs.

    python -m benchmarks.code_size [--packages]

A code line is not blank, no comment, no docstring and no import. `--packages` adds one row for each
package. rag_assets_tests/test_code_size.py keeps the figures from growing.
"""

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent


def count_code(source: str) -> tuple[int, int]:
    """Return how many lines of Python source are code, and how many functions it defines."""
    skipped: set[int] = set()
    functions = 0
    for node in ast.walk(ast.parse(source)):
        functions += isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if isinstance(node, ast.Import | ast.ImportFrom):
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                skipped |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in skipped
        for number, line in enumerate(source.splitlines(), start=1)
    )
    return lines, functions


def measure() -> dict[str, int]:
    """Return the figures of this checkout, by name."""
    package, tests = _sources(ROOT / "rag_assets"), _sources(ROOT / "rag_assets_tests")
    counts = [count_code(source) for source in package]
    pages = (path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    return {
        "code lines": sum(lines for lines, _ in counts),
        "modules": len(package),
        "functions": sum(functions for _, functions in counts),
        "packages": sum(1 for _ in (ROOT / "rag_assets").glob("*/__init__.py")),
        "lines of tests": sum(len(source.splitlines()) for source in tests),
        "code lines of benchmarks": sum(count_code(s)[0] for s in _sources(ROOT / "benchmarks")),
        "words of docs": sum(len(page.split()) for page in pages),
    }


def _sources(*folders: Path) -> list[str]:
    files: Iterable[Path] = (file for folder in folders for file in folder.rglob("*.py"))
    return [file.read_text(encoding="utf-8") for file in files]


def main() -> None:
    """Print the figures."""
    for name, count in measure().items():
        print(f"{count:>8,}  {name}")
    if "--packages" in sys.argv[1:]:
        for init in sorted((ROOT / "rag_assets").glob("*/__init__.py")):
            counts = [count_code(source)[0] for source in _sources(init.parent)]
            print(f"{sum(counts):>8,}  {init.parent.name} ({len(counts)})")


if __name__ == "__main__":
    main()
