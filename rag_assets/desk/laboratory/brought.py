"""Sheets that a browser has brought and that are not stored yet."""

import tempfile
import uuid
from collections import OrderedDict
from pathlib import Path, PurePosixPath

from rag_assets.model import UsageError

_SUFFIXES = frozenset({".xlsx", ".xlsm", ".csv", ".tsv"})
_MOST_KEPT = 8
_STEM_CHARACTERS = 120


class BroughtSheets:
    """Files in a folder of their own until they are closed; the oldest are let go of."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._paths: OrderedDict[str, Path] = OrderedDict()

    def keep(self, name: str, data: bytes) -> str:
        """Keep a file under the last part of its name; return its key.

        Raises:
            UsageError: it is no sheet.
        """
        plain = PurePosixPath(name.replace("\\", "/")).name
        suffix = PurePosixPath(plain).suffix
        if suffix.casefold() not in _SUFFIXES:
            raise UsageError(
                f"'{plain}' is no sheet of experiments: xlsx, csv and tsv files are read."
            )
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="rag-desk-")
        key = uuid.uuid4().hex
        folder = Path(self._folder.name) / key
        folder.mkdir()
        path = folder / f"{plain.removesuffix(suffix)[:_STEM_CHARACTERS]}{suffix.casefold()}"
        path.write_bytes(data)
        self._paths[key] = path
        while len(self._paths) > _MOST_KEPT:
            _, old = self._paths.popitem(last=False)
            old.unlink()
        return key

    def find(self, key: str) -> Path | None:
        """Return a file that is kept; None where it is not (any more)."""
        return self._paths.get(key)

    def close(self) -> None:
        """Let go of all."""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None
        self._paths.clear()
