"""The state machine of section 2.1.2: lines of one law in, units out.

| state | what holds |
|---|---|
| PREAMBLE | neither an article nor an anchor was seen, nor a level |
| CONTENTS | levels wait, and none was settled yet: a table of contents, or the first chapter |
| BODY | inside an article, item, anchor or annex |
| BETWEEN | levels wait behind the body: the next chapter |

Levels wait (`pending`) until an anchor of the text comes; then they become the path, together with
those levels of the old path that stand above the highest of them: 第一编 stays when only 第二章 is
pending. Within what waits, a level takes away equal and deeper ones: so a table of contents leaves
nothing behind that the first chapter does not replace.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from rag_assets.law.structure.lines import Line, LineKind
from rag_assets.law.structure.units import ArticleMark, Unit, UnitKind


class State(StrEnum):
    """Where in a law the machine stands."""

    PREAMBLE = "preamble"
    CONTENTS = "contents"
    BODY = "body"
    BETWEEN = "between"


class Event(StrEnum):
    """What a line is to the machine. Which kind of line is an ENTITY, the cascade decides."""

    LEVEL = "level"
    ENTITY = "entity"  # an article; in a law without one a list item; without either, text
    ANCHOR = "anchor"
    ANNEX = "annex"
    OTHER = "other"
    BLANK = "blank"


# Ranks in a path besides those of `LEVELS`: an annex stands above all, an anchor below all.
_ANNEX_RANK, _ANCHOR_RANK = -1, 99

_Path = tuple[tuple[int, str], ...]


@dataclass(slots=True)
class _Work:
    """What the machine has in hand: the path, the levels that wait, and the unit that is open."""

    entity: UnitKind
    start: int
    path: _Path = ()
    pending: _Path = ()
    # A level came twice with nothing between them: what waits may be a table of contents.
    is_contents: bool = False
    kind: UnitKind = UnitKind.PREAMBLE
    article: tuple[str, str] | None = None
    units: list[Unit] = field(default_factory=list)

    def close(self, at: int) -> None:
        """End the open unit before an offset."""
        if at <= self.start:
            return
        article = None
        if self.article is not None:
            article = ArticleMark(*self.article, self.start, at)
        is_level = self.kind is UnitKind.LEVELS
        path = () if is_level else tuple(label for _, label in self.path)
        self.units.append(Unit(self.start, at, self.kind, path, article))
        self.start = at

    def open(self, line: Line, kind: UnitKind, path: _Path, pending: _Path = ()) -> None:
        """End the open unit and begin one with a line."""
        self.close(line.start)
        self.kind, self.path, self.pending = kind, path, pending
        self.article = (line.key, line.label) if line.kind is LineKind.ARTICLE else None
        self.is_contents = self.is_contents and bool(pending)

    @property
    def settled(self) -> _Path:
        """The path once what waits becomes part of it: levels above the highest of them stay."""
        if not self.pending:
            return self.path
        highest = self.pending[0][0]
        return (*(one for one in self.path if one[0] < highest), *self.pending)


def _extend(work: _Work, line: Line) -> None:
    """Let the line belong to the unit that is open."""


def _push(work: _Work, line: Line) -> None:
    """Let a level wait; equal and deeper ones that wait go."""
    work.is_contents |= any(rank == line.level for rank, _ in work.pending)
    kept = tuple(one for one in work.pending if one[0] < line.level)
    if work.kind is not UnitKind.LEVELS:
        work.open(line, UnitKind.LEVELS, work.path, work.pending)
    work.pending = (*kept, (line.level, line.label))


def _begin_entity(work: _Work, line: Line) -> None:
    """Make what waits the path, and begin an article; without articles an item, or text."""
    work.open(line, work.entity, work.settled)


def _begin_anchor(work: _Work, line: Line) -> None:
    """Make what waits the path, the anchor's own label below it, and begin what it heads."""
    above = tuple(one for one in work.settled if one[0] != _ANCHOR_RANK)
    work.open(line, UnitKind.ANCHOR, (*above, (_ANCHOR_RANK, line.label)))


