"""Where a passage stands on its pages, as rectangles to draw."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rag_assets.model import Box, PageBox, ParsedDocument

_GRID = 100  # steps in a point; rounded outwards, so that a box never cuts what it holds


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    page: int
    bbox: Box
    block: int


class BoxFinder:
    """Finds the rectangles of passages.

    Args:
        document: with printed lines, or blocks that have a page and a box; without either there
            is nothing to draw.
    """

    def __init__(self, document: ParsedDocument) -> None:
        starts = [block.start for block in document.blocks] if document.lines else []
        self._tables = {
            index for index, block in enumerate(document.blocks) if block.kind == "table"
        }
        self._places = [
            _Place(
                line.start,
                line.end,
                line.page,
                line.bbox,
                bisect_right(starts, line.start) - 1,
            )
            for line in document.lines
        ] or [
            _Place(block.start, block.end, block.page, block.bbox, index)
            for index, block in enumerate(document.blocks)
            if block.page is not None and block.bbox is not None
        ]
        self._places.sort(key=lambda place: (place.start, place.end))
        self._starts = [place.start for place in self._places]
        # The furthest end so far: ends ascend even where lines overlap.
        self._reached: list[int] = []
        for place in self._places:
            self._reached.append(max(place.end, self._reached[-1] if self._reached else 0))

    def find(self, start: int, end: int) -> tuple[PageBox, ...]:
        """Return the rectangles around the lines that the span touches, in reading order.

        Lines that follow each other in one column of one block share a rectangle. A line is
        taken whole.

        Args:
            start: first code point in the clean text; `end` is exclusive.
            end: behind the last.
        """
        first = bisect_right(self._reached, start)
        behind = bisect_left(self._starts, end)
        touched = [place for place in self._places[first:behind] if place.end > start]
        return tuple(_box_around(run) for run in _runs(touched, self._tables))


def _runs(places: Sequence[_Place], tables: Collection[int]) -> Iterator[list[_Place]]:
    run: list[_Place] = []
    for place in places:
        if run and not _continues(run[-1], place, tables):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _continues(before: _Place, place: _Place, tables: Collection[int]) -> bool:
    """Say whether a line stands beside or below the one before, in the same column and block.

    A table stands in one column whatever its cells do.
    """
    if (before.page, before.block) != (place.page, place.block):
        return False
    if place.block in tables:
        return True
    x0, y0, x1, y1 = before.bbox
    is_beside = place.bbox[1] < y1 and place.bbox[3] > y0
    is_below = place.bbox[1] >= y0 and place.bbox[0] < x1 and place.bbox[2] > x0
    return is_beside or is_below


def _box_around(run: Sequence[_Place]) -> PageBox:
    return PageBox(
        run[0].page,
        math.floor(min(place.bbox[0] for place in run) * _GRID) / _GRID,
        math.floor(min(place.bbox[1] for place in run) * _GRID) / _GRID,
        math.ceil(max(place.bbox[2] for place in run) * _GRID) / _GRID,
        math.ceil(max(place.bbox[3] for place in run) * _GRID) / _GRID,
    )
