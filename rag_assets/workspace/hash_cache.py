"""The hashes of raw files that were still when they were read, by stat; a cache, nothing more."""

import json
from pathlib import Path

from rag_assets.storage import explained_errors


def read_hash_cache(path: Path) -> dict[str, list[int | str]]:
    """The cache only saves hashing: one that cannot be read costs one full hash of raw/.

    Raises:
        StorageError: the machine cannot read it now.
    """
    try:
        with explained_errors(path, "read"):
            loaded = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return {}
    return loaded if isinstance(loaded, dict) else {}
