"""Greedy merging (2.1.2-4) and the cutting of what is too long (2.1.2-5)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.law.numbers import NUMBER
from rag_assets.law.structure.lines import Line, LineKind, read_lines
from rag_assets.law.structure.units import ArticleMark, Unit, UnitKind, articles_of

SOFT_LIMIT = 1200
FALLBACK = (500, 1000)
_SENTENCE = re.compile(r"[^。；;！？!?]*[。；;！？!?]+[”’」』）)]*|[^。；;！？!?]+$", re.DOTALL)
_NUMBERED = re.compile(rf"[(（]\s?{NUMBER}\s?[)）]")
# Chunk 0 stands alone, and level lines are not shown.
_ALONE = frozenset({UnitKind.PREAMBLE, UnitKind.LEVELS})


@dataclass(frozen=True, slots=True)
class Group:
    """Units that are shown together: of one path, of one law, to about the soft limit.

    Args:
        units: at least one, in order.
    """

    units: tuple[Unit, ...]

    @property
    def start(self) -> int:
        """Return where it begins in the text of the file."""
        return self.units[0].start

    @property
    def end(self) -> int:
        """Return the offset behind its last character."""
        return self.units[-1].end

    @property
    def path(self) -> tuple[str, ...]:
        """Return the path that its units share."""
        return self.units[0].path

    @property
    def kind(self) -> UnitKind:
        """Return the kind of its first unit."""
        return self.units[0].kind

    @property
    def articles(self) -> tuple[ArticleMark, ...]:
        """Return the articles that it holds or is a part of."""
        return articles_of(self.units)


def merge_units(
    text: str,
    units: Sequence[Unit],
    *,
    soft_limit: int = SOFT_LIMIT,
    fallback: tuple[int, int] = FALLBACK,
) -> list[Group]:
    """Return the units of one law in groups; a unit that is too long is cut before.

    Args:
        text: of the file.
        units: of one law, in order.
        soft_limit: characters of a group; the next unit that would pass it begins a new one.
        fallback: characters of a part of what is too long, at least and at most; whole lines where
            a line is not longer than that.
    """
    groups: list[Group] = []
    held: list[Unit] = []
    for unit in units:
        parts = list(_cut(text, unit, soft_limit, fallback))
        if len(parts) > 1 or unit.kind in _ALONE:
            _put_out(groups, held)
            groups += [Group((part,)) for part in parts]
            continue
        is_full = held and unit.end - held[0].start > soft_limit
        if is_full or (held and held[-1].path != unit.path):
            _put_out(groups, held)
        held.append(unit)
    _put_out(groups, held)
    return groups


def _put_out(groups: list[Group], held: list[Unit]) -> None:
    if held:
        groups.append(Group(tuple(held)))
        held.clear()


def _cut(text: str, unit: Unit, limit: int, fallback: tuple[int, int]) -> Iterator[Unit]:
    """Yield a unit, or its parts where it is longer than the limit."""
    if unit.end - unit.start <= limit or unit.kind is UnitKind.LEVELS:
        yield unit
        return
    ends = list(_pack(unit.start, _pieces(text, unit, fallback[1]), *fallback))
    starts = [unit.start, *ends[:-1]]
    for part, (start, end) in enumerate(zip(starts, ends, strict=True), start=1):
        yield replace(unit, start=start, end=end, part=part)


def _pieces(text: str, unit: Unit, most: int) -> Iterator[tuple[int, bool]]:
    """Yield the end of each line, of each sentence of a line that is too long, and whether a list
    item begins behind it.
    """
    lines = read_lines(text[unit.start : unit.end], unit.start)
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if line.end - line.start > most:
            yield from ((end, False) for end in _sentence_ends(text, line.start, line.end, most))
        yield line.end, following is not None and _begins_item(following)


def _begins_item(line: Line) -> bool:
    return line.kind is LineKind.ITEM or _NUMBERED.match(line.text) is not None


def _sentence_ends(text: str, start: int, end: int, most: int) -> Iterator[int]:
    """Yield where a line can be cut, its end left out; a sentence that is too long is cut hard."""
    for match in _SENTENCE.finditer(text, start, end):
        yield from range(match.start() + most, match.end(), most)
        if match.end() < end:
            yield match.end()


def _pack(start: int, pieces: Iterator[tuple[int, bool]], least: int, most: int) -> Iterator[int]:
    """Yield the ends of parts: before a list item once there is enough, at the latest when full."""
    held = start
    for end, is_before_item in pieces:
        if end - start > most and held > start:
            yield held
            start = held
        held = end
        if is_before_item and held - start >= least:
            yield held
            start = held
    if held > start:
        yield held
