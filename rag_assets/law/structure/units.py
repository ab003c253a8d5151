"""The units of a law's text: what is found, merged and shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

PATH_SEPARATOR = " > "
"""Stands between the levels of a path: in headers, metadata and citations."""


class UnitKind(StrEnum):
    """What a unit is."""

    PREAMBLE = "preamble"  # all before the first article or anchor; Chunk 0
    LEVELS = "levels"  # level lines, of a table of contents too: in no path's text, never found
    ARTICLE = "article"
    ITEM = "item"  # of a text without articles
    TEXT = "text"
    ANCHOR = "anchor"
    ANNEX = "annex"


@dataclass(frozen=True, slots=True)
class ArticleMark:
    """An article of a law.

    Args:
        key: number, and for 之一 that behind a hyphen: `20`, `133-1`.
        shown: as the law writes it: 第一百三十三条之一.
        start: [start, end) of its text.
    """

    key: str
    shown: str
    start: int
    end: int

    @property
    def number(self) -> tuple[int, int]:
        """Return the number and that behind 之, 0 without, for sorting."""
        number, _, part = self.key.partition("-")
        return int(number), int(part or 0)


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a law; the units of a law, in order, are its text.

    Args:
        start: [start, end) in the text of the file.
        path: labels of its levels, the highest first.
        article: what it is, or is a part of.
        part: of a unit that was too long its place, from 1; 0 for a whole one.
    """

    start: int
    end: int
    kind: UnitKind
    path: tuple[str, ...] = ()
    article: ArticleMark | None = None
    part: int = 0


def articles_of(units: Sequence[Unit]) -> tuple[ArticleMark, ...]:
    """Return the articles that some units hold or are parts of, each once."""
    return tuple(dict.fromkeys(unit.article for unit in units if unit.article is not None))