def _begin_annex(work: _Work, line: Line) -> None:
    """Begin an annex: it stands below no chapter, and its own levels below it."""
    work.open(line, UnitKind.ANNEX, ((_ANNEX_RANK, line.label),))


def _introduce(work: _Work, line: Line) -> None:
    """Begin text that stands between a level and its first article."""
    work.open(line, UnitKind.TEXT, work.settled)


def _go_on_before(work: _Work, line: Line) -> None:
    """Go on with the preamble; the levels of a table of contents before it are forgotten."""
    work.open(line, UnitKind.PREAMBLE, (), () if work.is_contents else work.pending)


_Action = Callable[[_Work, Line], None]

TRANSITIONS: dict[tuple[State, Event], tuple[State, _Action]] = {
    # Chunk 0: everything before the first anchor or level (2.1.2-1).
    (State.PREAMBLE, Event.OTHER): (State.PREAMBLE, _extend),
    (State.PREAMBLE, Event.BLANK): (State.PREAMBLE, _extend),
    (State.PREAMBLE, Event.LEVEL): (State.CONTENTS, _push),
    (State.PREAMBLE, Event.ENTITY): (State.BODY, _begin_entity),
    (State.PREAMBLE, Event.ANCHOR): (State.BODY, _begin_anchor),
    (State.PREAMBLE, Event.ANNEX): (State.BODY, _begin_annex),
    # A level changes no path; only what it leads to does (2.1.2-2).
    (State.CONTENTS, Event.LEVEL): (State.CONTENTS, _push),
    (State.CONTENTS, Event.BLANK): (State.CONTENTS, _extend),
    (State.CONTENTS, Event.OTHER): (State.PREAMBLE, _go_on_before),
    (State.CONTENTS, Event.ENTITY): (State.BODY, _begin_entity),
    (State.CONTENTS, Event.ANCHOR): (State.BODY, _begin_anchor),
    (State.CONTENTS, Event.ANNEX): (State.BODY, _begin_annex),
    # Articles and anchors go on until the next one (2.1.2-4).
    (State.BODY, Event.OTHER): (State.BODY, _extend),
    (State.BODY, Event.BLANK): (State.BODY, _extend),
    (State.BODY, Event.LEVEL): (State.BETWEEN, _push),
    (State.BODY, Event.ENTITY): (State.BODY, _begin_entity),
    (State.BODY, Event.ANCHOR): (State.BODY, _begin_anchor),
    (State.BODY, Event.ANNEX): (State.BODY, _begin_annex),
    (State.BETWEEN, Event.LEVEL): (State.BETWEEN, _push),
    (State.BETWEEN, Event.BLANK): (State.BETWEEN, _extend),
    (State.BETWEEN, Event.OTHER): (State.BODY, _introduce),
    (State.BETWEEN, Event.ENTITY): (State.BODY, _begin_entity),
    (State.BETWEEN, Event.ANCHOR): (State.BODY, _begin_anchor),
    (State.BETWEEN, Event.ANNEX): (State.BODY, _begin_annex),
}


def run(lines: Sequence[Line], entity: UnitKind, entities: frozenset[LineKind]) -> list[Unit]:
    """Return the units of one law, in order; together they are its text.

    Args:
        lines: of the law.
        entity: what its text is cut into; `entities` are the lines that begin one.
    """
    if not lines:
        return []
    work, state = _Work(entity, lines[0].start), State.PREAMBLE
    for line in lines:
        state, act = TRANSITIONS[state, _event(line, entities)]
        act(work, line)
    work.close(lines[-1].end)
    return work.units


_EVENTS = {
    LineKind.BLANK: Event.BLANK,
    LineKind.LEVEL: Event.LEVEL,
    LineKind.ANCHOR: Event.ANCHOR,
    LineKind.ANNEX: Event.ANNEX,
}


def _event(line: Line, entities: frozenset[LineKind]) -> Event:
    if line.kind in entities:
        return Event.ENTITY
    return _EVENTS.get(line.kind, Event.OTHER)
