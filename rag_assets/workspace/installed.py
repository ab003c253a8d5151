"""Which code computes here: this package's files and the packages that are installed beside it."""

from functools import cache
from importlib.metadata import distributions
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
    others = sorted({f"{one.name} {one.version}" for one in distributions()})
    return hash_fields(own, others)
