"""What a run reads many times is read once, as long as its files stay as they are."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from rag_assets.storage.atomic import file_identity

_Read = TypeVar("_Read")
# What was made of files, and which files these were; None outside of a run.
_kept: ContextVar[dict[Hashable, tuple[object, Any]] | None] = ContextVar("kept", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Keep what `read_once` reads until the outermost of these ends."""
    token = None if _kept.get() is not None else _kept.set({})
    try:
        yield
    finally:
        if token is not None:
            _kept.reset(token)


def read_once(paths: Sequence[Path], what: Hashable, read: Callable[[], _Read]) -> _Read:
    """Return what `read` makes of some files; what it has made of the same files is kept.

    Files are looked at before they are read: one that is replaced meanwhile is read again.

    Args:
        what: tells apart the readers of the same files; nobody changes what they return.
    """
    kept = _kept.get()
    if kept is None:
        return read()
    key, now = (tuple(paths), what), [file_identity(path) for path in paths]
    if key not in kept or kept[key][0] != now:
        kept[key] = (now, read())
    found: _Read = kept[key][1]
    return found
