"""Which code computes here: this package's files and the packages that are installed beside it."""

import sys
from functools import cache
from pathlib import Path

from rag_assets.model import hash_fields

_PACKAGE = Path(__file__).parents[1]


@cache
def code_digest() -> str:
    """Return the SHA-256 of the names, sizes and times of this package's files, and of the names
    and versions of all installed packages.

    Where it is the same, the same input gives the same output. Where it differs, nothing need.
    """
    files = sorted(path for path in _PACKAGE.rglob("*") if path.suffix in {".py", ".md", ".txt"})
    own = [(path.as_posix(), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    # A folder beside each installed package says its name and version: reading it costs more.
    folders = (Path(place) for place in sys.path)
    others = {one.name for folder in folders if folder.is_dir() for one in folder.glob("*-info")}
    return hash_fields(own, sorted(others))
