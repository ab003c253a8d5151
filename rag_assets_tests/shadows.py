"""A folder whose modules have the names of the libraries', to see that nobody imports them."""

import sys
from importlib.metadata import packages_distributions
from pathlib import Path

FOUND = "imported-from-the-folder"
# `posix` is built in: no file can take its place.
_SHADOW = f"""import posix
place = __file__.rpartition("/")[0] + "/{FOUND}"
found = posix.open(place, posix.O_CREAT | posix.O_APPEND | posix.O_WRONLY)
posix.write(found, __name__.encode() + b"\\n")
raise ImportError(f"{{__name__}}: imported from the current folder")
"""


def plant_shadows(folder: Path) -> None:
    """Write a module for each that Python or an installed package has, but for our own."""
    names = {*sys.stdlib_module_names, *packages_distributions()} - {"rag_assets"}
    for name in names:
        if name.isidentifier() and not name.startswith("rag_assets"):
            (folder / f"{name}.py").write_text(_SHADOW, encoding="utf-8")


def imported_from(folder: Path) -> list[str]:
    """Return the modules of the folder that somebody has imported."""
    found = folder / FOUND
    return found.read_text(encoding="utf-8").split() if found.exists() else []
