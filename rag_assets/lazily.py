"""Public names of a room that are imported when they are first used."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Args:
        package: its name, for the error of a name that it has not.
        homes: public name → module of the package that holds it, with `:name` behind it where it
            has another name there.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, held = homes[name].partition(":")
        return getattr(import_module(f"{package}.{module}"), held or name)

    return find
