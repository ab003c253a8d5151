"""Which names below a raw folder are taken in."""

import fnmatch
import re
from functools import lru_cache

from rag_assets.settings import Settings


def is_text(name: str) -> bool:
    """Say whether a name can be written as UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_ignored(name: str, settings: Settings) -> bool:
    """Say whether the settings leave out files of that name."""
    return _ignored_names(tuple(settings.ignore)).match(name.lower()) is not None


@lru_cache(maxsize=8)
def _ignored_names(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # One expression: the sensor asks it of every file every few seconds.
    return re.compile("|".join(fnmatch.translate(p.lower()) for p in patterns) or r"(?!)")
