"""What a room shows to others stands in its `__init__.py`, and imports go round in no circle."""

import ast
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "rag_assets"
FILES = sorted(PACKAGE.rglob("*.py"))


def module_of(file: Path) -> str:
    parts = list(file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(tree: ast.AST) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield line, module and names of each `from rag_assets… import …`, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rag_assets"):
            yield node.lineno, node.module or "", tuple(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("rag_assets."):
                    yield node.lineno, alias.name, ()


def public_modules(room: str) -> tuple[str, ...]:
    """Return the modules that a room opens to others, as its `__init__.py` names them."""
    init = PACKAGE / room / "__init__.py"
    if not init.is_file():
        return ()
    for node in ast.parse(init.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PUBLIC_MODULES":
            found: tuple[str, ...] = ast.literal_eval(node.value)
            return found
    return ()


def past_the_door(file: Path, source: str) -> list[str]:
    """Return the imports of a file that go past another room's `__init__.py`."""
    room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    found = []
    for line, module, _ in imports_of(ast.parse(source)):
        _, *below = module.split(".")
        doors = zip(accumulate(below, "{}/{}".format), below[1:], strict=False)
        if below[:1] != [room] and any(name not in public_modules(of) for of, name in doors):
            found.append(f"{file.relative_to(ROOT)}:{line}: {module}")
    return found


def test_no_import_goes_past_the_door_of_another_room() -> None:
    assert [one for file in FILES for one in past_the_door(file, file.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("line", "is_past"),
    [
        ("from rag_assets.publishing.rows import join", True),
        ("def f():\n    import rag_assets.storage.records", True),
        ("from rag_assets.model.markdown import fence", False),
        ("from rag_assets.publishing import publish", False),
        ("from rag_assets.llm.services import call", False),
        ("from rag_assets.llm.services.calling import call", True),
        ("from rag_assets.chunking.rows import chunks_schema", False),
    ],
)
def test_an_import_past_the_door_is_found(line: str, is_past: bool) -> None:
    assert bool(past_the_door(PACKAGE / "chunking" / "made_up.py", line)) == is_past


@pytest.mark.parametrize("init", sorted(PACKAGE.glob("**/__init__.py")), ids=module_of)
def test_what_a_room_names_is_there(init: Path) -> None:
    from importlib import import_module

    opened = import_module(module_of(init))
    body = ast.parse(init.read_text("utf-8")).body
    is_lazy = "lazy_names" in init.read_text("utf-8")
    blocks = [node.body if isinstance(node, ast.If) and is_lazy else [node] for node in body]
    imports = [one for block in blocks for one in block if isinstance(one, ast.ImportFrom)]
    named = [alias.asname or alias.name for one in imports for alias in one.names]
    assert [name for name in named if not hasattr(opened, name)] == []
    for name in public_modules(str(init.parent.relative_to(PACKAGE))):
        import_module(f"{module_of(init)}.{name}")


def imported_at_once(file: Path, modules: set[str]) -> set[str]:
    """Return the modules that a file imports while it is being imported itself."""
    found = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        for _, module, names in imports_of(node) if not isinstance(node, _LATER) else ():
            inner = {f"{module}.{name}" for name in names} & modules
            found |= inner or {module}
    return found - {module_of(file)}


_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If)


def test_imports_go_round_in_no_circle() -> None:
    modules = {module_of(file) for file in FILES}
    graph = {module_of(file): imported_at_once(file, modules) for file in FILES}
    done: set[str] = set()

    def circle(module: str, above: tuple[str, ...]) -> tuple[str, ...]:
        if module in above:
            return (*above[above.index(module) :], module)
        if module not in done:
            for one in sorted(graph.get(module, ())):
                found = circle(one, (*above, module))
                if found:
                    return found
            done.add(module)
        return ()

    assert [found for module in sorted(graph) if (found := circle(module, ()))] == []
