"""From operations and the chunks that a splitter made to the chunks that a person wants.

A pure function: the same chunks and the same operations give the same result, whatever happened
in between. Each operation finds the place that it speaks of in print (`prints.py`), then the chunk
that stands there, and is applied; or it waits as a conflict that says what the person saw and what
is there now, and touches nothing. Only whether a search may find what stands there is decided as
before: an edit of the source brings no disabled passage back.

Where the text stands unchanged but is cut otherwise, the passage that the person saw is cut out of
the chunks that nobody has touched: a person's cut outlives a splitter's. So an operation waits for
no other reason than that the text itself was changed, that the same words can be told apart no
more, or that it builds on one that waits.

What is printed stays: every piece has the span of its printed original, an edited text stands
beside it. So chunks are merged only where they follow one another in print: one that was pieced
together from two pages apart would have no place that could be cited.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partialmethod
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict, TypeAdapter

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
            raise NotFoundError(f"its text is printed {len(found)} times now, so it is ambiguous")
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


Kind = Literal[
    "edit_text", "split_at", "merge_with_next", "move_before", "move_after", "reparent",
    "enable", "disable",
]  # fmt: skip
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Target:
    """A chunk as a person saw it.

    Args:
        place: of what is printed there.
        shown: the text that the chunk had by then; None where that was the printed one.
    """

    place: Place
    shown: str | None = None

    __pydantic_config__ = _STRICT

    @property
    def text(self) -> str:
        """What the person saw."""
        return self.place.printed if self.shown is None else self.shown


@dataclass(frozen=True, slots=True)
class ParentTarget:
    """A parent as a person saw it.

    Args:
        label: what it was called, `p003` or `s012`; for people, it decides nothing.
        parent_hash: SHA-256 of its text.
        opening: where it begins, for a parent whose text was changed since.
    """

    label: str
    parent_hash: str
    opening: Place

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a person did to a chunk.

    Args:
        other: the chunk that follows (`merge_with_next`), or beside which it is moved.
        text: the new text of `edit_text`.
        shown_at: of `split_at`, how many visible characters of what is shown come before the cut;
            `printed_at` likewise of what is printed.
        parent: of `reparent`.
    """

    kind: Kind
    target: Target
    other: Target | None = None
    text: str | None = None
    shown_at: int | None = None
    printed_at: int | None = None
    parent: ParentTarget | None = None

    __pydantic_config__ = _STRICT

    @property
    def seen(self) -> str:
        """The texts that the person saw, of both chunks where there are two."""
        parts = [self.target.text, *([self.other.text] if self.other else [])]
        return "\n⋯\n".join(parts)


@cache
def operation_type() -> TypeAdapter[Operation]:
    """Return what checks and restores the values of an operation."""
    return TypeAdapter(Operation)


def operation_from(values: Any) -> Operation:
    """Return the operation that `operation_type().dump_python` gave as plain values.

    Raises:
        ValueError: a value is missing, unknown or of another type.
    """
    return operation_type().validate_python(values)


@dataclass(frozen=True, slots=True)
class Numbered:
    """An operation with its number in the history of its document, from 1."""

    number: int
    operation: Operation


T = TypeVar("T")

