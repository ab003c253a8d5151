"""What a document prints, and places in it that are found again by what is printed there.

An operation of a person outlives offsets, numbers and cuts only if it says by content what it is
about. A place is the passage's own text and, since equal texts occur, what is printed on either
side of it. White space is left out of every comparison: a parser that breaks lines otherwise has
not changed what is printed.

The neighbourhood is that of the print and not the neighbouring chunks of the moment: chunks are
cut otherwise by the next splitter and moved by other operations, the words around a passage stay.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import ConfigDict

from rag_assets.model import hash_text

# Visible characters kept of either side: some eight words, or a sentence of Chinese.
_NEIGHBOURHOOD = 40
# Below so many visible characters (a heading, a cell) one occurrence alone says too little.
_TELLING = 64

Side = Literal["before", "after", "both", "neither"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands in print, as a person saw it.

    Args:
        chunk_hash: SHA-256 of `printed`.
        printed: the slice of the document's clean text.
        before: visible characters printed before it, at most 40; `after` behind it.
        times: how often its text occurred in the document.
        told_by: which side told it from the other occurrences; `neither` where all are alike.
        nth: which it was of the occurrences alike on both sides, from 0, of `alike`.
    """

    chunk_hash: str
    printed: str
    before: str
    after: str
    times: int = 1
    told_by: tuple[Side, ...] = ()
    nth: int = 0
    alike: int = 1

    __pydantic_config__ = ConfigDict(extra="forbid")


class NotFoundError(LookupError):
    """A place is not printed, or cannot be told from others; the text says which."""


@dataclass(frozen=True)
class Print:
    """The visible characters of a document's clean text. Spans are half-open and count those.

    Args:
        text: the clean text.
    """

    text: str

    @cached_property
    def visible(self) -> str:
        """The text without white space."""
        return visible(self.text)

    @cached_property
    def _places(self) -> "array[int]":
        visible_ones = (at for at, character in enumerate(self.text) if not character.isspace())
        return array("q", visible_ones)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the visible characters between two offsets of the text."""
        return bisect_left(self._places, start), bisect_left(self._places, end)

    def offsets(self, first: int, last: int) -> tuple[int, int]:
        """Return the offsets of a span that is not empty; no white space at its ends."""
        return self._places[first], self._places[last - 1] + 1

    def slice(self, first: int, last: int) -> str:
        """Return the text of a span as it is printed."""
        start, end = self.offsets(first, last)
        return self.text[start:end]

    def between(self, last: int, first: int) -> str:
        """Return the white space between two visible characters that follow one another."""
        return self.text[self._places[last - 1] + 1 : self._places[first]]

    def place(self, first: int, last: int) -> Place:
        """Return what finds a span again."""
        printed = self.slice(first, last)
        own = self._around(first, last)
        spans = list(self._occurrences(printed))
        all_sides = [self._around(*each) for each in spans]
        others = [sides for sides in all_sides if sides != own]
        alike = [each for each, sides in zip(spans, all_sides, strict=True) if sides == own]
        told: list[Side] = []
        if len(alike) > 1:
            told.append("neither")
        elif others:
            told += ["before"] if all(sides[0] != own[0] for sides in others) else []
            told += ["after"] if all(sides[1] != own[1] for sides in others) else []
            told = told or ["both"]
        return Place(
            hash_text(printed),
            printed,
            *own,
            times=len(all_sides),
            told_by=tuple(told),
            nth=alike.index((first, last)),
            alike=len(alike),
        )

    def find(self, place: Place) -> tuple[int, int]:
        """Return the span of a place.

        Raises:
            NotFoundError: its text is not printed, or not once and for certain there.
        """
        found = list(self._occurrences(place.printed))
        if not found:
            raise NotFoundError("its text is not printed any more")
        if place.times == 1 and len(found) == 1:
            is_long = len(visible(place.printed)) >= _TELLING
            if is_long or any(self._sides_as(place, found[0])):
                return found[0]
            raise NotFoundError("so short a text is printed only elsewhere now")
        if "neither" in place.told_by:
            alike = [each for each in found if all(self._sides_as(place, each))]
            if len(alike) == place.alike:
                return alike[place.nth]
            raise NotFoundError(
                f"its text was printed {place.alike} times alike and is {len(alike)} times now"
            )
        fitting = [each for each in found if self._fits(place, each)]
        if len(fitting) > 1:
            fitting = [each for each in fitting if all(self._sides_as(place, each))]
        if len(fitting) != 1:
            raise NotFoundError(
                f"its text is printed {len(found)} times now, and which is meant cannot be told"
            )
        return fitting[0]

    def _fits(self, place: Place, span: tuple[int, int]) -> bool:
        before, after = self._sides_as(place, span)
        told = place.told_by or ("before", "after")
        return (
            ("before" in told and before)
            or ("after" in told and after)
            or ("both" in told and before and after)
        )

    def _sides_as(self, place: Place, span: tuple[int, int]) -> tuple[bool, bool]:
        before, after = self._around(*span)
        return before == place.before, after == place.after

    def _around(self, first: int, last: int) -> tuple[str, str]:
        whole = self.visible
        return whole[max(0, first - _NEIGHBOURHOOD) : first], whole[last : last + _NEIGHBOURHOOD]

    def _occurrences(self, printed: str) -> Iterator[tuple[int, int]]:
        sought = visible(printed)
        first = self.visible.find(sought) if sought else -1
        while first >= 0:
            yield first, first + len(sought)
            first = self.visible.find(sought, first + 1)


def visible(text: str) -> str:
    """Return a text without its white space."""
    return "".join(text.split())


def cut_visible(text: str, count: int) -> tuple[str, str]:
    """Return a text in two after so many visible characters, no white space at the cut."""
    seen = 0
    for place, character in enumerate(text):
        if not character.isspace():
            if seen == count:
                return text[:place].rstrip(), text[place:].strip()
            seen += 1
    return text.strip(), ""
