"""A document without characters that act on whoever shows it, its places moved with the text."""

import dataclasses
from bisect import bisect_right
from typing import TypeVar

from rag_assets.model import (
    Block,
    PageSpan,
    ParsedDocument,
    SourceLine,
    drop_controls,
    find_controls,
    has_controls,
)

_Span = TypeVar("_Span", Block, PageSpan, SourceLine)


class _Places:
    """Where the offsets of a text are once its control characters are dropped."""

    def __init__(self, text: str) -> None:
        # Up to a start what was lost before it counts; inside what is dropped all is one place.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._lost = [0]
        for start, end, stand_in in find_controls(text):
            self._starts.append(start + len(stand_in))
            self._ends.append(end)
            self._lost.append(self._lost[-1] + end - start - len(stand_in))

    def moved(self, offset: int) -> int:
        before = bisect_right(self._starts, offset)
        if before and offset < self._ends[before - 1]:
            return self._starts[before - 1] - self._lost[before - 1]
        return offset - self._lost[before]

    def move(self, span: _Span) -> _Span:
        return dataclasses.replace(span, start=self.moved(span.start), end=self.moved(span.end))


def without_controls(document: ParsedDocument) -> ParsedDocument:
    """Return `document` with every text cleaned by `drop_controls`.

    Blocks, pages, lines and attachments keep what they hold; a block or line of which nothing is
    left goes. The characters as printed (`SourceLine.printed`) stay as the file has them: they are
    compared, and cleaned where they are shown.
    """
    if has_controls(document.text):
        document = _without_controls_in_text(document)
    return dataclasses.replace(
        document,
        attachments=tuple(
            dataclasses.replace(item, name=_text(item.name), caption=_text(item.caption))
            for item in document.attachments
        ),
        title=_text(document.title),
        authors=_texts(document.authors),
        doi=_text(document.doi),
        metadata={drop_controls(k): drop_controls(v) for k, v in document.metadata.items()},
        removed_templates=_texts(document.removed_templates),
        warnings=_texts(document.warnings),
    )


def _without_controls_in_text(document: ParsedDocument) -> ParsedDocument:
    places, text = _Places(document.text), drop_controls(document.text)
    return dataclasses.replace(
        document,
        text=text,
        pages=tuple(map(places.move, document.pages)),
        blocks=tuple(
            block
            for block in map(places.move, document.blocks)
            if text[block.start : block.end].strip()
        ),
        lines=tuple(line for line in map(places.move, document.lines) if line.start < line.end),
        attachments=tuple(
            item
            if item.start is None or item.end is None
            else dataclasses.replace(
                item, start=places.moved(item.start), end=places.moved(item.end)
            )
            for item in document.attachments
        ),
        abstract=None
        if document.abstract is None
        else (places.moved(document.abstract[0]), places.moved(document.abstract[1])),
    )


def _text(text: str | None) -> str | None:
    return drop_controls(text) or None if text is not None else None


def _texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean for text in texts if (clean := drop_controls(text)))