# Below it a chunk has nothing in common with what a person saw (rapidfuzz ratio).
_SIMILAR = 50
# Above it a chunk is what a person saw with some words changed (rapidfuzz's plain ratio; that of
# unrelated English sentences is about 50).
_SAME = 80


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of the result.

    Args:
        first: visible character of the print where it begins; half-open to `last`.
        parent: label of its parent.
        edited: what stands in place of the printed text; None for that itself.
        is_enabled: whether any search may find it.
        by: numbers of the operations that made it what it is; empty as the splitter made it.
    """

    first: int
    last: int
    parent: str
    edited: str | None = None
    is_enabled: bool = True
    by: tuple[int, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """Where it is printed."""
        return self.first, self.last


@dataclass(frozen=True, slots=True)
class ParentPiece:
    """A parent as the splitter made it."""

    label: str
    first: int
    last: int
    hash: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """An operation that waits.

    Args:
        number: of the operation.
        reason: why it could not be applied.
        seen: what the person saw; `now` what is there, "" where nothing is like it.
    """

    number: int
    kind: str
    reason: str
    seen: str
    now: str


@dataclass(frozen=True, slots=True)
class Edited:
    """What a document's chunks became.

    Args:
        pieces: in order, disabled ones too.
        conflicts: operations that wait, by number.
        applied: numbers of the others.
    """

    pieces: tuple[Piece, ...]
    conflicts: tuple[Conflict, ...] = ()
    applied: tuple[int, ...] = ()


@dataclass(frozen=True)
class Cut:
    """A document as a splitter cut it.

    Args:
        print: what is printed.
        chunks: in order, without operations.
        parents: in order.
    """

    print: Print
    chunks: tuple[Piece, ...]
    parents: tuple[ParentPiece, ...] = field(repr=False)

    @classmethod
    def make(
        cls,
        text: str,
        chunks: Sequence[tuple[int, int, str]],
        parents: Sequence[tuple[str, int, int]],
    ) -> "Cut":
        """Return the cut of a document.

        Args:
            text: clean text.
            chunks: (start, end, label of the parent), offsets into it.
            parents: (label, start, end).
        """
        printed = Print(text)
        pieces = [Piece(*printed.span(start, end), label) for start, end, label in chunks]
        return cls(
            printed,
            tuple(piece for piece in pieces if piece.first < piece.last),
            tuple(
                ParentPiece(label, *printed.span(start, end), hash_text(text[start:end]))
                for label, start, end in parents
            ),
        )


class _WaitError(Exception):
    """An operation cannot be applied; `now` is what is there."""

    def __init__(self, reason: str, now: str = "") -> None:
        super().__init__(reason)
        self.reason, self.now = reason, now


def fold(cut: Cut, operations: Sequence[Numbered]) -> Edited:
    """Apply operations one after another to the chunks of a cut."""
    folder = Folder(cut)
    conflicts = [conflict for each in operations if (conflict := folder.do(each)) is not None]
    waiting = {conflict.number for conflict in conflicts}
    applied = tuple(each.number for each in operations if each.number not in waiting)
    return Edited(tuple(folder.pieces), tuple(conflicts), applied)


class Folder:
    """The chunks of a cut while operations are applied to them, one by one.

    Args:
        cut: what they begin as.
    """

    def __init__(self, cut: Cut) -> None:
        self._cut, self._print = cut, cut.print
        self.pieces: list[Piece] = list(cut.chunks)

    def do(self, each: Numbered) -> Conflict | None:
        """Apply an operation; where it has to wait nothing is changed, but what it switched."""
        operation, before = each.operation, list(self.pieces)
        try:
            index = self._locate(operation.target)
            # Before anything else is looked for: nothing is cut out of what is spoken of.
            piece = self.pieces[index]
            self.pieces[index] = replace(piece, by=(*piece.by, each.number))
            getattr(self, f"_{operation.kind}")(index, operation)
        except _WaitError as wait:
            self.pieces = before
            reason = wait.reason
            if operation.kind in {"disable", "enable"}:
                is_enabled = operation.kind == "enable"
                for index in self._standing(operation.target.place):
                    piece = self.pieces[index]
                    by = (*piece.by, each.number)
                    self.pieces[index] = replace(piece, is_enabled=is_enabled, by=by)
                    if not is_enabled:
                        reason = f"{wait.reason}; the text there is disabled now"
            return Conflict(each.number, operation.kind, reason, operation.seen, wait.now)
        return None

    def _standing(self, place: Place) -> list[int]:
        """Return the chunks that hold what is printed where a passage was, or what is like it."""
        whole = self._print.visible
        is_bounded = True
        try:
            first, last = self._print.find(place)
        except NotFoundError:
            begins = whole.find(place.before) + len(place.before)
            ends = whole.find(place.after) if place.after else len(whole)
            has_begin = not place.before or whole.count(place.before) == 1
            has_end = not place.after or whole.count(place.after) == 1
            if not has_begin and not has_end:
                return self._alike(place.printed)
            first = begins if has_begin else ends - 1
            last = ends if has_end else begins + 1
            is_bounded = has_begin and has_end
        touching = [i for i, p in enumerate(self.pieces) if p.first < last and first < p.last]
        holding_more = [
            i for i in touching if self.pieces[i].first < first or last < self.pieces[i].last
        ]
        if is_bounded and holding_more:
            with suppress(_WaitError):  # else those that hold it, and more, are taken
                return [self._cut_out((first, last), Target(place))]
        return touching

    def _alike(self, printed: str) -> list[int]:
        from rapidfuzz import fuzz, process

        texts = [self._print.slice(*piece.span) for piece in self.pieces]
        found = process.extractOne(printed, texts, scorer=fuzz.ratio, score_cutoff=_SAME)
        return [found[2]] if found else []

    def _edit_text(self, index: int, operation: Operation) -> None:
        piece = self.pieces[index]
        text = _given(operation.text)
        is_printed = text == self._print.slice(*piece.span)
        self.pieces[index] = replace(piece, edited=None if is_printed else text)

    def _split_at(self, index: int, operation: Operation) -> None:
        piece = self.pieces[index]
        shown, printed = _given(operation.shown_at), _given(operation.printed_at)
        middle = piece.first + printed
        size = len(visible(self._shown(piece)))
        if not (piece.first < middle < piece.last and 0 < shown < size):
            raise _WaitError("there is no text on one side of the cut", self._shown(piece))
        left, right = replace(piece, last=middle), replace(piece, first=middle)
        if piece.edited is not None:
            texts = cut_visible(piece.edited, shown)
            left, right = (
                replace(half, edited=None if text == self._print.slice(*half.span) else text)
                for half, text in zip((left, right), texts, strict=True)
            )
        self.pieces[index : index + 1] = [left, right]

    def _merge_with_next(self, index: int, operation: Operation) -> None:
        piece, following = self.pieces[index], self._locate(_given(operation.other))
        index = self.pieces.index(piece)  # cutting out the other may have moved it
        if following != index + 1:
            now = self._shown(self.pieces[index + 1]) if index + 1 < len(self.pieces) else ""
            raise _WaitError("another chunk follows it now", now)
        other = self.pieces[following]
        if not piece.first <= other.first <= piece.last < other.last:
            raise _WaitError(
                "the two do not follow one another in print, so together they would have no one "
                "place that can be cited",
                self._shown(other),
            )
        if piece.is_enabled != other.is_enabled:
            raise _WaitError("one of the two is disabled", self._shown(other))
        by = tuple(sorted({*piece.by, *other.by}))
        merged = replace(piece, last=other.last, edited=self._joined(piece, other), by=by)
        self.pieces[index : index + 2] = [merged]

    def _joined(self, piece: Piece, other: Piece) -> str | None:
        if piece.edited is None and other.edited is None:
            return None
        if other.first == piece.last:
            return (
                self._shown(piece)
                + self._print.between(piece.last, other.first)
                + self._shown(other)
            )
        # They overlap in print: what both repeat stands once where that can be known.
        rest = self._shown(other) if other.edited is not None else self._print.slice(
            piece.last, other.last
        )  # fmt: skip
        return f"{self._shown(piece)} {rest}"

    def _move(self, index: int, operation: Operation, *, is_after: bool) -> None:
        piece = self.pieces[index]
        anchor = self.pieces[self._anchor(_given(operation.other), is_after=is_after)]
        if anchor == piece:
            raise _WaitError("a chunk cannot be moved beside itself", self._shown(piece))
        self.pieces.remove(piece)
        place = self.pieces.index(anchor) + is_after
        self.pieces.insert(place, piece)

    _move_before = partialmethod(_move, is_after=False)
    _move_after = partialmethod(_move, is_after=True)

    def _reparent(self, index: int, operation: Operation) -> None:
        parent = self._find_parent(_given(operation.parent))
        self.pieces[index] = replace(self.pieces[index], parent=parent.label)

    def _switch(self, index: int, _: Operation, *, is_enabled: bool) -> None:
        self.pieces[index] = replace(self.pieces[index], is_enabled=is_enabled)

    _enable = partialmethod(_switch, is_enabled=True)
    _disable = partialmethod(_switch, is_enabled=False)

    def _shown(self, piece: Piece) -> str:
        return self._print.slice(*piece.span) if piece.edited is None else piece.edited

    def _span_of(self, place: Place) -> tuple[int, int]:
        try:
            return self._print.find(place)
        except NotFoundError as error:
            raise _WaitError(str(error), self._nearest(place)) from error

    def _locate(self, target: Target) -> int:
        """Return the index of a chunk, cut out of others where they are cut otherwise."""
        span = self._span_of(target.place)
        for index, piece in enumerate(self.pieces):
            if piece.span == span:
                if visible(self._shown(piece)) != visible(target.text):
                    raise _WaitError("the chunk has another text now", self._shown(piece))
                return index
        return self._cut_out(span, target)

    def _cut_out(self, span: tuple[int, int], target: Target) -> int:
        first, last = span
        touching = [p for p in self.pieces if p.first < last and first < p.last]
        now = "\n⋯\n".join(map(self._shown, touching))
        cover = _cover([piece for piece in touching if not piece.by], first, last)
        if target.shown is not None or cover is None:
            raise _WaitError(
                "what is printed there is no chunk of its own: it was split, merged or edited by "
                "other operations, or one that made it waits",
                now,
            )
        place = self.pieces.index(cover[0])
        holding = (p.label for p in self._cut.parents if p.first <= first < p.last)
        parent = next(holding, cover[0].parent)
        for piece in cover:
            at = self.pieces.index(piece)
            left = [replace(piece, last=first)] if piece.first < first else []
            right = [replace(piece, first=last)] if last < piece.last else []
            own = [Piece(first, last, parent)] if piece is cover[0] else []
            self.pieces[at : at + 1] = [*left, *own, *right]
            if own:
                place = at + len(left)
        return place

    def _anchor(self, target: Target, *, is_after: bool) -> int:
        """Return the chunk beside which another is put: the one seen, or the one that ends, or
        begins, with what was seen.
        """
        first, last = self._span_of(target.place)
        for index, piece in enumerate(self.pieces):
            if piece.span == (first, last):
                return index
        wanted = last - 1 if is_after else first
        for index, piece in enumerate(self.pieces):
            if piece.first <= wanted < piece.last:
                return index
        raise _WaitError("the chunk beside which it was put is in no chunk now")

    def _find_parent(self, wanted: ParentTarget) -> ParentPiece:
        same = [one for one in self._cut.parents if one.hash == wanted.parent_hash]
        if len(same) == 1:
            return same[0]
        first, _ = self._span_of(wanted.opening)
        holding = [one for one in self._cut.parents if one.first <= first < one.last]
        if len(holding) != 1:
            raise _WaitError("the parent is there no more", "")
        return holding[0]

    def _nearest(self, place: Place) -> str:
        """Return the chunk that stands where a passage was, or the one that is most like it."""
        whole = self._print.visible
        at = -1
        if place.before and whole.count(place.before) == 1:
            at = whole.index(place.before) + len(place.before)
        elif place.after and whole.count(place.after) == 1:
            at = whole.index(place.after) - 1
        for piece in self.pieces:
            if piece.first <= at < piece.last:
                return self._shown(piece)
        from rapidfuzz import process

        texts = [self._print.slice(*piece.span) for piece in self.pieces]
        found = process.extractOne(place.printed, texts, score_cutoff=_SIMILAR)
        return self._shown(self.pieces[found[2]]) if found else ""


def _cover(pieces: Sequence[Piece], first: int, last: int) -> list[Piece] | None:
    """Return the fewest pieces that hold a span between them, None where they do not."""
    chosen: list[Piece] = []
    reached = first
    while reached < last:
        fitting = [p for p in pieces if p.first <= reached < p.last]
        if not fitting:
            return None
        best = max(fitting, key=lambda piece: (piece.last, -piece.first))
        chosen.append(best)
        reached = best.last
    return chosen


def _given(value: T | None) -> T:
    if value is None:
        raise _WaitError("the operation lacks what it needs; the journal was changed by hand")
    return value
